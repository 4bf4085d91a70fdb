import { join } from "node:path";
import {
  build,
  exitStatus,
  metadataAtSite,
  needsPush,
  publishSite,
  pushBranch,
  type ReleaseSteps,
  requirePushed,
  signSite,
} from "../../pipeline/index.ts";
import { type CutOptions, type CutSummary, cutReleases } from "../catalog/cut.ts";
import { LedgerGuard } from "../catalog/ledger-guard.ts";
import { type Host, say, surroundings } from "../terminal/host.ts";
import { count, folderName } from "../terminal/words.ts";
import { describe, listChanges, passing } from "./publish.ts";
import { answerStep, type Step } from "./release-steps.ts";

export interface RehearsalOptions extends Pick<CutOptions, "all" | "yes" | "allowIncomplete"> {
  push?: true;
  allowUnpushed?: string | undefined;
  allowUncommitted?: string | undefined;
  releaseHold?: true;
  out?: string;
  verifyAt?: string;
}

/** Content that a cut would make permanent. */
interface Due {
  isDue: boolean;
  versions: string[];
}

/**
 * The steps of a dry run. Building, signing and publishing are tried in a temporary folder.
 * @param work the temporary folder
 */
export function rehearse(
  site: string,
  versions: readonly string[],
  options: RehearsalOptions,
  way: ReleaseSteps,
  work: string,
  host: Host,
): Step[] {
  const out = options.out ?? host.dist;
  const built = join(work, "site");
  const { environment, pid } = host;
  const { allowUnpushed, releaseHold = false } = options;
  const guarded = { allowUnpushed, releaseHold, environment, now: passing(host) };
  let due: Due = { isDue: false, versions: [] };
  /** A settling site takes no provisional build, so nothing can be tried before the cut. */
  const isOpen = () => due.isDue && way.settles;
  return [
    {
      name: "cut",
      async run(to) {
        const base = options.push && (await pushBranch(host.releases, true));
        due = await rehearseCut(
          versions,
          { ...options, requireCommitted: requiresCommits(way, options) },
          to,
        );
        if (base) say(host, `Would push to ${base}.`);
        else if (!due.isDue) await requirePushed(host.releases, site, guarded);
        else if (allowUnpushed === undefined && (await needsPush(host.releases, site)))
          say(host, "The release would stop here until the new ledger lines are pushed.");
        return exitStatus.done;
      },
    },
    {
      name: "build",
      async run(to) {
        const selection = { released: true, site, ...(due.isDue && { versions: due.versions }) };
        const { proveRelease } = new LedgerGuard({}, to);
        const request = { ...surroundings(host), proveLedger: proveRelease };
        const { site: made, delivery } = await build(host.releases, built, selection, request);
        const { releaseCount: releases, packageCount: packages } = made;
        answerStep(to, { dry_run: true, out, releases, packages, files: delivery.written }, () => {
          const what = `${count(releases, "release")} with ${count(packages, "package")}`;
          return `Would build ${what} into ${folderName(out)}: ${count(delivery.written, "file")}.`;
        });
        return exitStatus.done;
      },
    },
    {
      name: "sign",
      skipped: way.unsigned,
      async run(to) {
        if (isOpen()) {
          answerStep(to, { dry_run: true, out }, () => `Would sign ${folderName(out)}.`);
          return exitStatus.done;
        }
        const live = await metadataAtSite(host.releases, site, { environment, pid });
        const signing = { live, environment, now: host.clock };
        const { written, expires } = await signSite(host.releases, built, signing, surroundings(host));
        answerStep(to, { dry_run: true, out, written, expires }, () => {
          const files = count(written, "file");
          return `Would sign ${folderName(out)}: ${files} of signatures, valid until ${expires}.`;
        });
        return exitStatus.done;
      },
    },
    {
      name: "publish",
      async run(to) {
        if (isOpen()) {
          answerStep(to, { dry_run: true, site }, () => `Would publish ${folderName(out)} to ${site}.`);
          return exitStatus.done;
        }
        // The cut was compared with git already, and a release commits what it cuts.
        const request = { ...guarded, allowUncommitted: "dry run", dryRun: true };
        const done = await publishSite(host.releases, built, site, request, surroundings(host));
        const { trust: _, isSigned: __, unproved: ___, ...delivery } = done;
        answerStep(to, { dry_run: true, ...delivery }, () => describe(delivery, folderName(out)));
        listChanges(delivery, true, host);
        return exitStatus.done;
      },
    },
    {
      name: "verify",
      skipped: way.unsigned && "nothing at the site is signed",
      async run(to) {
        const place = options.verifyAt ?? way.baseUrl;
        answerStep(to, { dry_run: true, place }, () => `Would verify ${place}.`);
        return exitStatus.done;
      },
    },
  ];
}

/** A site that settles shows only what git has, unless someone allows more. */
export const requiresCommits = ({ settles }: ReleaseSteps, { allowUncommitted }: RehearsalOptions): boolean =>
  settles && allowUncommitted === undefined;

async function rehearseCut(versions: readonly string[], options: CutOptions, host: Host): Promise<Due> {
  let due: Due = { isDue: false, versions: [...versions] };
  const answered = (document: Record<string, unknown>) => {
    const { added, revised, private: hidden } = document as unknown as CutSummary;
    const named = [...added, ...revised].map(({ version }) => version);
    due = {
      isDue: added.length + revised.length + hidden.added + hidden.revised > 0,
      versions: versions.length > 0 ? [...versions] : [...new Set(named)],
    };
    host.step?.answered(document);
  };
  const to: Host = Object.create(host, { step: { value: { answered } } });
  await cutReleases(versions, { ...options, dryRun: true }, to);
  return due;
}

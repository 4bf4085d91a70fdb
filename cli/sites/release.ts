import {
  type CutRequest,
  pushBranch,
  type ReleaseSteps,
  releaseSteps,
  requirePushed,
  withWorkFolder,
} from "../../pipeline/index.ts";
import { buildSite } from "../catalog/build.ts";
import { confirmAll, cutReleases } from "../catalog/cut.ts";
import { confirmOrRefuse } from "../terminal/confirm.ts";
import { type Host, say } from "../terminal/host.ts";
import { shellWord } from "../terminal/words.ts";
import { passing, publish } from "./publish.ts";
import { type RehearsalOptions, rehearse, requiresCommits } from "./release-rehearsal.ts";
import { type Document, runSteps, type Step, withStep } from "./release-steps.ts";
import { signBuild } from "./sign.ts";
import { verify } from "./verify.ts";

export interface ReleaseOptions extends RehearsalOptions {
  wait?: number;
  dryRun?: true;
}

/** `relcat release`: all steps from the release files to a verified site, and again from where it stopped. */
export async function release(
  site: string,
  versions: readonly string[],
  options: ReleaseOptions,
  host: Host,
): Promise<number> {
  const surroundings = { environment: host.environment, pid: host.pid };
  const way = await releaseSteps(host.releases, site, surroundings);
  const again = repeated(site, versions, options, host);
  // Without a terminal, --yes confirms several releases only if they are named.
  const confirming: ReleaseOptions = versions.length > 0 || options.all ? { yes: true } : { all: true };
  const { yes: _, ...others } = options;
  const confirmed = repeated(site, versions, { ...others, ...confirming }, host);
  if (!options.dryRun)
    return runSteps(site, realSteps(site, versions, options, way, host), { again, confirmed }, host);
  const dry = `${again} --dry-run`;
  return withWorkFolder((work) =>
    runSteps(site, rehearse(site, versions, options, way, work, host), { again: dry, confirmed: dry }, host),
  );
}

function realSteps(
  site: string,
  versions: readonly string[],
  options: ReleaseOptions,
  way: ReleaseSteps,
  host: Host,
): Step[] {
  const { out = host.dist, allowUnpushed, allowUncommitted, wait = 60_000, verifyAt = site } = options;
  let build: string | undefined;
  const cut = async (to: Host) => {
    if (options.push) await pushBranch(host.releases, true);
    const status = await cutReleases(
      versions,
      {
        ...options,
        ...(way.isCommitted && { commit: true as const }),
        requireCommitted: requiresCommits(way, options),
        confirm: confirmRelease(site, versions, options, to),
      },
      to,
    );
    if (options.push) say(host, `${await pushBranch(host.releases, false)} has the ledger.`);
    const { environment } = host;
    await requirePushed(host.releases, site, { allowUnpushed, environment, now: passing(host) });
    return status;
  };
  const published = (to: Host): Host => {
    const answered = (document: Document) => {
      build = String(document.build);
      to.step?.answered(document);
    };
    return withStep(to, answered);
  };
  const root = `${host.releases}/trust/1.root.json`;
  return [
    { name: "cut", run: cut },
    { name: "build", run: (to) => buildSite({ released: true, site, out }, to) },
    { name: "sign", skipped: way.unsigned, run: (to) => signBuild({ site, out }, to) },
    {
      name: "publish",
      run: (to) => publish(site, { out, allowUnpushed, allowUncommitted }, published(to)),
    },
    {
      name: "verify",
      skipped: way.unsigned && "nothing at the site is signed",
      run: (to) =>
        verify(
          [verifyAt],
          {
            root,
            ...(build !== undefined && { expect: build, wait }),
          },
          to,
        ),
    },
  ];
}

/** A cut is permanent, so it needs --all, --yes or an answer at a terminal. */
const confirmRelease =
  (site: string, versions: readonly string[], { all, yes }: ReleaseOptions, host: Host) =>
  async (...[due, catalog]: Parameters<NonNullable<CutRequest["confirm"]>>): Promise<void> => {
    const isNamed = versions.length > 0;
    if (due.events.length === 0 || all || (yes && isNamed)) return;
    if (isNamed && !host.confirm) await confirmOrRefuse("", undefined, host);
    await confirmAll(` and publish to ${site}`, yes, host)(due, catalog);
  };

/** The command that continues, with the options that it needs again. */
function repeated(
  site: string,
  versions: readonly string[],
  { all, yes, push, allowIncomplete, allowUnpushed, allowUncommitted, verifyAt }: ReleaseOptions,
  { given }: Host,
): string {
  const words = [
    ...(given.site === undefined ? [] : [site]),
    ...versions,
    ...(all ? ["--all"] : []),
    ...(yes ? ["--yes"] : []),
    ...(push ? ["--push"] : []),
    ...(allowIncomplete ? ["--allow-incomplete"] : []),
    ...(allowUnpushed === undefined ? [] : ["--allow-unpushed", allowUnpushed]),
    ...(allowUncommitted === undefined ? [] : ["--allow-uncommitted", allowUncommitted]),
    ...(verifyAt === undefined ? [] : ["--verify-at", verifyAt]),
  ];
  return ["relcat release", ...words.map(shellWord)].join(" ");
}

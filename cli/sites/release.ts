import {
  type CutRequest,
  exitStatus,
  preflight,
  pushBranch,
  type ReleaseSteps,
  releaseSteps,
  requirePushed,
  withWorkFolder,
} from "../../pipeline/index.ts";
import { buildSite } from "../catalog/build.ts";
import { confirmAll, cutReleases } from "../catalog/cut.ts";
import { LedgerGuard } from "../catalog/ledger-guard.ts";
import { table } from "../terminal/cells.ts";
import { confirmOrRefuse } from "../terminal/confirm.ts";
import { type Host, say, surroundings } from "../terminal/host.ts";
import { listed, shellWord } from "../terminal/words.ts";
import { passing, publish } from "./publish.ts";
import { type RehearsalOptions, rehearse, requiresCommits } from "./release-rehearsal.ts";
import { answerStep, type Document, runSteps, type Step, withStep } from "./release-steps.ts";
import { signBuild } from "./sign.ts";
import { sayLive, verify } from "./verify.ts";

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
  const way = await releaseSteps(host.releases, site, { environment: host.environment, pid: host.pid });
  const again = repeated(site, versions, options, host);
  // Without a terminal, --yes confirms several releases only if they are named.
  const confirming: ReleaseOptions = versions.length > 0 || options.all ? { yes: true } : { all: true };
  const { yes: _, ...others } = options;
  const confirmed = repeated(site, versions, { ...others, ...confirming }, host);
  const check: Step = { name: "check", run: (to) => checkRelease(site, versions, options, way, to) };
  if (!options.dryRun) {
    const steps = [check, ...realSteps(site, versions, options, way, host)];
    return runSteps(site, steps, { again, confirmed }, host);
  }
  const dry = `${again} --dry-run`;
  return withWorkFolder((work) => {
    const steps = [check, ...rehearse(site, versions, options, way, work, host)];
    return runSteps(site, steps, { again: dry, confirmed: dry }, host);
  });
}

/** The same checks for a release and its dry run, before anything is written. */
async function checkRelease(
  site: string,
  versions: readonly string[],
  options: ReleaseOptions,
  way: ReleaseSteps,
  host: Host,
): Promise<number> {
  const { out = host.dist, allowIncomplete, dryRun, releaseHold = false } = options;
  const cut = {
    versions: versions.length > 0 ? versions : undefined,
    allowIncomplete: allowIncomplete === true,
    commit: way.isCommitted,
    requireCommitted: requiresCommits(way, options),
  };
  const { environment } = host;
  const isSigned = way.unsigned === undefined;
  const request = { out, isSigned, cut, options: { environment, now: passing(host), releaseHold } };
  const { proveRelease } = new LedgerGuard({}, host);
  const checks = await preflight(host.releases, site, request, {
    ...surroundings(host),
    proveLedger: proveRelease,
  });
  answerStep(host, { checks }, () =>
    dryRun
      ? table(checks.map(({ name, reason }) => [`  ${name}`, reason]))
      : `Passed: ${listed(checks.map(({ name }) => name))}.`,
  );
  return exitStatus.done;
}

function realSteps(
  site: string,
  versions: readonly string[],
  options: ReleaseOptions,
  way: ReleaseSteps,
  host: Host,
): Step[] {
  const { out = host.dist, allowUnpushed, allowUncommitted, releaseHold } = options;
  const { wait = 60_000, verifyAt = site } = options;
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
      run: (to) =>
        publish(
          site,
          { out, allowUnpushed, allowUncommitted, ...(releaseHold && { releaseHold }) },
          published(to),
        ),
    },
    {
      name: "verify",
      skipped: way.unsigned && "nothing at the site is signed",
      async run(to) {
        const expected = build !== undefined && { expect: build, wait, published: site };
        try {
          return await verify([verifyAt], { root, ...expected }, to);
        } catch (error) {
          sayLive(site, build, to);
          throw error;
        }
      },
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
  options: ReleaseOptions,
  { given }: Host,
): string {
  const { all, yes, push, allowIncomplete, allowUnpushed, allowUncommitted, releaseHold, verifyAt } = options;
  const words = [
    ...(given.site === undefined ? [] : [site]),
    ...versions,
    ...(all ? ["--all"] : []),
    ...(yes ? ["--yes"] : []),
    ...(push ? ["--push"] : []),
    ...(allowIncomplete ? ["--allow-incomplete"] : []),
    ...(allowUnpushed === undefined ? [] : ["--allow-unpushed", allowUnpushed]),
    ...(allowUncommitted === undefined ? [] : ["--allow-uncommitted", allowUncommitted]),
    ...(releaseHold ? ["--release-hold"] : []),
    ...(verifyAt === undefined ? [] : ["--verify-at", verifyAt]),
  ];
  return ["relcat release", ...words.map(shellWord)].join(" ");
}

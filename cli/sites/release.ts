import { join } from "node:path";
import {
  build as buildInto,
  type CutRequest,
  exitStatus,
  needsPush,
  openSettings,
  preflight,
  provePushed,
  pushBranch,
  readLedgerNow,
  releaseSteps,
  withWorkFolder,
} from "../../pipeline/index.ts";
import { buildSite } from "../catalog/build.ts";
import { type CutOptions, confirmAll, cutReleases } from "../catalog/cut.ts";
import { LedgerGuard } from "../catalog/ledger-guard.ts";
import { table } from "../terminal/cells.ts";
import { confirmOrRefuse } from "../terminal/confirm.ts";
import { commandContext, type Host, say } from "../terminal/host.ts";
import { count, folderName, listed, shellWord } from "../terminal/words.ts";
import { type PublishCommandOptions, publish, runningClock } from "./publish.ts";
import { answerStep, type Document, runSteps, type Step, withStep } from "./release-steps.ts";
import { signBuild } from "./sign.ts";
import { sayLive, verify } from "./verify.ts";

export interface ReleaseOptions
  extends Pick<CutOptions, "all" | "yes" | "allowIncomplete" | "dryRun">,
    Pick<PublishCommandOptions, "out" | "allowUnpushed" | "allowUncommitted"> {
  push?: true;
  releaseHold?: true;
  verifyAt?: string;
  wait?: number;
}

/**
 * `relcat release`: all steps from the release files to a verified site, and again from where it stopped. In a dry run,
 * the checks are those of the release, the build is made in a temporary folder, and the other steps are only named.
 */
export async function release(
  site: string,
  versions: readonly string[],
  options: ReleaseOptions,
  host: Host,
): Promise<number> {
  const { out = host.dist, dryRun, push, allowUnpushed, allowUncommitted, releaseHold = false } = options;
  const { wait = 60_000, verifyAt = site } = options;
  const { releases, environment, pid } = host;
  const project = await openSettings(releases);
  const revision = project.config.ledgerBase;
  const way = await releaseSteps(project, site, { environment, pid });
  const isSigned = way.unsigned === undefined;
  const now = runningClock(host);
  // A site that settles shows only what git has, unless someone allows more.
  const requireCommitted = way.settles && allowUncommitted === undefined;
  const folder = folderName(out);
  let due: string[] = [];
  let build: string | undefined;

  const would = (document: Document, text: string) => async (to: Host) => {
    answerStep(to, { dry_run: true, ...document }, () => text);
    return exitStatus.done;
  };

  async function check(to: Host): Promise<number> {
    const cut = {
      versions: versions.length > 0 ? versions : undefined,
      allowIncomplete: options.allowIncomplete === true,
      commit: way.isCommitted,
      requireCommitted,
    };
    const { proveRelease: proveLedger } = new LedgerGuard({ revision }, to);
    const request = { out, isSigned, isPushed: push === true, cut, environment, now, releaseHold };
    const passed = await preflight(project, site, request, { ...commandContext(to), proveLedger });
    const { checks } = passed;
    due = passed.due;
    answerStep(to, { checks }, () =>
      dryRun
        ? table(checks.map(({ name, reason }) => [`  ${name}`, reason]))
        : `Passed: ${listed(checks.map(({ name }) => name))}.`,
    );
    return exitStatus.done;
  }

  async function cut(to: Host): Promise<number> {
    const commit = way.isCommitted && { commit: true as const };
    const confirm = !dryRun && { confirm: confirmRelease(site, versions, options, to) };
    const status = await cutReleases(
      versions,
      { ...options, ...commit, requireCommitted, ...confirm, revision },
      to,
    );
    if (push && !dryRun) await pushBranch(project, false);
    if (push) say(to, dryRun ? `Would push to ${way.base}.` : `${way.base} has the ledger.`);
    if (!way.settles) return status;
    if (!dryRun || (due.length === 0 && !push))
      await provePushed(project, readLedgerNow(releases), { allowUnpushed });
    else if (!push && allowUnpushed === undefined && (await needsPush(project)))
      say(to, "The release would stop here until the new ledger lines are pushed.");
    return status;
  }

  const rehearseBuild = (to: Host) =>
    withWorkFolder(async (work) => {
      const selection = { released: true, site, ...(due.length > 0 && { versions: due }) };
      const made = await buildInto(releases, join(work, "site"), selection, commandContext(to));
      const { releaseCount, packageCount } = made.site;
      const files = made.delivery.written;
      const what = `${count(releaseCount, "release")} with ${count(packageCount, "package")}`;
      const text = `Would build ${what} into ${folder}: ${count(files, "file")}.`;
      return would({ out, releases: releaseCount, packages: packageCount, files }, text)(to);
    });

  function publishBuild(to: Host): Promise<number> {
    const answered = (document: Document) => {
      build = String(document.build);
      to.step?.answered(document);
    };
    const allowed = { allowUnpushed, allowUncommitted, releaseHold };
    return publish(site, { out, ...allowed }, withStep(to, answered), project);
  }

  async function verifySite(to: Host): Promise<number> {
    const expected = build !== undefined && { expect: build, wait, published: site };
    try {
      return await verify([verifyAt], { root: `${releases}/trust/1.root.json`, ...expected }, to);
    } catch (error) {
      sayLive(site, build, to);
      throw error;
    }
  }

  const place = options.verifyAt ?? way.baseUrl;
  const unverified = way.unsigned && "nothing at the site is signed";
  const step = (name: Step["name"], real: Step["run"], rehearsed = real, skipped?: string): Step => ({
    name,
    skipped,
    run: dryRun ? rehearsed : real,
  });
  const steps = [
    step("check", check),
    step("cut", cut),
    step("build", (to) => buildSite({ released: true, site, out, revision }, to), rehearseBuild),
    step(
      "sign",
      (to) => signBuild({ site, out }, to, project),
      would({ out }, `Would sign ${folder}.`),
      way.unsigned,
    ),
    step("publish", publishBuild, would({ site }, `Would publish ${folder} to ${site}.`)),
    step("verify", verifySite, would({ place }, `Would verify ${place}.`), unverified),
  ];
  const again = repeated(site, versions, options, host);
  // Without a terminal, --yes confirms several releases only if they are named.
  const confirming: ReleaseOptions = versions.length > 0 || options.all ? { yes: true } : { all: true };
  const { yes: _, ...others } = options;
  const confirmed = dryRun ? again : repeated(site, versions, { ...others, ...confirming }, host);
  return runSteps(site, steps, { again, confirmed }, host);
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

/** In the order in which the command that continues has them. */
const kept = [
  ...(["all", "yes", "push", "allowIncomplete", "allowUnpushed", "allowUncommitted"] as const),
  ...(["releaseHold", "verifyAt", "dryRun"] as const),
];

/** The command that continues, with the options that it needs again. */
function repeated(
  site: string,
  versions: readonly string[],
  options: ReleaseOptions,
  { given }: Host,
): string {
  const words = kept.flatMap((name) => {
    const value = options[name];
    const option = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    return value === undefined ? [] : value === true ? [option] : [option, value];
  });
  const named = given.site === undefined ? [] : [site];
  return ["relcat release", ...[...named, ...versions, ...words].map(shellWord)].join(" ");
}

import { join } from "node:path";
import {
  build as buildInto,
  type CutRequest,
  commandsToPush,
  exitStatus,
  needsPush,
  openSettings,
  preflight,
  provePushed,
  pushBranch,
  readLedgerNow,
  releaseSteps,
  timestampPath,
  withWorkFolder,
} from "../../pipeline/index.ts";
import { buildSite } from "../catalog/build.ts";
import { type CutOptions, type CutSummary, confirmAll, cutReleases } from "../catalog/cut.ts";
import { ledgerGuard } from "../catalog/ledger-guard.ts";
import type { OutputDocument } from "../output/outputs.ts";
import { asGiven } from "../terminal/as-given.ts";
import { table } from "../terminal/cells.ts";
import { fail } from "../terminal/fail.ts";
import { commandContext, type Host, print, printDocument, say, sayNext } from "../terminal/host.ts";
import type { Verb } from "../terminal/rows.ts";
import { confirmOrRefuse } from "../terminal/usage.ts";
import { count, folderName, listed, shellWord } from "../terminal/words.ts";
import { type PublishCommandOptions, publish, runningClock } from "./publish.ts";
import { signBuild } from "./sign.ts";
import { sayLive, verify } from "./verify.ts";

interface ReleaseOptions
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
  };

  async function check(to: Host): Promise<void> {
    const cut = {
      versions: versions.length > 0 ? versions : undefined,
      allowIncomplete: options.allowIncomplete === true,
      commit: way.isCommitted,
      requireCommitted,
    };
    const { proveRelease: proveLedger } = ledgerGuard({ revision }, to);
    const request = { out, isSigned, isPushed: push === true, cut, environment, now, releaseHold };
    const passed = await preflight(project, site, request, { ...commandContext(to), proveLedger });
    const { checks } = passed;
    due = passed.due;
    answerStep(to, { checks }, () =>
      dryRun
        ? table(checks.map(({ name, reason }) => [`  ${name}`, reason]))
        : `Passed: ${listed(checks.map(({ name }) => name))}.`,
    );
  }

  async function cut(to: Host): Promise<void> {
    const commit = way.isCommitted && { commit: true as const };
    const confirm = !dryRun && { confirm: confirmRelease(site, versions, options, to) };
    await cutReleases(versions, { ...options, ...commit, requireCommitted, ...confirm, revision }, to);
    if (push && !dryRun) await pushBranch(project, false);
    if (push) say(to, dryRun ? `Would push to ${way.base}.` : `${way.base} has the ledger.`);
    if (!way.settles) return;
    if (!dryRun || (due.length === 0 && !push))
      await provePushed(project, readLedgerNow(releases), { allowUnpushed });
    else if (!push && allowUnpushed === undefined && (await needsPush(project)))
      say(to, "The release would stop here until the new ledger lines are pushed.");
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

  function publishBuild(to: Host): Promise<void> {
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

type Document = Record<string, unknown>;
type Problems = OutputDocument<"release">["problems"];

interface Step {
  name: StepReport["step"];
  /** Reason why the site has no such step. */
  skipped?: string | undefined;
  run: Verb;
}

type StepReport = OutputDocument<"release">["steps"][number];

interface Repeated {
  again: string;
  /** The same with the confirmation that was missing. */
  confirmed: string;
}

/** Stops at the first refusal. @returns its exit status, or 0 */
async function runSteps(site: string, steps: readonly Step[], again: Repeated, host: Host): Promise<number> {
  const reports: StepReport[] = [];
  for (const [index, step] of steps.entries()) {
    const heading = `[${index + 1}/${steps.length}] ${step.name}`;
    if (!host.json) print(host, host.data.style("bold", heading));
    if (step.skipped !== undefined && !host.json) print(host, `Skipped: ${step.skipped}.`);
    const { report, status, problems } = await runStep(step, host);
    reports.push(report);
    if (status === exitStatus.done) continue;
    const next = await nextAfter(problems, again, host);
    const left = steps.slice(index + 1).map(({ name }) => reportOf(name, "not-reached"));
    if (host.json) finish(site, [...reports, ...left], host, { problems, next: asGiven(next, host.given) });
    if (status !== exitStatus.declined) sayNext(host, next);
    return status;
  }
  if (host.json) finish(site, reports, host, { problems: [], next: null });
  else print(host, [summaryOf(site, reports), ...renewalOf(site, reports, host)].join("\n"));
  if (reports.some(isPlanned)) sayNext(host, "the same without --dry-run");
  return exitStatus.done;
}

const withStep = (host: Host, answered: (document: Document) => void): Host =>
  Object.create(host, { step: { value: { answered } } });

/** Reports a step that is not a command of its own. */
function answerStep(host: Host, document: Document, text: () => string): void {
  host.step?.answered(document);
  if (!host.json) print(host, text());
}

const reportOf = (step: Step["name"], result: StepReport["result"]): StepReport => ({
  step,
  result,
  reason: null,
  output: null,
});

/** Runs a step and reports its problems like a command of its own. */
async function runStep(
  { name, skipped, run }: Step,
  host: Host,
): Promise<{ report: StepReport; status: number; problems: Problems }> {
  if (skipped !== undefined)
    return { report: { ...reportOf(name, "skipped"), reason: skipped }, status: 0, problems: [] };
  let output: Document | null = null;
  const to = withStep(host, (document) => {
    output = document;
  });
  const report = (result: StepReport["result"]) => ({ ...reportOf(name, result), output });
  try {
    const status = (await run(to)) ?? exitStatus.done;
    const result = status === exitStatus.done ? resultOf(output ?? {}) : "refused";
    return { report: report(result), status, problems: [] };
  } catch (error) {
    let printed = "";
    const data = { write: (text: string) => (printed += text), style: (_: unknown, text: string) => text };
    const status = await fail(error, Object.create(host, { json: { value: true }, data: { value: data } }));
    const problems: Problems = printed === "" ? [] : JSON.parse(printed).problems;
    return { report: report("refused"), status, problems };
  }
}

/** Whether a step found its work done already. */
function resultOf(output: Document): StepReport["result"] {
  if (output.dry_run === true || output.result === "planned") return "planned";
  if (output.result === "unchanged") return "unchanged";
  const { added, revised, private: hidden } = output as Partial<CutSummary>;
  if (Array.isArray(added) && Array.isArray(revised) && hidden)
    return added.length + revised.length + hidden.added + hidden.revised === 0 ? "unchanged" : "done";
  const { written, removed } = (output.files ?? output) as { written?: number; removed?: number };
  return written === 0 && removed === 0 ? "unchanged" : "done";
}

async function nextAfter(problems: Problems, { again, confirmed }: Repeated, host: Host): Promise<string> {
  if (problems[0]?.code === "not-confirmed") return confirmed;
  const commands =
    problems[0]?.code === "ledger-unpushed" ? await commandsToPush(await openSettings(host.releases)) : [];
  const own = again.includes(" --push") ? commands.filter((line) => !line.startsWith("git push ")) : commands;
  return own.length === 0 ? `${again}, when that is repaired` : `${own.join(", then ")}, then ${again}`;
}

function finish(
  site: string,
  steps: StepReport[],
  host: Host,
  rest: Pick<OutputDocument<"release">, "problems" | "next">,
): void {
  printDocument<"release">(host, { site, dry_run: steps.some(isPlanned), steps, ...rest });
}

const isPlanned = ({ result }: StepReport) => result === "planned";

function summaryOf(site: string, reports: readonly StepReport[]): string {
  if (reports.some(isPlanned)) return "Dry run, nothing was written.";
  const isOld = reports.every(
    ({ result, step }) => /check|verify/.test(step) || /unchanged|skipped/.test(result),
  );
  return isOld ? `${site} was up to date: every step was done already.` : `Released to ${site}.`;
}

/** After the first signed publish, the release is complete only if something renews the signatures. */
function renewalOf(site: string, reports: readonly StepReport[], { given }: Host): string[] {
  const outputOf = (name: Step["name"]) => reports.find(({ step }) => step === name)?.output ?? {};
  const { added = [] } = outputOf("publish") as Partial<OutputDocument<"publish">>;
  if (reports.some(isPlanned) || !added.some(({ path }) => path === timestampPath)) return [];
  const { expires = "" } = outputOf("sign") as Partial<OutputDocument<"sign">>;
  return [
    `Its signatures are valid until ${expires.slice(0, 10)}. Run this every day, with cron, a timer or CI (docs/signing.md):`,
    `  ${asGiven(`relcat publish ${site} --refresh`, { folder: given.folder })}`,
  ];
}

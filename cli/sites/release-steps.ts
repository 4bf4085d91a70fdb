import { commandsToPush, exitStatus, openSettings, timestampPath } from "../../pipeline/index.ts";
import type { CutSummary } from "../catalog/cut.ts";
import type { OutputDocument } from "../output/outputs.ts";
import { asGiven } from "../terminal/as-given.ts";
import { fail } from "../terminal/fail.ts";
import { type Host, print, printDocument, sayNext, sayNextAfterDryRun } from "../terminal/host.ts";

export type Document = Record<string, unknown>;
type Problems = OutputDocument<"release">["problems"];

/** One step of a release. */
export interface Step {
  name: "check" | "cut" | "build" | "sign" | "publish" | "verify";
  /** Reason why the site has no such step. */
  skipped?: string | undefined;
  /** @returns the exit status */
  run(host: Host): Promise<number>;
}

/** A step in the document of `--json`. */
export interface StepReport {
  step: Step["name"];
  result: "done" | "unchanged" | "planned" | "skipped" | "refused" | "not-reached";
  /** Why the step was skipped. */
  reason: string | null;
  /** The document that the command of this step prints with --json. */
  output: Document | null;
}

/** Commands that continue after a refusal. */
export interface Repeated {
  again: string;
  /** The same with the confirmation that was missing. */
  confirmed: string;
}

/**
 * Runs the steps in order, up to the first refusal.
 * @returns the exit status of the refusal, or 0
 */
export async function runSteps(
  site: string,
  steps: readonly Step[],
  again: Repeated,
  host: Host,
): Promise<number> {
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
  if (reports.some(isPlanned)) sayNextAfterDryRun(host);
  return exitStatus.done;
}

/** @param answered gets the document of the step */
export const withStep = (host: Host, answered: (document: Document) => void): Host =>
  Object.create(host, { step: { value: { answered } } });

/** Reports a step that is not a command of its own. */
export function answerStep(host: Host, document: Document, text: () => string): void {
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
    const status = await run(to);
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

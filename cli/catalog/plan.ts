import {
  exitStatus,
  hasChanges,
  type Plan,
  type Problem,
  planCatalog,
  writeText,
} from "../../pipeline/index.ts";
import { problemsAsGiven } from "../terminal/as-given.ts";
import { harmless, table } from "../terminal/cells.ts";
import { annotate, summarize } from "../terminal/github.ts";
import { commandContext, type Host, type Output, print, printDocument, sayNext } from "../terminal/host.ts";
import { UsageError } from "../terminal/usage.ts";
import { shellWord } from "../terminal/words.ts";
import { planMarkdown, smallestLimit } from "./plan-markdown.ts";
import { type PlanSection, planSections } from "./plan-sections.ts";
import { planSentences } from "./plan-words.ts";

interface PlanOptions {
  against?: string;
  ledgerBase?: string;
  artifacts?: string;
  format: "text" | "json" | "markdown";
  limit?: number;
  out?: string;
  detailedExitcode?: true;
  now?: string;
}

/** As in other planning tools, except that 2 is a usage error here. */
const changesStatus = 10;

/** More revisions need a confirmation option of `cut`. */
const maxRevisions = 50;

export async function plan(versions: readonly string[], options: PlanOptions, host: Host): Promise<number> {
  const { against, ledgerBase, artifacts, out, now } = options;
  refuseContradictions(options);
  const request = {
    versions: versions.length > 0 ? versions : undefined,
    against,
    ledgerBase,
    artifacts,
    documents: true,
  };
  const { plan: decided } = await planCatalog(host.releases, request, commandContext(host, now));
  if (out !== undefined) writeText(out, `${JSON.stringify(decided, null, 2)}\n`);
  const pasted = withPastedHints(decided, host);
  if (options.format === "markdown") host.data.write(planMarkdown(pasted, options.limit));
  else if (host.json) printDocument<"plan">(host, { ...decided });
  else print(host, planText(pasted, host.data));
  annotate(problemsOf(decided), host);
  summarize(host, (limit, measure) => planMarkdown(pasted, limit, measure));
  sayNext(host, nextAfter(decided, versions, options));
  if (decided.forbidden.length + decided.refused.length > 0) return exitStatus.problems;
  return options.detailedExitcode && hasChanges(decided) ? changesStatus : exitStatus.done;
}

function refuseContradictions({ against, ledgerBase, format, limit }: PlanOptions): void {
  if (against !== undefined && ledgerBase !== undefined) {
    throw new UsageError(
      "--against and --ledger-base both say what to compare with",
      "Give one of them: the live site, or a git revision.",
    );
  }
  if (limit === undefined) return;
  if (format !== "markdown")
    throw new UsageError("--limit needs --format markdown", "Other formats are never shortened.");
  if (limit < smallestLimit)
    throw new UsageError(`--limit ${limit} is too small for a plan`, `Give ${smallestLimit} or more.`);
}

/** Only for text output: the JSON document must be the same in every folder. */
const withPastedHints = (decided: Plan, { given }: Host): Plan => ({
  ...decided,
  forbidden: [...problemsAsGiven(decided.forbidden, given)],
  refused: [...problemsAsGiven(decided.refused, given)],
});

const problemsOf = ({ forbidden, refused }: Plan): Problem[] =>
  [...forbidden, ...refused].map(({ code, message, hint, file, line, column }) => ({
    code: code as Problem["code"],
    severity: "error",
    message,
    ...(hint !== null && { hint }),
    ...(file !== null && { at: { file, line: line ?? 1, column: column ?? 1 } }),
  }));

function nextAfter(decided: Plan, versions: readonly string[], { out, artifacts }: PlanOptions): string {
  const { forbidden, refused, ledger, missing } = decided;
  if (forbidden.length > 0) return "undo the forbidden changes, then relcat plan";
  if (refused.length > 0) return "correct the refused artifacts, then relcat plan";
  if (ledger.before === ledger.after) return "relcat build --released";
  if (missing.length > 0) return "add the missing artifacts, then relcat plan";
  const revisions = decided.revised.length + decided.private.lines.revise;
  const allow = revisions > maxRevisions ? [`--allow-revise ${revisions}`] : [];
  const withArtifacts = artifacts === undefined ? [] : [`--artifacts ${shellWord(artifacts)}`];
  const which = versions.length > 0 ? versions : ["--all"];
  const chosen = out === undefined ? which : [`--plan ${shellWord(out)}`];
  return ["relcat cut", ...chosen, ...withArtifacts, ...allow].join(" ");
}

const maxRows = 10;

function planText(plan: Plan, output: Output): string {
  const { compared, summary, renamed, foot } = planSentences(plan, harmless);
  const blocks = planSections(plan).map((section) => renderSection(section, output));
  return [...compared, summary, ...renamed, ...blocks, ...foot].join("\n");
}

function renderSection({ title, rows, isLong }: PlanSection, output: Output): string {
  const shown = isLong ? rows.slice(0, maxRows) : rows;
  const more = rows.length - shown.length;
  const lines = table(shown.map(({ cells: [first = "", ...rest] }) => [`  ${first}`, ...rest])).split("\n");
  const body = shown.flatMap(({ details = [] }, index) => [
    lines[index] ?? "",
    ...details.map((detail) => `     ${harmless(detail)}`),
  ]);
  const color = /^(?:Forbidden|Refused|Removed, which)/.test(title) ? (["bold", "red"] as const) : "bold";
  return [output.style(color, `${title}:`), ...body, ...(more > 0 ? [`  and ${more} more`] : [])].join("\n");
}

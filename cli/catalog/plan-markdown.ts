import type { Plan } from "../../pipeline/index.ts";
import {
  characters,
  codeCell,
  fitSections,
  type MarkdownSection,
  type Measure,
} from "../terminal/markdown.ts";
import { type PlanSection, planSections } from "./plan-sections.ts";
import { planSentences } from "./plan-words.ts";

/** Identifies the comment, so that a later run can replace it. */
export const planMarker = "<!-- relcat plan -->";

/** GitHub's limit is 65,536 characters per comment; other tools may append to it. */
const commentLimit = 60_000;

/** Number of visible rows; the others are folded. */
const unfolded = 20;

/** Below this size the section headings do not fit. */
export const smallestLimit = 10_000;

/** Renders a plan for a pull request or job summary; user text is escaped. */
export function planMarkdown(plan: Plan, limit = commentLimit, measure: Measure = characters): string {
  const { compared, summary, renamed, foot } = planSentences(plan, codeCell);
  const heading = `## ${headingOf(plan)}`;
  const head = [planMarker, heading, compared.join(" "), `**${summary}**`, ...renamed].join("\n\n");
  const frame = (body: string) => `${head}\n\n${body}${body === "" ? "" : "\n"}${foot.join(" ")}\n`;
  const left = limit - measure(frame(""));
  return frame(fitSections(planSections(plan).map(asMarkdown), left - 2, measure));
}

function headingOf({ forbidden, refused }: Plan): string {
  if (forbidden.length > 0) return "Plan with forbidden changes";
  return refused.length > 0 ? "Plan with refused artifacts" : "Plan";
}

function asMarkdown({ title, columns, rows, isLong }: PlanSection): MarkdownSection {
  const hasDetails = rows.some(({ details }) => details !== undefined && details.length > 0);
  const head = columns.map((column) => (column === "id" ? "id:" : column));
  return {
    title,
    unfolded: isLong ? 0 : unfolded,
    head: hasDetails ? [...head, ""] : head,
    rows: rows.map(({ cells, details = [] }) => [
      ...cells.map((cell, index) => (head[index]?.endsWith(":") ? cell : codeCell(cell))),
      ...(hasDetails ? [details.map(codeCell).join("<br>")] : []),
    ]),
  };
}

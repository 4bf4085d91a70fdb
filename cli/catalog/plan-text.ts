import { hasChanges, type Plan } from "../../pipeline/index.ts";
import { harmless, table } from "../terminal/cells.ts";
import type { Output } from "../terminal/host.ts";
import { type PlanSection, planSections } from "./plan-sections.ts";
import {
  baselineSentence,
  firstDocumentsSentence,
  ledgerSentence,
  privateSentence,
  renamedSentence,
  reservations,
  summarySentence,
} from "./plan-words.ts";

/** Rows shown of a long section. */
const maxRows = 10;

/** Renders a plan for a terminal. */
export function planText(plan: Plan, output: Output): string {
  const head = [
    baselineSentence(plan, harmless),
    ...reservations(plan, harmless),
    summarySentence(plan, hasChanges(plan)),
    ...renamedSentence(plan, harmless),
  ];
  const blocks = planSections(plan).map((section) => renderSection(section, output));
  const foot = [...firstDocumentsSentence(plan), ...privateSentence(plan), ledgerSentence(plan)];
  return [...head, ...blocks, ...foot].join("\n");
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

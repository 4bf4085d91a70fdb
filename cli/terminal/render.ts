import type { Place, Problem } from "../../pipeline/index.ts";
import { type Given, problemsAsGiven } from "./as-given.ts";
import { cells, cellsOf, characters, harmless } from "./cells.ts";
import type { Host, Output } from "./host.ts";
import { count } from "./words.ts";

/** Number of similar problems that are shown; the others are counted. */
const maxEqual = 4;
const shownOfMany = 3;

/** Sorted by location, with the marked line and a hint. Problems with the same hint are grouped. */
export function renderProblems(
  problems: readonly Problem[],
  { given, messages }: Pick<Host, "given" | "messages">,
  output = messages,
): string {
  const sorted = sortedAsGiven(problems, given);
  const equal = Map.groupBy(sorted, kindOf);
  return sorted
    .map((problem) => {
      const all = equal.get(kindOf(problem)) ?? [];
      if (all.length <= maxEqual) return renderProblem(problem, output);
      return all[0] === problem ? renderMany(all, output) : "";
    })
    .join("");
}

/** Problems that differ only in names and numbers are similar. */
const kindOf = ({ code, severity, message, hint, at }: Problem): string => {
  const name = at?.file.replace(/^.*\//, "") ?? "";
  const named = name === "" ? message : message.replaceAll(name, "…");
  return JSON.stringify([code, severity, hint, named.replace(/"[^"]*"|\S*\/\S*|\d+/g, "…")]);
};

function renderMany(problems: readonly Problem[], output: Output): string {
  const shown = problems.slice(0, shownOfMany).map((problem) => headOf(problem, output));
  const [first] = problems;
  const more = `  and ${problems.length - shownOfMany} more like these, ${problems.length} in all`;
  return `${[...shown.flat(), more, ...(first ? hintOf(first, output) : [])].join("\n")}\n`;
}

/** Hints have the given options. Sorted by file, line and column; problems without a location come first. */
export const sortedAsGiven = (problems: readonly Problem[], given: Given): Problem[] =>
  problemsAsGiven(problems, given).toSorted(byPlace);

function byPlace({ at: a }: Problem, { at: b }: Problem): number {
  if (!a || !b) return Number(a !== undefined) - Number(b !== undefined);
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return a.line - b.line || a.column - b.column;
}

const renderProblem = (problem: Problem, output: Output): string =>
  `${[...headOf(problem, output), ...hintOf(problem, output)].join("\n")}\n`;

/** A hint may contain lines to paste. */
function hintOf({ hint }: Problem, output: Output): string[] {
  if (!hint) return [];
  const [first = "", ...lines] = hint.split("\n").map(harmless);
  return [`  ${output.style("dim", "hint:")} ${first}`, ...lines.map((line) => `    ${line}`)];
}

function headOf({ code, severity, message, at }: Problem, output: Output): string[] {
  const place = at ? `${harmless(at.file)}${isWhole(at) ? "" : `:${at.line}:${at.column}`} ` : "";
  const mark = output.style(
    severity === "error" ? ["bold", "red"] : ["bold", "yellow"],
    `${severity}[${code}]`,
  );
  const lines = [`${output.style("bold", place)}${mark} ${harmless(message)}`];
  if (at?.excerpt !== undefined && at.excerpt.trim() !== "") lines.push(...frame(at, at.excerpt, output));
  return lines;
}

/** A problem with a whole downloadable file; all other locations are clickable in editors. */
const isWhole = ({ file, line, column, excerpt }: Place): boolean =>
  line === 1 &&
  column === 1 &&
  excerpt === undefined &&
  !/\.(jsonl?|ya?ml|hbs|narinfo|md|txt)$|^[^.]*$/.test(file.replace(/.*\//, ""));

function frame({ line, column }: Place, excerpt: string, output: Output): string[] {
  const number = String(line).padStart(5);
  const gutter = number.length + 3;
  const { text, caret } = cutAround(excerpt, column - 1, (output.columns ?? 120) - gutter);
  return [
    `${output.style("dim", `${number} |`)} ${text}`,
    `${output.style("dim", `${" ".repeat(number.length)} |`)} ${" ".repeat(caret)}${output.style("red", "^")}`,
  ];
}

/** The part of a line that fits a width, and the cell of the offset in it. @param offset in UTF-16 units */
function cutAround(line: string, offset: number, width: number): { text: string; caret: number } {
  const room = Math.max(20, width);
  // A one-line manifest can have megabytes, so only the part that may be shown is processed.
  const window = room * 4;
  const before = harmless(line.slice(Math.max(0, offset - window), offset));
  const after = harmless(line.slice(offset, offset + window));
  const start =
    offset <= window && cells(before) + cells(after) <= room
      ? before
      : lastCells(before, Math.floor(room / 2));
  const end = firstCells(after, room - cells(start));
  return { text: start + end, caret: cells(start) };
}

function lastCells(text: string, room: number): string {
  return cells(text) <= room ? text : `…${fitting(characters(text).reverse(), room).reverse().join("")}`;
}

function firstCells(text: string, room: number): string {
  return cells(text) <= room ? text : `${fitting(characters(text), room).join("")}…`;
}

/** As many characters as fit next to an ellipsis. */
function fitting(all: readonly string[], room: number): string[] {
  const kept: string[] = [];
  let used = 1;
  for (const character of all) {
    used += cellsOf(character);
    if (used > room) break;
    kept.push(character);
  }
  return kept;
}

export function tally(problems: readonly Problem[]) {
  const errors = problems.filter((problem) => problem.severity === "error").length;
  return { errors, warnings: problems.length - errors };
}

export function countProblems({ errors, warnings }: ReturnType<typeof tally>): string {
  const parts = [errors > 0 && count(errors, "error"), warnings > 0 && count(warnings, "warning")];
  return parts.filter(Boolean).join(", ") || "no problems";
}

export const problemRows = (problems: readonly Problem[], { given }: Pick<Host, "given">) =>
  sortedAsGiven(problems, given).map(({ code, severity, message, hint, at }) => ({
    code,
    severity,
    message,
    hint: hint ?? null,
    file: at?.file ?? null,
    line: at?.line ?? null,
    column: at?.column ?? null,
  }));

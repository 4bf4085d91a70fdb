import { appendFileSync, statSync } from "node:fs";
import type { Problem } from "../../pipeline/index.ts";
import { isOnGitHub } from "./annotations.ts";
import { problemsAsGiven } from "./as-given.ts";
import { type Host, say } from "./host.ts";
import { bytes, codeCell, fitSections, type Measure } from "./markdown.ts";
import { byPlace, countProblems, tally } from "./render.ts";
import { repositoryPaths } from "./repository-path.ts";

/** GitHub rejects a longer summary of a step entirely. */
const maxSummaryBytes = 1024 * 1024;

/** Below this size not even the headings fit. */
const minBytes = 10_000;

/** Appends to the job summary of GitHub Actions as much as fits. */
export function summarize(host: Host, markdown: (limit: number, measure: Measure) => string): void {
  const file = host.environment.GITHUB_STEP_SUMMARY;
  if (!isOnGitHub(host) || !file) return;
  try {
    const present = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    const left = maxSummaryBytes - present - 1;
    if (left >= minBytes) appendFileSync(file, `${markdown(left, bytes)}\n`);
  } catch (error) {
    // A failed summary does not change the command's result.
    say(host, `The job summary cannot be written: ${(error as Error).message}`);
  }
}

/** Writes all problems into the job summary, as far as they fit. */
export function summarizeProblems(problems: readonly Problem[], checked: string, host: Host): void {
  summarize(host, (limit, measure) => {
    const path = repositoryPaths(host);
    const found = `**${countProblems(tally(problems))}${checked}**`;
    const head = `## relcat\n\n${found}\n`;
    if (problems.length === 0) return head;
    const rows = [...problemsAsGiven(problems, host.given)]
      .sort(byPlace)
      .map(({ at, severity, code, message, hint }) => [
        at ? codeCell(`${path(at.file) ?? at.file}:${at.line}:${at.column}`) : "",
        severity,
        codeCell(code),
        [message, ...(hint?.split("\n") ?? [])].map(codeCell).join("<br>"),
      ]);
    const section = { title: "Problems", head: ["where", "", "rule", "what"], rows };
    return `${head}\n${fitSections([section], limit - measure(head) - 2, measure)}`;
  });
}

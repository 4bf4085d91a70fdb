import { appendFileSync, existsSync, statSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import type { Problem } from "../../pipeline/index.ts";
import { harmless } from "./cells.ts";
import { type Host, say } from "./host.ts";
import { bytes, codeCell, fitSections, type Measure } from "./markdown.ts";
import { countProblems, sortedAsGiven, tally } from "./render.ts";

/** GitHub shows this many errors and this many warnings per step. */
const maxPerSeverity = 10;

const isOnGitHub = ({ environment }: Pick<Host, "environment">): boolean =>
  environment.GITHUB_ACTIONS === "true";

export function annotations(
  problems: readonly Problem[],
  host: Pick<Host, "environment" | "given" | "releases">,
): string {
  const path = repositoryPaths(host);
  const sorted = sortedAsGiven(problems, host.given);
  const of = (severity: Problem["severity"]) =>
    sorted.filter((problem) => problem.severity === severity).slice(0, maxPerSeverity);
  return [...of("error"), ...of("warning")].map((problem) => annotation(problem, path)).join("");
}

/** Under GitHub Actions, problems are also shown next to their lines. */
export function annotate(problems: readonly Problem[], host: Host): void {
  if (isOnGitHub(host)) host.messages.write(annotations(problems, host));
}

function annotation({ severity, code, message, hint, at }: Problem, path: RepositoryPath): string {
  const file = at && path(at.file);
  const place = at && file !== undefined ? { file, line: at.line, col: at.column } : {};
  const properties = Object.entries({ ...place, title: code }).map(
    ([key, value]) => `${key}=${escapeProperty(String(value))}`,
  );
  const text =
    hint === undefined ? harmless(message) : [message, ...hint.split("\n")].map(harmless).join("\n");
  return `::${severity} ${properties.join(",")}::${escapeData(text)}\n`;
}

const escapeData = (text: string): string =>
  text.replace(/%/g, "%25").replace(/\r/g, "%0D").replace(/\n/g, "%0A");

const escapeProperty = (text: string): string => escapeData(text).replace(/:/g, "%3A").replace(/,/g, "%2C");

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

export function summarizeProblems(problems: readonly Problem[], checked: string, host: Host): void {
  summarize(host, (limit, measure) => {
    const path = repositoryPaths(host);
    const found = `**${countProblems(tally(problems))}${checked}**`;
    const head = `## relcat\n\n${found}\n`;
    if (problems.length === 0) return head;
    const rows = sortedAsGiven(problems, host.given).map(({ at, severity, code, message, hint }) => [
      at ? codeCell(`${path(at.file) ?? at.file}:${at.line}:${at.column}`) : "",
      severity,
      codeCell(code),
      [message, ...(hint?.split("\n") ?? [])].map(codeCell).join("<br>"),
    ]);
    const section = { title: "Problems", head: ["where", "", "rule", "what"], rows };
    return `${head}\n${fitSections([section], limit - measure(head) - 2, measure)}`;
  });
}

/** Path of a file in its repository, with forward slashes; undefined outside of it. */
export type RepositoryPath = (file: string) => string | undefined;

/**
 * Locations are relative to the current folder, but a forge needs paths relative to the repository: the
 * nearest parent of the project that git or the runner's workspace names.
 */
export function repositoryPaths({
  environment,
  releases,
}: Pick<Host, "environment" | "releases">): RepositoryPath {
  const here = resolve(dirname(releases));
  const root = rootAbove(here, environment.GITHUB_WORKSPACE) ?? here;
  return (file) => {
    const path = relative(root, resolve(file)).split(sep).join("/");
    return /^\.\.(\/|$)/.test(path) ? undefined : path;
  };
}

function rootAbove(folder: string, workspace: string | undefined): string | undefined {
  if ((workspace && resolve(workspace) === folder) || existsSync(join(folder, ".git"))) return folder;
  return dirname(folder) === folder ? undefined : rootAbove(dirname(folder), workspace);
}

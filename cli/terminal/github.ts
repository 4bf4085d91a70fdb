import type { Problem } from "../../pipeline/index.ts";
import { problemsAsGiven } from "./as-given.ts";
import { harmless } from "./cells.ts";
import type { Host } from "./host.ts";
import { byPlace } from "./render.ts";
import { type RepositoryPath, repositoryPaths } from "./repository-path.ts";

/** GitHub shows this many errors and this many warnings per step. */
const maxPerSeverity = 10;

export const isOnGitHub = ({ environment }: Pick<Host, "environment">): boolean =>
  environment.GITHUB_ACTIONS === "true";

/** Problems as workflow commands, up to the limit. */
export function annotations(
  problems: readonly Problem[],
  host: Pick<Host, "environment" | "given" | "releases">,
): string {
  const path = repositoryPaths(host);
  const sorted = [...problemsAsGiven(problems, host.given)].sort(byPlace);
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

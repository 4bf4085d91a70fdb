import type { Place, Problem } from "../../shared/errors.ts";
import { type Exception, exceptableRules, exceptionsSchema } from "../documents/exceptions.ts";
import { type AuthoredFiles, filesIn } from "../project/authored-files.ts";
import type { Discovered } from "../project/discover.ts";
import type { Located } from "../project/document.ts";
import { readBytes } from "../project/parse.ts";
import { error, warning } from "../records/report.ts";
import type { Ledger } from "./ledger.ts";

export interface Finding {
  version: string;
  problem: Problem;
}

/** First and last version that an exception covers. */
export function boundsOf({ versions }: Pick<Exception, "versions">): [first: string, last: string] {
  const [first = "", last = ""] = versions.split("..");
  return [first, last];
}

export function byException(exceptions: readonly Exception[], findings: readonly Finding[]) {
  const covered = new Map<Exception, Finding[]>(exceptions.map((exception) => [exception, []]));
  const open: Finding[] = [];
  for (const finding of findings) {
    const exception = exceptions.find((candidate) => covers(candidate, finding));
    (exception ? (covered.get(exception) ?? open) : open).push(finding);
  }
  return { covered, open };
}

function covers(exception: Exception, { version, problem }: Finding): boolean {
  const [first, last] = boundsOf(exception);
  return exception.rule === problem.code && version >= first && version <= last;
}

/**
 * Removes accepted findings: an exception accepts up to its count. Beyond it all its findings are reported,
 * because it is unknown which one is new. Warnings about cut records never exceed it.
 * @param unread versions that were not read; if there are any, a low count is not reported
 */
export function applyExceptions(
  document: Located<Exception[]> | undefined,
  findings: readonly Finding[],
  unread: readonly string[] = [],
): Problem[] {
  if (!document) return findings.map(({ problem }) => problem);
  const { covered, open } = byException(document.value, findings);
  const problems = open.map(({ problem }) => problem);
  for (const [index, exception] of document.value.entries()) {
    const found = covered.get(exception) ?? [];
    const { error: refused = [], warning: cut = [] } = Object.groupBy(found, (each) => each.problem.severity);
    const reported = refused.length > exception.count ? found : [...refused, ...cut].slice(exception.count);
    for (const { problem } of reported) problems.push(problem);
    const count = Math.max(refused.length, Math.min(found.length, exception.count));
    const judged = judge(exception, count, document.place([index, "count"]));
    const [first, last] = boundsOf(exception);
    const partly = unread.some((version) => version >= first && version <= last);
    if (judged && !(judged.severity === "warning" && partly)) problems.push(judged);
  }
  return problems;
}

/** An import writes an exception for each violation. Without one, exceptions.yaml was lost, and the hint says so. */
export function acceptedOnce(findings: readonly Finding[], ledger: Pick<Ledger, "ofVersion">): Finding[] {
  const rules: readonly string[] = exceptableRules;
  const isExceptable = ({ problem }: Finding) => problem.severity === "error" && rules.includes(problem.code);
  const versions = new Set(findings.filter(isExceptable).map(({ version }) => version));
  const wasImported = (version: string) => ledger.ofVersion(version).some(({ add }) => add.imported);
  const imported = new Set(versions.values().filter(wasImported));
  return findings.map(({ version, problem }) => {
    if (!imported.has(version) || !isExceptable({ version, problem })) return { version, problem };
    const restore = "Was it imported like that? Restore releases/exceptions.yaml from version control.";
    const hint = [problem.hint, restore].filter(Boolean).join(" ");
    return { version, problem: { ...problem, hint } };
  });
}

function judge({ rule, versions, count }: Exception, found: number, at: Place): Problem | undefined {
  const where = `${rule} in ${versions.replace("..", " to ")}`;
  if (found > count) {
    const message = `${found} problems are ${where}, but only ${count} are accepted`;
    const hint = "Correct the new one; exceptions are for what was imported.";
    return error("exceptions-exceeded", at, message, hint);
  }
  if (found === count) return undefined;
  const message = `${count} problems of ${where} are accepted, but there are only ${found}`;
  const hint =
    found === 0 ? "Remove the entry." : `Lower the count to ${found}, so that no new one hides behind it.`;
  return warning("exceptions-unused", at, message, hint);
}

/** Rules across entries, which the schema cannot express. */
function checkExceptions(document: Located<Exception[]>): Problem[] {
  return document.value.flatMap((exception, index) => {
    const [first, last] = boundsOf(exception);
    if (first <= last) return [];
    const message = `the range ${exception.versions} ends before it begins`;
    return [error("option-value", document.place([index, "versions"]), message, `Write ${last}..${first}.`)];
  });
}

/** Accepted violations of imported records; a missing file accepts none. */
export function readExceptions(
  { folder, exceptions }: Pick<Discovered, "folder" | "exceptions">,
  files: AuthoredFiles = filesIn(folder),
) {
  const file = `${folder}/exceptions.yaml`;
  const bytes = exceptions === undefined ? undefined : files.read(exceptions);
  if (!bytes) return { document: undefined, problems: [] };
  const { document, problems, raw } = readBytes(file, bytes, exceptionsSchema);
  if (raw?.value === null) return { document: undefined, problems: [] };
  return { document, problems: document ? checkExceptions(document) : problems };
}

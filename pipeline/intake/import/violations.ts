import type { Code, Problem } from "../../../shared/errors.ts";
import type { Exception } from "../../documents/exceptions.ts";
import { boundsOf, byException, type Finding } from "../../ledger/exceptions.ts";
import { type LiveRecord, recordName } from "./read-records.ts";

export interface Violation {
  id: number;
  version: string;
  name: string;
  rule: Code;
  message: string;
}

export interface RecordFinding extends Finding {
  record: LiveRecord;
}

/** If an exception's count is exceeded, all findings of this import are shown: any of them may be the new one. */
export function unaccepted(
  exceptions: readonly Exception[],
  before: readonly Finding[],
  found: readonly RecordFinding[],
): RecordFinding[] {
  const { covered, open } = byException(exceptions, [...before, ...found]);
  const exceeded = [...covered].flatMap(([{ count }, findings]) => (findings.length > count ? findings : []));
  const shown = new Set<Finding>([...open, ...exceeded]);
  return found.filter((finding) => shown.has(finding));
}

export const asViolation = ({ record, problem }: RecordFinding): Violation => ({
  id: record.id,
  version: record.version,
  name: record.name,
  rule: problem.code,
  message: problem.message,
});

/** Number of violations by rule, highest first. */
export function countByRule(violations: readonly Pick<Violation, "rule">[]): [rule: Code, count: number][] {
  const counts = new Map<Code, number>();
  for (const { rule } of violations) counts.set(rule, (counts.get(rule) ?? 0) + 1);
  return [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
}

/** One problem per violation, and a final one that explains how to import anyway. */
export function violationProblems(violations: readonly Violation[]): Problem[] {
  if (violations.length === 0) return [];
  const problems = violations.map((each): Problem => {
    const message = `${recordName(each)}: ${each.message}`;
    return { code: each.rule, severity: "error", message };
  });
  const records = new Set(violations.map(({ id }) => id)).size;
  const counts = countByRule(violations).map(([rule, count]) => `${count} ${rule}`);
  const message = `${records === 1 ? "1 record breaks" : `${records} records break`} rules of the specification: ${counts.join(", ")}`;
  const hint = "Correct them in the live catalog, or import them as they are with --accept-violations.";
  return [...problems, { code: "import-violations", severity: "error", message, hint }];
}

/** Extends exceptions to cover the findings: raises counts, and adds entries for the rest. */
export function extendExceptions(
  exceptions: readonly Exception[],
  before: readonly Finding[],
  found: readonly RecordFinding[],
): Exception[] {
  const { open } = byException(exceptions, found);
  const groups = Object.groupBy(open, ({ problem }) => problem.code);
  const added = Object.entries(groups).map(([rule, findings]): Exception => {
    const versions = findings.map(({ version }) => version).sort();
    return {
      rule: rule as Exception["rule"],
      versions: `${versions[0]}..${versions.at(-1)}`,
      count: findings.length,
    };
  });
  const sorted = added.sort((a, b) => (a.rule < b.rule ? -1 : 1));
  const extended = [...exceptions.map((exception) => ({ ...exception })), ...sorted];
  const { covered } = byException(extended, [...before, ...found]);
  for (const [exception, findings] of covered) exception.count = Math.max(exception.count, findings.length);
  return extended;
}

export const sameExceptions = (a: readonly Exception[], b: readonly Exception[]): boolean =>
  a.length === b.length &&
  a.every(
    (one, index) => one.count === b[index]?.count && `${boundsOf(one)}` === `${boundsOf(b[index] ?? one)}`,
  );

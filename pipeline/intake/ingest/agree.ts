import type { Problem } from "../../errors.ts";
import { type At, type Claim, problem } from "./evidence.ts";

const oneBuild = "The inputs of one call must come from one build.";

/**
 * One value out of several claims of it; each other value is a problem, where it is claimed: a file for download is what it
 * is. Which of them counts depends on where they stand, never on the order of inputs.
 */
export function agree<T>(
  what: string,
  claims: readonly Claim<T>[],
  problems: Problem[],
  hint = oneBuild,
): Claim<T> | undefined {
  const [first, ...others] = [...claims].sort((a, b) => byKind(a.at, b.at) || byPlace(a.at, b.at));
  if (!first) return undefined;
  for (const { value, at } of others.filter((other) => other.value !== first.value)) {
    const { file, line } = first.at();
    const message = `${what} is ${value} here, but ${first.value} in ${hasLines(first.at) ? `${file}:${line}` : file}`;
    problems.push(problem("ingest-conflict", at, message, hint));
  }
  return first;
}

/** A file for download has none. */
const hasLines = (at: At): boolean => at().excerpt !== undefined;

const byKind = (a: At, b: At): number => Number(hasLines(a)) - Number(hasLines(b));

export function byPlace(a: At, b: At): number {
  const [x, y] = [a(), b()];
  return x.file === y.file ? x.line - y.line || x.column - y.column : x.file < y.file ? -1 : 1;
}

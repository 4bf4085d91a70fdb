import type { Problem } from "../../../shared/errors.ts";
import { type At, type Claim, problem } from "./evidence.ts";

const oneBuild = "The inputs of one run must come from one build.";

/**
 * Merges claims about one value; each different value is a problem, reported at its location. The result
 * depends on the locations, never on the order of inputs.
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

/** Downloadable files have no lines. */
const hasLines = (at: At): boolean => at().excerpt !== undefined;

const byKind = (a: At, b: At): number => Number(hasLines(a)) - Number(hasLines(b));

export function byPlace(a: At, b: At): number {
  const [x, y] = [a(), b()];
  return x.file === y.file ? x.line - y.line || x.column - y.column : x.file < y.file ? -1 : 1;
}

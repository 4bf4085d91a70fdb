import type { Problem } from "../errors.ts";
import { type At, type Claim, problem } from "./evidence.ts";

const oneBuild = "The inputs of one call must come from one build.";

/**
 * One value out of several claims of it; a second value is a problem. Which of them is named first depends on
 * where they stand, never on the order of inputs.
 */
export function agree<T>(
  what: string,
  claims: readonly Claim<T>[],
  problems: Problem[],
  hint = oneBuild,
): Claim<T> | undefined {
  const [first, ...others] = [...claims].sort((a, b) => byPlace(a.at, b.at));
  const other = others.find(({ value }) => value !== first?.value);
  if (!first || !other) return first;
  const { file, line } = first.at();
  const message = `${what} is ${other.value} here, but ${first.value} in ${file}:${line}`;
  problems.push(problem("ingest-conflict", other.at, message, hint));
  return first;
}

export function byPlace(a: At, b: At): number {
  const [x, y] = [a(), b()];
  return x.file === y.file ? x.line - y.line || x.column - y.column : x.file < y.file ? -1 : 1;
}

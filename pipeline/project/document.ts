import type { z } from "zod";
import type { Problem } from "../../shared/errors.ts";
import { parseJson } from "../../shared/json.ts";
import { type Path, placeAt, type Source, type Syntax, SyntaxProblem } from "../../shared/source.ts";
import { type Issue, type PlaceOf, problemsOf } from "./shape-problems.ts";
import { parseYaml } from "./yaml.ts";

/** A valid document with the locations of its parts. */
export interface Located<T> {
  file: string;
  value: T;
  place: PlaceOf;
}

/** A document or its problems; `raw` is set if only the shape is wrong. */
export type Read<T> =
  | { document: Located<T>; problems: []; raw?: undefined }
  | { document: undefined; problems: Problem[]; raw?: Located<unknown> };

/** Limits the number of values, because a wrong list of millions would use gigabytes for its errors. */
const maxValues = 250_000;

/**
 * Parses a text of limited size.
 * @throws SyntaxProblem those of the parser; file-size
 */
export function parseWith(parse: (text: string) => Syntax, text: string): Syntax {
  const syntax = parse(text);
  if (text.length <= maxValues || countValues(syntax.value) <= maxValues) return syntax;
  const message = `the file contains more than ${maxValues} values, expected fewer`;
  const hint = "Is it the right file? A release may have many manifests.";
  throw new SyntaxProblem("file-size", 0, message, hint);
}

/** Parses by file name ending and validates. All problems are returned, none thrown. */
export function readDocument<S extends z.ZodType>(source: Source, schema: S): Read<z.infer<S>> {
  let syntax: Syntax;
  try {
    syntax = parseWith(source.file.endsWith(".json") ? parseJson : parseYaml, source.text);
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error;
    const { code, message, hint, offset } = error;
    const at = placeAt(source, offset);
    return {
      document: undefined,
      problems: [{ code, severity: "error", message, ...(hint && { hint }), at }],
    };
  }
  return checkShape(source, syntax, schema);
}

/** One mistake can make every value of a list wrong; further problems are only counted. */
const maxProblems = 500;

/** Validates a parsed document; its problems have locations in the source. */
export function checkShape<S extends z.ZodType>(source: Source, syntax: Syntax, schema: S): Read<z.infer<S>> {
  const place = (path: Path, part: "key" | "value" = "value") => ({
    ...placeAt(source, syntax.locate(path, part)),
    path,
  });
  const result = schema.safeParse(syntax.value);
  const issues = [...(result.error?.issues ?? []), ...strayKeys(source, syntax.value)];
  if (result.success && issues.length === 0) {
    return { document: { file: source.file, value: result.data, place }, problems: [] };
  }
  const described = issues.values().flatMap((issue) => problemsOf(issue, syntax, schema, place));
  const problems = described.take(maxProblems + 1).toArray();
  const last = problems.at(maxProblems);
  const faults = issues.map((issue) => (issue.code === "unrecognized_keys" ? issue.keys.length : 1));
  const count = faults.reduce((sum, each) => sum + each, 0);
  if (last) problems[maxProblems] = { ...last, ...moreProblems(count - maxProblems) };
  const unique = new Map(
    problems.map((problem) => [`${problem.at?.line}:${problem.at?.column} ${problem.message}`, problem]),
  );
  const raw = { file: source.file, value: syntax.value, place };
  return { document: undefined, problems: [...unique.values()].sort(byPlace), raw };
}

const moreProblems = (count: number) => ({
  message: `the document has about ${count} more problems`,
  hint: "Correct those before this one, then check again.",
});

const byPlace = ({ at: a }: Problem, { at: b }: Problem) =>
  a && b ? a.line - b.line || a.column - b.column : 0;

/**
 * Schemas of tables skip the key `__proto__`, but strict objects report it, so that nothing is silently
 * dropped.
 */
function strayKeys({ text }: Source, value: unknown): Issue[] {
  if (!text.includes("__proto__") && !text.includes("\\")) return [];
  return [...protoParents(value, [])].map(({ parent, path }) => ({
    code: "unrecognized_keys",
    keys: ["__proto__"],
    path,
    input: parent,
    message: "",
  }));
}

function* protoParents(
  value: unknown,
  path: Path,
): Iterable<{ parent: Record<string, unknown>; path: (string | number)[] }> {
  if (value === null || typeof value !== "object") return;
  if (Object.hasOwn(value, "__proto__")) yield { parent: value as Record<string, unknown>, path: [...path] };
  for (const [key, item] of Object.entries(value)) {
    yield* protoParents(item, [...path, Array.isArray(value) ? Number(key) : key]);
  }
}

function countValues(value: unknown): number {
  if (value === null || typeof value !== "object") return 1;
  let count = 1;
  for (const item of Object.values(value)) count += countValues(item);
  return count;
}

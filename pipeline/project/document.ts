import { distance } from "fastest-levenshtein";
import type { z } from "zod";
import { type Code, type Place, type Problem, RelcatError } from "../../shared/errors.ts";
import { parseJson } from "../../shared/json.ts";
import {
  type Path,
  parseSource,
  placeAt,
  type Source,
  type Syntax,
  SyntaxProblem,
} from "../../shared/source.ts";
import { display, giveWhole, isShortened, pathText } from "./display.ts";
import { parseYaml } from "./yaml.ts";

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

/** @throws SyntaxProblem those of the parser; file-size */
export function parseWith(parse: (text: string) => Syntax, text: string): Syntax {
  const syntax = parse(text);
  if (text.length <= maxValues || countValues(syntax.value) <= maxValues) return syntax;
  const message = `the file contains more than ${maxValues} values, expected fewer`;
  const hint = "Is it the right file? A release may have many manifests.";
  throw new SyntaxProblem("file-size", 0, message, hint);
}

/** Parses by file name ending and validates. All problems are returned, none thrown. */
export function readDocument<S extends z.ZodType>(source: Source, schema: S): Read<z.infer<S>> {
  const parse = source.file.endsWith(".json") ? parseJson : parseYaml;
  let syntax: Syntax;
  try {
    syntax = parseSource(source, (text) => parseWith(parse, text));
  } catch (error) {
    if (!(error instanceof RelcatError)) throw error;
    return { document: undefined, problems: [...error.problems] };
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

/** Schemas of tables skip the key `__proto__`. It is reported, so that nothing is silently dropped. */
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

type Issue = z.core.$ZodIssue;

type PlaceOf = (path: Path, part?: "key" | "value") => Place;

function* problemsOf(
  issue: Issue,
  syntax: Syntax,
  schema: z.ZodType,
  place: PlaceOf,
): Generator<Problem, undefined> {
  const path = issue.path as Path;
  if (issue.code === "unrecognized_keys") {
    for (const key of issue.keys) yield unknownKey(key, path, schema, place([...path, key], "key"));
    return;
  }
  if (issue.code === "invalid_key") {
    yield unfitKey(path, issue.issues[0] ?? issue, place(path, "key"));
    return;
  }
  const { found, value } = lookUp(syntax.value, path);
  const inner = issue.code === "invalid_union" ? closestBranch(issue, value) : undefined;
  if (inner) {
    for (const nested of inner)
      yield* problemsOf({ ...nested, path: [...path, ...nested.path] }, syntax, schema, place);
  } else if (found) yield unfit(issue, value, syntax.spelling(path), place(path));
  else yield missingKey(path, issue, place(path));
}

function unfitKey(path: Path, issue: Issue, at: Place): Problem {
  const { code, expected } = wordingOf(issue);
  const message = `the key ${display(String(path.at(-1)))} in ${pathText(path.slice(0, -1))} is not valid, expected ${expected}`;
  return { code, severity: "error", message, at };
}

function unknownKey(key: string, path: Path, schema: z.ZodType, at: Place): Problem {
  const known = keysAt(schema, path);
  const where = path.length > 0 ? ` in ${pathText(path)}` : "";
  const near = nearest(key, known);
  const hint = near
    ? near === key
      ? "The other keys there exclude it: remove it, or them."
      : `Did you mean ${near}?`
    : known.length > 0
      ? `Known keys: ${known.join(", ")}.`
      : "Remove it.";
  const message = `the key ${display(key)} is not known${where}`;
  return { code: "unknown-key", severity: "error", message, hint, at };
}

/** Suggests a known key; short words allow fewer differences. */
function nearest(key: string, known: readonly string[]): string | undefined {
  const off = (name: string) => distance(name.toLowerCase(), key.toLowerCase());
  const [near] = known.toSorted((a, b) => off(a) - off(b));
  return near !== undefined && off(near) <= (key.length < 4 ? 1 : Math.max(2, key.length / 3))
    ? near
    : undefined;
}

function missingKey(path: Path, issue: Issue, at: Place): Problem {
  const parent = path.length > 1 ? ` in ${pathText(path.slice(0, -1))}` : "";
  const message = `the key ${pathText(path.slice(-1))} is missing${parent}, expected ${wordingOf(issue).expected}`;
  return { code: "missing-key", severity: "error", message, at };
}

function unfit(issue: Issue, value: unknown, spelling: string | undefined, at: Place): Problem {
  const { code, expected } = wordingOf(issue);
  const what = issue.path.length > 0 ? pathText(issue.path as Path) : "the document";
  const isEmpty = value === null && issue.path.length === 0 && !/null|~/i.test(at.excerpt ?? "");
  const bare = spelling !== undefined && wantsText(issue);
  if (bare && typeof value === "number") {
    const reads = String(value) === spelling ? "as a number" : `as ${value}`;
    const hint = `Quote it: "${spelling}" (YAML reads ${spelling} ${reads}).`;
    const message = `${what} is the number ${value}, expected text`;
    return { code: "unquoted-number", severity: "error", message, hint, at };
  }
  const hint =
    isShortened(value) && code.endsWith("-format") ? giveWhole : bare && hintForBare(value, spelling);
  const message = `${what} is ${isEmpty ? "empty" : display(value)}, expected ${expected}`;
  return { code, severity: "error", message, ...(hint && { hint }), at };
}

function hintForBare(value: unknown, spelling: string): string | undefined {
  if (value === null && spelling === "") return "Write a value, or leave the key out.";
  return value === null || typeof value === "boolean"
    ? `If it is meant as text, quote it: "${spelling}".`
    : undefined;
}

const wantsText = (issue: Issue): boolean =>
  issue.code === "invalid_type"
    ? issue.expected === "string"
    : issue.code === "invalid_union" &&
      issue.errors.some((errors) => errors.some((error) => error.path.length === 0 && wantsText(error)));

/** Splits the field's error (shared/fields.ts); other errors come from zod. */
function wordingOf(issue: Issue): { code: Code; expected: string } {
  const bar = issue.message.indexOf("|");
  if (bar > 0) return { code: issue.message.slice(0, bar) as Code, expected: issue.message.slice(bar + 1) };
  if (issue.code === "invalid_value")
    return { code: "option-value", expected: issue.values.map((v) => display(v)).join(" or ") };
  return { code: "wrong-type", expected: issue.message };
}

/** For a value with several possible forms, the errors of the form that knows most of its keys. */
function closestBranch(issue: Issue & { code: "invalid_union" }, value: unknown): Issue[] | undefined {
  if (value === null || typeof value !== "object") return undefined;
  const branches = issue.errors.filter(
    (errors) => !errors.some((error) => error.path.length === 0 && error.code !== "unrecognized_keys"),
  );
  const unknown = (errors: Issue[]) =>
    errors.flatMap((error) =>
      error.code === "unrecognized_keys" && error.path.length === 0 ? error.keys : [],
    );
  return branches.toSorted((a, b) => unknown(a).length - unknown(b).length)[0];
}

function keysAt(schema: z.ZodType, path: Path): string[] {
  const keys = new Set<string>();
  collectKeys(schema as unknown as SchemaNode, path, keys);
  return [...keys];
}

interface SchemaNode {
  _zod: {
    def: {
      type: string;
      shape?: Record<string, SchemaNode>;
      element?: SchemaNode;
      valueType?: SchemaNode;
      innerType?: SchemaNode;
      options?: SchemaNode[];
    };
  };
}

function collectKeys(node: SchemaNode, path: Path, into: Set<string>): void {
  const { def } = node._zod;
  if (def.options) for (const option of def.options) collectKeys(option, path, into);
  else if (def.innerType) collectKeys(def.innerType, path, into);
  else if (path.length === 0) for (const key of Object.keys(def.shape ?? {})) into.add(key);
  else {
    const next = def.shape?.[String(path[0])] ?? def.element ?? def.valueType;
    if (next) collectKeys(next, path.slice(1), into);
  }
}

function lookUp(root: unknown, path: Path): { found: boolean; value: unknown } {
  let value = root;
  for (const key of path) {
    if (value === null || typeof value !== "object" || !Object.hasOwn(value, key))
      return { found: false, value: undefined };
    value = (value as Record<string | number, unknown>)[key];
  }
  return { found: true, value };
}

import { distance } from "fastest-levenshtein";
import { z } from "zod";
import type { Code, Place, Problem } from "../errors.ts";
import { parseJson } from "./json.ts";
import { type Path, placeAt, type Source, type Syntax, SyntaxProblem } from "./source.ts";
import { parseYaml } from "./yaml.ts";

/** A document that fits its schema, and the places of its parts. */
export interface Located<T> {
  file: string;
  value: T;
  /** Where the value at `path`, or its key, stands. */
  place(path: Path, part?: "key" | "value"): Place;
}

export type Read<T> = { document: Located<T>; problems: [] } | { document: undefined; problems: Problem[] };

/** Reads a source by the ending of its name and checks its shape. All problems are returned, none thrown. */
export function readDocument<S extends z.ZodType>(source: Source, schema: S): Read<z.infer<S>> {
  let syntax: Syntax;
  try {
    syntax = source.file.endsWith(".json") ? parseJson(source.text) : parseYaml(source.text);
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error;
    const { code, message, hint, offset } = error;
    const at = placeAt(source, offset);
    return { document: undefined, problems: [{ code, severity: "error", message, ...(hint && { hint }), at }] };
  }
  return fit(source, syntax, schema);
}

function fit<S extends z.ZodType>(source: Source, syntax: Syntax, schema: S): Read<z.infer<S>> {
  const place = (path: Path, part: "key" | "value" = "value") => placeAt(source, syntax.locate(path, part));
  const result = schema.safeParse(syntax.value);
  if (result.success) return { document: { file: source.file, value: result.data, place }, problems: [] };
  const problems = result.error.issues.flatMap((issue) => describe(issue, syntax, schema, place));
  return { document: undefined, problems };
}

type Issue = z.core.$ZodIssue;

function describe(issue: Issue, syntax: Syntax, schema: z.ZodType, place: Located<unknown>["place"]): Problem[] {
  const path = issue.path as Path;
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => unknownKey(key, path, schema, place([...path, key], "key")));
  }
  if (issue.code === "invalid_union") {
    const inner = closestBranch(issue, valueAt(syntax.value, path));
    if (inner) {
      return inner.flatMap((nested) => describe({ ...nested, path: [...path, ...nested.path] }, syntax, schema, place));
    }
  }
  const { found, value } = lookUp(syntax.value, path);
  if (!found) return [missingKey(path, issue, place(path))];
  return [unfit(issue, value, syntax.spelling(path), place(path))];
}

function unknownKey(key: string, path: Path, schema: z.ZodType, at: Place): Problem {
  const known = keysAt(schema, path);
  const near = known.filter((name) => distance(name, key) <= Math.max(2, key.length / 3));
  near.sort((a, b) => distance(a, key) - distance(b, key));
  const where = path.length > 0 ? ` in ${dotted(path)}` : "";
  const hint = near[0] ? `Did you mean ${near[0]}?` : known.length > 0 ? `Known keys: ${known.join(", ")}.` : "Remove it.";
  return { code: "unknown-key", severity: "error", message: `the key ${JSON.stringify(key)} is not known${where}`, hint, at };
}

function missingKey(path: Path, issue: Issue, at: Place): Problem {
  const parent = path.length > 1 ? ` in ${dotted(path.slice(0, -1))}` : "";
  const message = `the key ${path.at(-1)} is missing${parent}, expected ${wordingOf(issue).expected}`;
  return { code: "missing-key", severity: "error", message, at };
}

function unfit(issue: Issue, value: unknown, spelling: string | undefined, at: Place): Problem {
  const { code, expected } = wordingOf(issue);
  if (issue.code === "invalid_type" && issue.expected === "string" && typeof value === "number" && spelling) {
    const message = `${dotted(issue.path as Path)} is the number ${value}, expected text`;
    const reads = String(value) === spelling ? "as a number" : `as ${value}`;
    return { code: "unquoted-number", severity: "error", message, hint: `Quote it: "${spelling}" (YAML reads ${spelling} ${reads}).`, at };
  }
  const what = issue.path.length > 0 ? dotted(issue.path as Path) : "the document";
  return { code, severity: "error", message: `${what} is ${display(value)}, expected ${expected}`, at };
}

/** Splits the wording a field gave (documents/fields.ts); the rest is zod's own. */
function wordingOf(issue: Issue): { code: Code; expected: string } {
  const bar = issue.message.indexOf("|");
  if (bar > 0) return { code: issue.message.slice(0, bar) as Code, expected: issue.message.slice(bar + 1) };
  if (issue.code === "invalid_value") return { code: "option-value", expected: issue.values.map((v) => display(v)).join(" or ") };
  return { code: "wrong-type", expected: issue.message };
}

/** Where a value can take several forms, the complaints about the form that it comes closest to. */
function closestBranch(issue: Issue & { code: "invalid_union" }, value: unknown): Issue[] | undefined {
  if (value === null || typeof value !== "object") return undefined;
  const branches = issue.errors.filter((errors) => !errors.some((error) => error.path.length === 0 && error.code !== "unrecognized_keys"));
  return branches[0];
}

function keysAt(schema: z.ZodType, path: Path): string[] {
  const keys = new Set<string>();
  collectKeys(schema as unknown as SchemaNode, path, keys);
  return [...keys];
}

interface SchemaNode {
  _zod: { def: { type: string; shape?: Record<string, SchemaNode>; element?: SchemaNode; valueType?: SchemaNode; innerType?: SchemaNode; options?: SchemaNode[] } };
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
    if (value === null || typeof value !== "object" || !Object.hasOwn(value, key)) return { found: false, value: undefined };
    value = (value as Record<string | number, unknown>)[key];
  }
  return { found: true, value };
}

const valueAt = (root: unknown, path: Path) => lookUp(root, path).value;

/** `artifacts.0.sha256`, as the fields of a problem are named everywhere. */
export const dotted = (path: Path) => path.join(".");

/** A value as an error shows it: short, and harmless in a terminal. */
export function display(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (value !== null && typeof value === "object") return "an object";
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 100 ? `${text.slice(0, 97)}…` : text;
}

import { RelcatError } from "../../../shared/errors.ts";
import { parseJson } from "../../../shared/json.ts";
import { decode, placeAt, type Source, type Syntax, SyntaxProblem } from "../../../shared/source.ts";
import { isObject } from "../../documents/is-object.ts";
import { type Manifest, manifestSchema } from "../../documents/manifest.ts";
import { checkShape, type Located, parseWith } from "../../project/document.ts";
import { invalid, PostRefused, refuseInvalid } from "./refused.ts";

/** The limit of every command that reads manifests. */
export const maxPostedBytes = 4 * 1024 * 1024;

/** The parsed body, validated as far as possible without a catalog. */
export type PostedBody =
  | { kind: "manifest"; manifest: Located<Manifest> }
  /** One record in the framework's form; the names inside `data` depend on the configuration. */
  | { kind: "record"; source: Source; syntax: Syntax; value: Readonly<Record<string, unknown>> };

/** Name of the body in messages. */
export const postedName = "the posted manifest";

/**
 * Parses a body; an empty one counts as an empty object.
 * @throws PostRefused with every syntax error
 */
export function readPosted(body: Uint8Array): PostedBody {
  const source = textOf(body);
  const syntax = parse(source);
  const { value } = syntax;
  if (!isObject(value)) {
    throw invalid(
      [],
      value === null ? "No data provided" : `Invalid data. Expected a dictionary, but got ${kindOf(value)}.`,
    );
  }
  if (!isManifest(value)) return { kind: "record", source, syntax, value };
  const { document, problems } = checkShape(source, syntax, manifestSchema);
  if (!document) refuseInvalid(problems);
  return { kind: "manifest", manifest: document as Located<Manifest> };
}

/** An incomplete manifest gets errors about manifests, not about records. */
const isManifest = (value: Readonly<Record<string, unknown>>) =>
  Object.hasOwn(value, "artifacts") || (Object.hasOwn(value, "release") && !Object.hasOwn(value, "name"));

function textOf(body: Uint8Array): Source {
  if (body.length === 0) return { file: postedName, text: "{}" };
  try {
    return decode(postedName, body, maxPostedBytes);
  } catch (error) {
    const [problem] = error instanceof RelcatError ? error.problems : [];
    if (!problem) throw error;
    throw unreadable(problem.code, problem.message, problem.at?.line, problem.at?.column);
  }
}

function parse(source: Source): Syntax {
  try {
    return parseWith(parseJson, source.text);
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error;
    const { line, column } = placeAt(source, error.offset);
    throw unreadable(error.code, error.message, line, column);
  }
}

/** Replaces the file reader's hints, because a client has no file here. */
function unreadable(code: string, message: string, line = 1, column = 1): PostRefused {
  const text = message.replace(/^the file/, "the body");
  if (code === "file-size") return new PostRefused("too-large", `${text}.`);
  return new PostRefused("unreadable", `${text}: line ${line} column ${column}`);
}

/** Type names as the framework writes them. */
function kindOf(value: unknown): string {
  if (Array.isArray(value)) return "list";
  if (typeof value === "string") return "str";
  if (typeof value === "boolean") return "bool";
  return Number.isInteger(value) ? "int" : "float";
}

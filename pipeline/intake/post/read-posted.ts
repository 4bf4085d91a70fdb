import { type Problem, RelcatError } from "../../../shared/errors.ts";
import { parseJson } from "../../../shared/json.ts";
import { decode, type Path, parseSource, type Source, type Syntax } from "../../../shared/source.ts";
import { isObject } from "../../documents/is-object.ts";
import { type Manifest, manifestSchema } from "../../documents/manifest.ts";
import { fieldName } from "../../project/display.ts";
import { checkShape, type Located, parseWith } from "../../project/document.ts";

/** The limit of every command that reads manifests. */
export const maxPostedBytes = 4 * 1024 * 1024;

/** The parsed body, validated as far as possible without a catalog. */
export type PostedBody =
  | { kind: "manifest"; manifest: Located<Manifest> }
  /** One record in the framework's form; the names inside `data` depend on the configuration. */
  | { kind: "record"; source: Source; syntax: Syntax; value: Readonly<Record<string, unknown>> };

/** Name of the body in messages. */
export const postedName = "the posted manifest";

/** An empty body counts as an empty object. @throws PostRefused with every syntax error */
export function readPosted(body: Uint8Array): PostedBody {
  const [source, syntax] = parse(body);
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

function parse(body: Uint8Array): [Source, Syntax] {
  try {
    const source =
      body.length === 0 ? { file: postedName, text: "{}" } : decode(postedName, body, maxPostedBytes);
    return [source, parseSource(source, (text) => parseWith(parseJson, text))];
  } catch (error) {
    const [problem] = error instanceof RelcatError ? error.problems : [];
    if (!problem) throw error;
    // Hints of the file reader are left out, because a client has no file here.
    const text = problem.message.replace(/^the file/, "the body");
    if (problem.code === "file-size") throw new PostRefused("too-large", `${text}.`);
    const { line, column } = problem.at ?? { line: 1, column: 1 };
    throw new PostRefused("unreadable", `${text}: line ${line} column ${column}`);
  }
}

/** Type names as the framework writes them. */
function kindOf(value: unknown): string {
  if (Array.isArray(value)) return "list";
  if (typeof value === "string") return "str";
  if (typeof value === "boolean") return "bool";
  return Number.isInteger(value) ? "int" : "float";
}

/** unreadable: not JSON; conflict: valid, but contradicts existing data. */
type Reason = "unreadable" | "too-large" | "invalid" | "conflict";

/** The posted data is rejected, for reasons that the client can correct. */
export class PostRefused extends Error {
  override readonly name = "PostRefused";
  readonly reason: Reason;
  /** Messages by field path, if the reason is "invalid". */
  readonly fields: Readonly<Record<string, string[]>>;
  readonly conflicts: readonly string[];

  constructor(
    reason: Reason,
    message: string,
    { fields = {}, conflicts = [] }: Partial<Pick<PostRefused, "fields" | "conflicts">> = {},
  ) {
    super(message);
    this.reason = reason;
    this.fields = fields;
    this.conflicts = conflicts;
  }
}

/** The framework's name for errors that belong to no field. */
const noField = "non_field_errors";

/** One mistake can make every value invalid; further messages are only counted. */
const maxMessages = 500;

/** @param path of the field; [] for the whole body */
export const invalid = (path: Path, message: string): PostRefused =>
  new PostRefused("invalid", message, { fields: { [nameOf(path)]: [message] } });

/** @throws PostRefused with all problems by field, if there are any */
export function refuseInvalid(problems: readonly Problem[]): void {
  if (problems.length === 0) return;
  const groups = Map.groupBy(problems.slice(0, maxMessages), ({ at }) => nameOf(at?.path ?? []));
  const fields = new Map([...groups].map(([name, each]) => [name, [...new Set(each.map(messageOf))]]));
  const more = problems.length - maxMessages;
  if (more > 0) fields.set(noField, [...(fields.get(noField) ?? []), `There are ${more} more problems.`]);
  throw new PostRefused("invalid", "the body has problems", { fields: Object.fromEntries(fields) });
}

/** @throws PostRefused naming both sides of each conflict, if there are any */
export function refuseConflicts(conflicts: readonly string[]): void {
  const [first] = conflicts;
  if (first === undefined) return;
  const shown = conflicts.slice(0, maxMessages);
  const more = conflicts.length > 1 ? ` There are ${conflicts.length} conflicts in all.` : "";
  throw new PostRefused("conflict", `${first}${more}`, { conflicts: shown });
}

const nameOf = (path: Path) => (path.length > 0 ? fieldName(path) : noField);

export function messageOf({ code, message, hint }: Problem): string {
  if (code === "missing-key") return "This field is required.";
  const sentence = message.endsWith(".") ? message : `${message}.`;
  return hint === undefined ? sentence : `${sentence} ${hint}`;
}

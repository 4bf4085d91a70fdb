import type { z } from "zod";
import type { FieldError } from "../../service/http/problem.ts";
import { type ServerRequest, saysNoBody } from "../../service/http/request.ts";
import { parseJson } from "../../shared/json.ts";
import { SyntaxProblem } from "../../shared/source.ts";
import { Refused } from "./call.ts";
import type { Contract } from "./contract.ts";
import { counted } from "./pages/words.ts";

/** Maximum nesting; no document of this API has more than four levels. */
const maxBodyDepth = 32;

const maxSmallBodyBytes = 16 * 1024;

/** @throws Refused naming each unknown, repeated or invalid parameter */
export function readQuery({ query }: Contract, parameters: URLSearchParams): Record<string, unknown> {
  if (parameters.size === 0 && !query) return {};
  const errors: FieldError[] = [];
  const given: Record<string, string> = Object.create(null);
  for (const name of new Set(parameters.keys())) {
    const values = parameters.getAll(name);
    if (values.length > 1)
      errors.push({ pointer: name, code: "repeated", detail: "The parameter is repeated." });
    given[name] = values[0] ?? "";
  }
  const known = query?.shape ?? {};
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(known, name)) continue;
    const names = Object.keys(known);
    const detail =
      names.length > 0 ? `The parameters are ${names.join(", ")}.` : "There are no parameters here.";
    errors.push({ pointer: name.slice(0, 100), code: "unknown", detail });
    delete given[name];
  }
  const result = query?.safeParse({ ...given }, { error: wordsOf });
  for (const issue of result?.error?.issues ?? [])
    errors.push(fieldError(issue, (path) => String(path[0] ?? "")));
  if (errors.length > 0) throw new Refused("invalid", "The parameters cannot be used.", { errors });
  return (result?.data ?? {}) as Record<string, unknown>;
}

/** @returns ignored: paths of members that a lenient schema does not know @throws Refused listing all errors */
export async function readBodyAs(
  { body }: Contract,
  request: ServerRequest,
): Promise<{ body: unknown; ignored: string[] }> {
  if (!body) return { body: undefined, ignored: [] };
  const emptyBody = () => ({ body: body.schema.parse({}), ignored: [] });
  if (saysNoBody(request)) {
    if (body.optional) return emptyBody();
    throw new Refused("invalid", "The request has no body.");
  }
  requireJson(request);
  const maxBytes = body.bytes ?? maxSmallBodyBytes;
  const bytes = await request.read(maxBytes);
  if (bytes === "too-large")
    throw new Refused("too-large", `Bodies have at most ${maxBytes} bytes here.`, {
      headers: { Connection: "close" },
    });
  if (bytes === "cut-off") throw new Refused("bad-request", "The body ended before its length.");
  if (bytes.length === 0 && body.optional) return emptyBody();
  const sent = jsonOf(bytes);
  const result = body.schema.safeParse(sent, { error: wordsOf });
  if (result.success) return { body: result.data, ignored: [...new Set(droppedOf(sent, result.data))] };
  const errors = result.error.issues.slice(0, 100).map((issue) => fieldError(issue, pointerOf));
  throw new Refused("invalid", "The body cannot be used.", { errors });
}

/** Paths of members that the schema dropped; items of one list share a path. */
function* droppedOf(sent: unknown, accepted: unknown, path = ""): Generator<string> {
  if (Array.isArray(sent) && Array.isArray(accepted)) {
    for (const [index, item] of sent.entries()) yield* droppedOf(item, accepted[index], path);
  } else if (isObject(sent) && isObject(accepted)) {
    for (const [name, value] of Object.entries(sent)) {
      const place = path === "" ? name : `${path}.${name}`;
      if (Object.hasOwn(accepted, name)) yield* droppedOf(value, accepted[name], place);
      else yield place;
    }
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function requireJson(request: ServerRequest): void {
  const coding = request.header("content-encoding") ?? "identity";
  if (coding !== "identity")
    throw new Refused("unsupported-media-type", "Compressed bodies are not accepted.");
  const type = request.header("content-type") ?? "";
  if (/^application\/json\s*(;|$)/i.test(type)) return;
  throw new Refused("unsupported-media-type", "Send application/json.");
}

function jsonOf(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Refused("bad-request", "The body is not UTF-8.");
  }
  try {
    const { value } = parseJson(text);
    if (depthOf(value) > maxBodyDepth)
      throw new Refused("bad-request", `The body is nested more than ${maxBodyDepth} levels deep.`);
    return value;
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error;
    throw new Refused("bad-request", `The body is not usable JSON: ${error.message}.`);
  }
}

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let deepestChild = 0;
  for (const child of Object.values(value)) deepestChild = Math.max(deepestChild, depthOf(child));
  return 1 + deepestChild;
}

const types: Record<string, string> = {
  array: "a list",
  boolean: "true or false",
  int: "a whole number",
  number: "a number",
  object: "an object",
  string: "text",
};
const units: Record<string, string> = { array: "item", string: "character" };
const amountOf = (limit: number | bigint, origin: string): string =>
  units[origin] ? counted(Number(limit), units[origin]) : String(limit);

/** Zod's own messages show schemas. @returns undefined: the message of the schema, or Zod's */
function wordsOf(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === "too_small") return `Expected at least ${amountOf(issue.minimum, issue.origin)}`;
  if (issue.code === "too_big") return `Expected at most ${amountOf(issue.maximum, issue.origin)}`;
  if (issue.code === "invalid_value") return `Expected one of ${issue.values.join(", ")}`;
  if (issue.code === "invalid_format" && issue.format === "email") return "Expected an email address";
  if (issue.code !== "invalid_type") return undefined;
  return issue.input === undefined ? "Is missing" : `Expected ${types[issue.expected] ?? issue.expected}`;
}

function fieldError(issue: z.core.$ZodIssue, nameOf: (path: readonly PropertyKey[]) => string): FieldError {
  const keys = issue.code === "unrecognized_keys" ? issue.keys.map((key) => key.slice(0, 100)) : [];
  const detail = keys.length > 0 ? `Unknown: ${keys.join(", ")}.` : `${issue.message}.`;
  return { pointer: nameOf(issue.path), code: issue.code, detail };
}

/** RFC 6901. */
const pointerOf = (path: readonly PropertyKey[]): string =>
  path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

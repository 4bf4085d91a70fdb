import { distance } from "fastest-levenshtein";
import type { z } from "zod";
import { failure, type RelcatError } from "../../../shared/errors.ts";
import { display, giveWhole, isShortened } from "../../project/display.ts";
import { type Fields, fieldsSchema, overlay } from "./fields.ts";
import { elementOfSchema, fieldsOfSchema } from "./manifest-text.ts";

/** @param settings `key=value`; nested fields use dots @throws RelcatError usage */
export function parseSettings(settings: readonly string[]): Fields {
  return settings.map(parseSetting).reduce(overlay, {});
}

function parseSetting(setting: string): Fields {
  const [, key = "", value = ""] = /^([^=]*)=(.*)$/s.exec(setting) ?? [];
  if (key === "") {
    throw failure("usage", `--set ${display(setting)} is not key=value`, "For example: --set headless=true.");
  }
  const path = key.split(".");
  const schema = schemaAt(path, key);
  return path.reduceRight<unknown>((inner, part) => ({ [part]: inner }), typed(schema, value, key)) as Fields;
}

function schemaAt(path: readonly string[], key: string): z.ZodType {
  let schema: z.ZodType = fieldsSchema;
  for (const [depth, part] of path.entries()) {
    const fields = fieldsOfSchema(schema) ?? {};
    const next = Object.hasOwn(fields, part) ? fields[part] : undefined;
    if (!next) throw unknownKey(key, path.slice(0, depth), part, Object.keys(fields));
    schema = next;
  }
  const below = fieldsOfSchema(schema);
  if (!below) return schema;
  const fields = Object.keys(below).map((field) => `${key}.${field}`);
  throw failure("usage", `--set ${key} names an object`, `Set its fields: ${fields.join(", ")}.`);
}

function unknownKey(
  key: string,
  parent: readonly string[],
  part: string,
  known: readonly string[],
): RelcatError {
  const near = [...known].sort((a, b) => distance(a, part) - distance(b, part))[0];
  const whole = (name: string) => [...parent, name].join(".");
  const close = near !== undefined && distance(near, part) <= Math.max(2, part.length / 3);
  const hint = close
    ? `Did you mean ${whole(near)}?`
    : known.length > 0
      ? `Known: ${known.map(whole).join(", ")}.`
      : `${parent.join(".")} has no fields.`;
  return failure("usage", `--set ${key}: there is no field ${whole(part)} in a manifest`, hint);
}

/** Tries in order, as the schema allows: null, true and false, text, numbers. */
function typed(schema: z.ZodType, value: string, key: string): unknown {
  const word = value === "null" || value === "true" || value === "false" ? [JSON.parse(value)] : [];
  const number = /^-?\d+(\.\d+)?$/.test(value) ? [Number(value)] : [];
  const candidates = [...word, value, ...number];
  for (const candidate of candidates) if (schema.safeParse(candidate).success) return candidate;
  const issue = schema.safeParse(candidates.at(-1)).error?.issues[0];
  const expected = issue?.message.replace(/^[a-z-]+\|/, "").replace(/, in quotes/, "") ?? "another value";
  const inFile = elementOfSchema(schema) ? "Write it into FILE.relcat.yaml, next to the file." : undefined;
  const hint = isShortened(value) ? giveWhole : inFile;
  throw failure("usage", `--set ${key} is ${display(value)}, expected ${expected}`, hint);
}

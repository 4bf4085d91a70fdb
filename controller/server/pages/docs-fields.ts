import { z } from "zod";
import { usualMeanings } from "./docs-words.ts";

export interface Field {
  /** Path such as `devices[].id`. */
  name: string;
  type: string;
  /** Another document that this field is or contains. */
  link: string;
  isRequired: boolean;
  meaning: string;
}

interface JsonSchema {
  $defs?: Record<string, JsonSchema>;
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: JsonSchema[];
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  additionalProperties?: JsonSchema | boolean;
  required?: string[];
  description?: string;
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
}

const schemaOf = (schema: z.ZodType): JsonSchema =>
  z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as JsonSchema;

export const nameOfDocument = (schema: z.ZodType): string | undefined => z.globalRegistry.get(schema)?.id;

export const meaningOfDocument = (schema: z.ZodType): string =>
  z.globalRegistry.get(schema)?.description ?? "";

/** All fields of a document, including nested ones; named documents are linked instead of repeated. */
export function fieldsOf(schema: z.ZodType): Field[] {
  const whole = schemaOf(schema);
  const definitions = whole.$defs ?? {};
  return fieldsBelow(resolved(whole, definitions), "", definitions);
}

type Definitions = Record<string, JsonSchema>;

function fieldsBelow(schema: JsonSchema, prefix: string, definitions: Definitions): Field[] {
  const { properties = {}, required = [], additionalProperties } = schema;
  const fields = Object.entries(properties).flatMap(([name, property]) =>
    fieldsAt(property, prefix + name, required.includes(name), definitions),
  );
  if (Object.keys(properties).length > 0 || typeof additionalProperties !== "object") return fields;
  return fieldsAt(additionalProperties, `${prefix}{id}`, true, definitions);
}

function fieldsAt(given: JsonSchema, name: string, isRequired: boolean, definitions: Definitions): Field[] {
  const schema = resolved(given, definitions);
  const inner = insideOf(schema, definitions);
  const field = {
    name,
    type: typeOf(schema, definitions),
    link: linkOf(given) || linkOf(schema.items ?? {}) || linkOf(mapped(schema)),
    isRequired,
    meaning: given.description ?? schema.description ?? usualMeanings[name.replace(/^.*\./, "")] ?? "",
  };
  if (field.link !== "" || !inner) return [field];
  return [field, ...fieldsBelow(inner.schema, `${name}${inner.step}`, definitions)];
}

const mapped = ({ additionalProperties }: JsonSchema): JsonSchema =>
  typeof additionalProperties === "object" ? additionalProperties : {};

const linkOf = ({ $ref = "" }: JsonSchema): string => $ref.replace("#/$defs/", "");

function resolved(schema: JsonSchema, definitions: Definitions): JsonSchema {
  const { $ref, ...rest } = schema;
  if ($ref === undefined) return schema;
  return { ...resolved(definitions[$ref.replace("#/$defs/", "")] ?? {}, definitions), ...rest };
}

function insideOf(
  schema: JsonSchema,
  definitions: Definitions,
): { schema: JsonSchema; step: string } | undefined {
  if (schema.properties || typeof schema.additionalProperties === "object") return { schema, step: "." };
  const items = schema.items && resolved(schema.items, definitions);
  const variants = items?.anyOf?.map((each) => resolved(each, definitions)) ?? [];
  const shape = items?.properties ? items : joined(variants);
  return shape ? { schema: shape, step: "[]." } : undefined;
}

/** Merges variants; a field is required if every variant requires it. */
function joined(variants: readonly JsonSchema[]): JsonSchema | undefined {
  if (!variants.some(({ properties }) => properties)) return undefined;
  const [{ required = [] } = {}, ...others] = variants;
  return {
    properties: Object.assign({}, ...variants.map(({ properties }) => properties)),
    required: required.filter((name) => others.every((other) => other.required?.includes(name))),
  };
}

function typeOf(given: JsonSchema, definitions: Definitions): string {
  const schema = resolved(given, definitions);
  if (schema.anyOf) {
    const variants = new Set(schema.anyOf.map((each) => typeOf(each, definitions)));
    return [...variants].join(" or ");
  }
  if (schema.enum) return schema.enum.map(String).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.type === "array")
    return `array of ${typeOf(schema.items ?? {}, definitions)}${rangeOf(schema.minItems, schema.maxItems)}`;
  if (schema.type === "integer" || schema.type === "number")
    return schema.type + rangeOf(schema.minimum, bounded(schema.maximum));
  const format = schema.format === "date-time" ? "date and time" : schema.format;
  if (format !== undefined) return format;
  return (
    [schema.type ?? "anything"].flat().join(" or ") +
    rangeOf(schema.minLength, schema.maxLength, " characters")
  );
}

const bounded = (most = Number.MAX_SAFE_INTEGER) => (most >= Number.MAX_SAFE_INTEGER ? undefined : most);

function rangeOf(least: number | undefined, most: number | undefined, unit = ""): string {
  const low = least === undefined || least <= Number.MIN_SAFE_INTEGER ? undefined : least;
  if (most === undefined) return low === undefined || unit !== "" ? "" : `, ${low} or more`;
  return low === undefined ? `, up to ${most}${unit}` : `, ${low} to ${most}${unit}`;
}

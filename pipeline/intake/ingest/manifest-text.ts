import { createHash } from "node:crypto";
import { z } from "zod";
import { isObject } from "../../documents/is-object.ts";
import { type Manifest, manifestSchema } from "../../documents/manifest.ts";

/** Deterministic: the same artifacts always give the same bytes. */
export const manifestText = (manifest: Manifest): string =>
  `${JSON.stringify(inSchemaOrder(manifest, manifestSchema), null, 2)}\n`;

/** A rebuild of the same artifacts replaces the file; other jobs or artifacts get another name. */
export function manifestFileName(job: string, { release, artifacts }: Manifest): string {
  const identities = artifacts.map(({ file, name }) => `${release}/${file ?? name}\n`).sort();
  return `${job}-${createHash("sha256").update(identities.join("")).digest("hex").slice(0, 8)}.json`;
}

type Schema = z.core.$ZodType;

const inner = (schema: Schema): Schema =>
  schema instanceof z.ZodOptional || schema instanceof z.ZodNullable ? inner(schema.unwrap()) : schema;

/** Fields of an object schema in order; undefined for other schemas. */
export function fieldsOfSchema(schema: Schema): Readonly<Record<string, z.ZodType>> | undefined {
  const object = inner(schema);
  return object instanceof z.ZodObject ? object.shape : undefined;
}

export function elementOfSchema(schema: Schema): Schema | undefined {
  const list = inner(schema);
  return list instanceof z.ZodArray ? list.element : undefined;
}

/** Orders keys as their schema, at every depth; those that it leaves open come last. */
function inSchemaOrder<T>(value: T, any: Schema): T {
  const schema = branchOf(value, any);
  const fields = fieldsOfSchema(schema);
  const element = elementOfSchema(schema);
  if (Array.isArray(value)) return value.map((item) => (element ? inSchemaOrder(item, element) : item)) as T;
  if (!fields || value === null || typeof value !== "object") return value;
  const entries = Object.entries(fields).flatMap(([key, field]) => {
    const part: unknown = Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
    return part === undefined ? [] : [[key, inSchemaOrder(part, field)]];
  });
  const others = isOpen(schema) ? Object.entries(value).filter(([key]) => !Object.hasOwn(fields, key)) : [];
  return Object.fromEntries([...entries, ...others]) as T;
}

function isOpen(schema: Schema): boolean {
  const object = inner(schema);
  return object instanceof z.ZodObject && object.def.catchall instanceof z.ZodUnknown;
}

/** The branch of a union that the value's discriminator selects. */
function branchOf(value: unknown, schema: Schema): Schema {
  const union = inner(schema);
  if (!(union instanceof z.ZodDiscriminatedUnion) || !isObject(value)) return schema;
  const { options, def } = union;
  const selects = (branch: Schema) =>
    fieldsOfSchema(branch)?.[def.discriminator]?.safeParse(value[def.discriminator]).success;
  return options.find(selects) ?? schema;
}

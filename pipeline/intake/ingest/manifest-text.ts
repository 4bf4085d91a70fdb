import { createHash } from "node:crypto";
import type { z } from "zod";
import { isObject } from "../../documents/is-object.ts";
import { type Manifest, manifestSchema } from "../../documents/manifest.ts";

/** Deterministic: the same artifacts always give the same bytes. */
export const manifestText = (manifest: Manifest): string =>
  `${JSON.stringify(inSchemaOrder(manifest, manifestSchema), null, 2)}\n`;

/**
 * File name of a job's manifest: rebuilding the same artifacts replaces it; other jobs or artifacts get
 * another name.
 */
export function manifestFileName(job: string, { release, artifacts }: Manifest): string {
  const identities = artifacts.map(({ file, name }) => `${release}/${file ?? name}\n`).sort();
  return `${job}-${createHash("sha256").update(identities.join("")).digest("hex").slice(0, 8)}.json`;
}

interface Node {
  _zod: {
    def: {
      type: string;
      shape?: Record<string, Node>;
      catchall?: Node;
      element?: Node;
      innerType?: Node;
      options?: Node[];
      discriminator?: string;
    };
  };
}

/** Unwraps optional and nullable schemas. */
function inner(node: Node): Node {
  const { innerType } = node._zod.def;
  return innerType ? inner(innerType) : node;
}

/** Fields of an object schema in order; undefined for other schemas. */
export function fieldsOfSchema(schema: z.ZodType): Record<string, z.ZodType> | undefined {
  return inner(schema as unknown as Node)._zod.def.shape as unknown as Record<string, z.ZodType> | undefined;
}

export function elementOfSchema(schema: z.ZodType): z.ZodType | undefined {
  return inner(schema as unknown as Node)._zod.def.element as unknown as z.ZodType | undefined;
}

/**
 * Orders the keys of objects as in their schema, at every depth; absent keys stay absent. Keys that the
 * schema leaves open come last.
 */
function inSchemaOrder<T>(value: T, any: z.ZodType): T {
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

const isOpen = (schema: z.ZodType): boolean =>
  inner(schema as unknown as Node)._zod.def.catchall?._zod.def.type === "unknown";

/** The branch of a union that the value's discriminator selects. */
function branchOf(value: unknown, schema: z.ZodType): z.ZodType {
  const { options, discriminator } = inner(schema as unknown as Node)._zod.def;
  if (!options || discriminator === undefined || !isObject(value)) return schema;
  const branches = options as unknown as z.ZodType[];
  const selects = (branch: z.ZodType) =>
    fieldsOfSchema(branch)?.[discriminator]?.safeParse(value[discriminator]).success;
  return branches.find(selects) ?? schema;
}

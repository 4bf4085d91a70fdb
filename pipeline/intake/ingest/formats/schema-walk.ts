import type { z } from "zod";

interface Node {
  _zod: {
    def: { type: string; shape?: Record<string, Node>; element?: Node; innerType?: Node; options?: Node[] };
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

/** Orders the keys of objects as in their schema, at every depth; absent keys stay absent. */
export function inSchemaOrder<T>(value: T, schema: z.ZodType): T {
  const fields = fieldsOfSchema(schema);
  const element = elementOfSchema(schema);
  if (Array.isArray(value)) return value.map((item) => (element ? inSchemaOrder(item, element) : item)) as T;
  if (!fields || value === null || typeof value !== "object") return value;
  const entries = Object.entries(fields).flatMap(([key, field]) => {
    const part: unknown = Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
    return part === undefined ? [] : [[key, inSchemaOrder(part, field)]];
  });
  return Object.fromEntries(entries) as T;
}

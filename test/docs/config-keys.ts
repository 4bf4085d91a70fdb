import type { z } from "zod";

/** A key of catalog.yaml, as its reference lists it. */
export interface ConfigKey {
  /** Its path: `NAME` is a name that you choose, `[]` an entry of a list. */
  path: string;
  type: string;
  description: string;
  isRequired: boolean;
}

type Schema = z.core.$ZodType;
type Def = z.core.$ZodTypeDef & {
  innerType?: Schema;
  element?: Schema;
  valueType?: Schema;
  options?: readonly Schema[];
  shape?: Record<string, Schema>;
};

const defOf = (schema: Schema) => schema._zod.def as Def;

const isOptional = (schema: Schema) => schema._zod.optin === "optional";

function unwrapped(schema: Schema): Schema {
  const { innerType } = defOf(schema);
  return innerType ? unwrapped(innerType) : schema;
}

/** The expectation in the error message for a wrong value. */
function expectation(schema: Schema): string {
  const { error } = (schema as z.ZodType).safeParse(Symbol("of no type"));
  return error?.issues[0]?.message.split("|")[1] ?? "";
}

const shorter: Readonly<Record<string, string>> = {
  "one line of text, not empty and without control characters": "text",
  "1 to 32 lowercase letters, digits and dashes, but not index, as pages are called": "a package type",
};

function typeOf(schema: Schema): string {
  const inner = unwrapped(schema);
  const { type, element } = defOf(inner);
  if (type === "array" && element) return `list: ${typeOf(element)}`;
  const expected = expectation(inner);
  return shorter[expected] ?? expected;
}

function descriptionOf(schema: Schema): string {
  const { innerType } = defOf(schema);
  return (schema as z.ZodType).description ?? (innerType ? descriptionOf(innerType) : "");
}

/** The key at `path`, then the keys inside its value. Alternatives of a union add each key once. */
export function keysOf(path: string, schema: Schema, isRequired: boolean): ConfigKey[] {
  const own = { path, type: typeOf(schema), description: descriptionOf(schema), isRequired };
  return [own, ...insideOf(path, unwrapped(schema))];
}

function insideOf(path: string, schema: Schema): ConfigKey[] {
  const { type, shape, element, valueType, options } = defOf(schema);
  if (type === "object" && shape)
    return Object.entries(shape).flatMap(([key, value]) =>
      keysOf(`${path}.${key}`, value, !isOptional(value)),
    );
  if (type === "array" && element) return insideOf(`${path}[]`, unwrapped(element));
  if (type === "record" && valueType) return insideOf(`${path}.NAME`, unwrapped(valueType));
  if (type !== "union" || !options) return [];
  const alternatives = options.map((option) => insideOf(path, unwrapped(option)));
  const isOnlyOne = alternatives.filter((keys) => keys.length > 0).length === 1;
  const all = alternatives.flat().map((key) => ({ ...key, isRequired: key.isRequired && isOnlyOne }));
  // A value or a list of such values has each key once.
  const name = (key: ConfigKey) => key.path.replace("[]", "");
  return all.filter((key, index) => all.findIndex((other) => name(other) === name(key)) === index);
}

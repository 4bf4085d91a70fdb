/** The part of JSON Schema that the outputs use. */
export interface JsonSchema {
  type?: string;
  description?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  additionalProperties?: JsonSchema | false;
  enum?: unknown[];
  const?: unknown;
  $ref?: string;
}

type Definitions = Record<string, JsonSchema>;

/** A table of the members: name, type and meaning; those of inner objects follow with their path. */
export function memberRows(schema: JsonSchema, definitions: Definitions): string[] {
  const parts = alternatives(schema);
  const rows = parts.flatMap((part) => rowsOf(part, "", definitions));
  if (rows.length > 0) return ["| member | type | meaning |", "| --- | --- | --- |", ...new Set(rows)];
  return [`One of ${parts.map(typeOf).join(", ")}.`];
}

/** The plan and records have a schema and a description of their own. */
const elsewhere = /: relcat schema |as in manifests/;

function rowsOf(schema: JsonSchema, path: string, definitions: Definitions): string[] {
  const { properties = {}, required = [], description = "" } = schema;
  return Object.entries(properties).flatMap(([name, member]) => {
    const full = path === "" ? name : `${path}.${name}`;
    const mark = required.includes(name) ? "" : "?";
    const row = `| \`${full}${mark}\` | ${typeOf(member)} | ${escaped(meaningOf(member, definitions))} |`;
    const { inner, list } = contentOf(member);
    if (elsewhere.test(description) || elsewhere.test(member.description ?? "")) return [row];
    return [row, ...inner.flatMap((each) => rowsOf(each, list ? `${full}[]` : full, definitions))];
  });
}

/** A member that may be null has its description in the other alternative. */
const meaningOf = ({ description, $ref, anyOf = [] }: JsonSchema, definitions: Definitions): string =>
  description ??
  ($ref ? definitions[nameOf($ref)]?.description : undefined) ??
  anyOf.map((each) => meaningOf(each, definitions)).find(Boolean) ??
  "";

const alternatives = (schema: JsonSchema): JsonSchema[] => schema.anyOf ?? schema.oneOf ?? [schema];

/** Objects inside a member, or inside the elements of a list. */
function contentOf(member: JsonSchema): { inner: JsonSchema[]; list: boolean } {
  const inner = alternatives(member).flatMap((each) => (each.items ? alternatives(each.items) : [each]));
  return { inner, list: alternatives(member).some(({ items }) => items !== undefined) };
}

const nameOf = (ref: string) => ref.replace("#/$defs/", "");

const words: Record<string, string> = {
  string: "text",
  integer: "whole number",
  number: "number",
  boolean: "true or false",
  null: "null",
};

function typeOf(schema: JsonSchema): string {
  const { type = "", items, $ref, additionalProperties, properties } = schema;
  if ($ref !== undefined) return `[${nameOf($ref)}](#${nameOf($ref).toLowerCase()})`;
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum) return schema.enum.map((value) => `\`${value}\``).join(", ");
  if (schema.anyOf || schema.oneOf) return [...new Set(alternatives(schema).map(typeOf))].join(" or ");
  if (type === "array") return `list of ${items ? plural(items) : "values"}`;
  if (type === "object")
    return !properties && additionalProperties ? `table of ${plural(additionalProperties)}` : "object";
  return words[type] ?? "any";
}

const plurals: Record<string, string> = { text: "texts", object: "objects", any: "values" };

function plural(schema: JsonSchema): string {
  const type = typeOf(schema);
  return plurals[type] ?? (type === "whole number" ? "whole numbers" : type);
}

const escaped = (text: string) => text.replaceAll("|", "\\|").replaceAll("\n", " ");

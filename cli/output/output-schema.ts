import { z } from "zod";
import { plainJson, withPortablePatterns } from "../../shared/portable-patterns.ts";
import { type OutputName, outputs } from "./outputs.ts";

interface OutputSchema {
  $schema: string;
  $id: string;
  title: string;
  description: string;
  $defs: Record<string, Record<string, unknown>>;
}

const title = "Output of relcat --json";
const description =
  "Each definition in $defs is one output; docs/json-output.md says which commands print it. Later versions may add members, so unknown ones are allowed.";

/** The schema of schemas/output.schema.json. */
export const outputSchema = (): OutputSchema => published(opened(definitions()));

/** The same schema, but without room for unknown members: tests find members that no schema has. */
export const strictOutputSchema = (): OutputSchema => published(closed(definitions()));

export const outputSchemaText = (): string => plainJson(outputSchema());

type Definitions = OutputSchema["$defs"];

function definitions(): Definitions {
  const names = Object.keys(outputs) as OutputName[];
  const named = Object.fromEntries(names.map((name) => [name, outputs[name].meta({ id: name })]));
  const { $defs = {}, properties = {} } = z.toJSONSchema(z.strictObject(named));
  const used = Object.fromEntries(Object.entries($defs).map(([name, { id: _, ...rest }]) => [name, rest]));
  const missing = names.filter((name) => used[name] === undefined);
  return { ...used, ...Object.fromEntries(missing.map((name) => [name, properties[name]])) } as Definitions;
}

const published = ($defs: Definitions): OutputSchema => ({
  $schema: "https://json-schema.org/draft/2020-12/schema",
  $id: "urn:relcat:schema:output:1",
  title,
  description,
  $defs: withPortablePatterns($defs),
});

/** Within schema_version 1, an object may gain members. */
const opened = <T>(schema: T): T =>
  mapped(schema, ({ additionalProperties, ...rest }) =>
    additionalProperties === false ? rest : { ...rest, additionalProperties },
  );

/** The document of the site is open already; everything else that allows any member means it. */
const closed = ({ "notes-show": notes = {}, ...others }: Definitions): Definitions => ({
  ...others,
  "notes-show": mapped(notes, (written) => ({ ...written, additionalProperties: false })),
});

function mapped<T>(schema: T, change: (written: Record<string, unknown>) => Record<string, unknown>): T {
  if (Array.isArray(schema)) return schema.map((each) => mapped(each, change)) as T;
  if (typeof schema !== "object" || schema === null) return schema;
  const inner = Object.entries(schema).map(([name, value]) => [name, mapped(value, change)]);
  const written = Object.fromEntries(inner);
  return ("additionalProperties" in written ? change(written) : written) as T;
}

import { answer, documentText, type Host, sayNext } from "../terminal/host.ts";
import { UsageError } from "../terminal/usage.ts";
import { readSchema, schemaNames } from "./published-schemas.ts";

/** `relcat schema`: prints a file from relcat's own folder, so that no schema library is loaded. */
export async function schema(name: string | undefined, options: { list?: true }, host: Host): Promise<void> {
  const { documents, outputs } = schemaNames(host.own);
  if (options.list) {
    const schemas = [...documents, ...outputs].sort();
    answer<"schema-list">(host, { schemas }, () => schemas.join("\n"));
    sayNext(host, "relcat schema NAME");
    return;
  }
  const all = `${documents.join(", ")}; relcat schema --list also shows one for each output`;
  if (name === undefined) throw new UsageError("no schema was named", `Name one of ${all}.`);
  if (![...documents, ...outputs].includes(name)) {
    throw new UsageError(`there is no schema ${JSON.stringify(name)}`, `There are ${all}.`);
  }
  const text = documents.includes(name)
    ? readSchema(name, host.own)
    : `${documentText(outputAlone(name, host))}\n`;
  if (host.json) answer<"schema">(host, { name, schema: JSON.parse(text) }, () => "");
  else host.data.write(text);
}

/** The schema of one output, with the definitions that it refers to. */
function outputAlone(schemaName: string, { own }: Host): object {
  const { $schema, $id, $defs } = JSON.parse(readSchema("output", own));
  const name = schemaName.replace("output-", "");
  const needed = new Set<string>();
  const add = (value: unknown): void => {
    for (const [, other = ""] of JSON.stringify(value).matchAll(/"#\/\$defs\/([^"]+)"/g)) {
      if (needed.has(other)) continue;
      needed.add(other);
      add($defs[other]);
    }
  };
  add($defs[name]);
  const shared = Object.fromEntries([...needed].sort().map((other) => [other, $defs[other]]));
  return {
    $schema,
    $id: $id.replace("output", schemaName),
    ...$defs[name],
    ...(needed.size > 0 && { $defs: shared }),
  };
}

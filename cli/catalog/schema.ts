import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { answer, type Host, sayNext } from "../terminal/host.ts";
import { UsageError } from "../terminal/usage.ts";

const ending = ".schema.json";

/** `relcat schema`: prints a file from relcat's own folder, so that no schema library is loaded. */
export async function schema(
  name: string | undefined,
  options: { list?: true },
  host: Host,
): Promise<number> {
  const folder = join(host.own.folder, "schemas");
  const names = readdirSync(folder)
    .filter((file) => file.endsWith(ending))
    .map((file) => file.slice(0, -ending.length))
    .sort();
  if (options.list) {
    answer(host, { schemas: names }, () => names.join("\n"));
    sayNext(host, "relcat schema NAME");
    return 0;
  }
  if (name === undefined) throw new UsageError("no schema was named", `Name one of ${names.join(", ")}.`);
  if (!names.includes(name)) {
    throw new UsageError(`there is no schema ${JSON.stringify(name)}`, `There are ${names.join(", ")}.`);
  }
  const text = readFileSync(join(folder, name + ending), "utf8");
  if (host.json) answer(host, { name, schema: JSON.parse(text) }, () => "");
  else host.data.write(text);
  return 0;
}

import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { documentSchemas, jsonSchemaText, type SchemaName } from "../../pipeline/documents/schemas.ts";

/** `npm run schemas`: writes schemas/ from pipeline/documents/ and removes what is no longer a document. */
const folder = resolve(import.meta.dirname, "../../schemas");
const names = Object.keys(documentSchemas) as SchemaName[];

for (const file of readdirSync(folder)) {
  if (!names.some((name) => file === `${name}.schema.json`)) rmSync(join(folder, file));
}
for (const name of names) writeFileSync(join(folder, `${name}.schema.json`), jsonSchemaText(name));

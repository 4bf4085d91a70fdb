import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { outputSchemaText } from "../../cli/output/output-schema.ts";
import { controllerOpenApiText } from "../../controller/server/documentation.ts";
import { documentSchemas, jsonSchemaText, type SchemaName } from "../../pipeline/documents/schemas.ts";
import { catalogOpenApiText } from "../../service/catalog/openapi.ts";

/**
 * `npm run schemas`: writes schemas/ from pipeline/documents/, cli/output/ the routes of service/ and controller/, and
 * removes other files.
 */
const folder = resolve(import.meta.dirname, "../../schemas");
const names = Object.keys(documentSchemas) as SchemaName[];
const texts = new Map([
  ...names.map((name) => [`${name}.schema.json`, jsonSchemaText(name)] as const),
  ["output.schema.json", outputSchemaText()],
  ["catalog.openapi.json", catalogOpenApiText()],
  ["controller.openapi.json", controllerOpenApiText()],
]);

for (const file of readdirSync(folder)) if (!texts.has(file)) rmSync(join(folder, file));
for (const [file, text] of texts) writeFileSync(join(folder, file), text);

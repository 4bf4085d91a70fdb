import { readFileSync } from "node:fs";
import { join } from "node:path";
import { exists, listFiles } from "../../system/files.ts";

/** The folder relcat is installed in: the nearest one with a package.json, from source and compiled alike. */
export function packageFolder(): string {
  let folder = import.meta.dirname;
  while (!exists(join(folder, "package.json"))) folder = join(folder, "..");
  return folder;
}

/** Templates and schemas, by file name. */
export const readSources = async () => ({ templates: await readTemplates(), schemas: await readSchemas() });

/** Page templates and assets by file name. */
export const readTemplates = () => readFolder("templates");

/** The JSON Schemas by file name. */
export const readSchemas = () => readFolder("schemas");

async function readFolder(name: string): Promise<Map<string, string>> {
  const folder = join(packageFolder(), name);
  const files = await listFiles(folder);
  return new Map(files.map((file) => [file, readFileSync(join(folder, file), "utf8")]));
}

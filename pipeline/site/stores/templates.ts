import { readFileSync } from "node:fs";
import { join } from "node:path";
import { exists } from "../../system/files.ts";
import { listFiles } from "../../system/folders.ts";

/** Installation folder: the nearest parent with a package.json, for source and compiled code alike. */
export function packageFolder(): string {
  let folder = import.meta.dirname;
  while (!exists(join(folder, "package.json"))) folder = join(folder, "..");
  return folder;
}

export const readSources = async () => ({ templates: await readTemplates(), schemas: await readSchemas() });

export const readTemplates = () => readFolder("templates");

export const readSchemas = () => readFolder("schemas");

async function readFolder(name: string): Promise<Map<string, string>> {
  const folder = join(packageFolder(), name);
  const files = await listFiles(folder);
  return new Map(files.map((file) => [file, readFileSync(join(folder, file), "utf8")]));
}

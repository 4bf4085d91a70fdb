import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageFolder } from "../../../shared/package-folder.ts";
import { listFiles } from "../../system/folders.ts";

export const readSources = async () => ({
  templates: await readTemplates(),
  schemas: await readFolder("schemas"),
});

export const readTemplates = () => readFolder("templates");

async function readFolder(name: string): Promise<Map<string, string>> {
  const folder = join(packageFolder(), name);
  const files = await listFiles(folder);
  return new Map(files.map((file) => [file, readFileSync(join(folder, file), "utf8")]));
}

import { existsSync } from "node:fs";
import { join } from "node:path";

/** Installation folder: the nearest parent with a package.json, for source and compiled code alike. */
export function packageFolder(): string {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, "package.json"))) folder = join(folder, "..");
  return folder;
}

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { packageFolder } from "../../shared/package-folder.ts";

/** Templates and assets by file name: the controller's own, and those shared with the catalog's pages. */
export function readPageFiles(): Map<string, string> {
  const templates = join(packageFolder(), "templates");
  const own = readdirSync(join(templates, "controller")).map((name) => join("controller", name));
  const shared = ["reference.hbs", "style.css", "script.js", "favicon.svg"];
  return new Map([...shared, ...own].map((name) => [name, readFileSync(join(templates, name), "utf8")]));
}

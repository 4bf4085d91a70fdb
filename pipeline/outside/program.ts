import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { packageFolder } from "./templates.ts";

/**
 * What tells this program from any other that would make other bytes: version, the names of its chunks, which are
 * digests of what they hold, and the Node it runs on. Undefined from source, which changes under one version.
 * @param node its version
 */
export function programIdentity(node: string): string | undefined {
  if (import.meta.filename.endsWith(".ts")) return undefined;
  const { version } = JSON.parse(readFileSync(join(packageFolder(), "package.json"), "utf8"));
  const chunks = readdirSync(import.meta.dirname).filter((name) => name.endsWith(".js"));
  return [version, node, ...chunks.sort()].join(" ");
}

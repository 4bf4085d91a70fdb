import { readdirSync } from "node:fs";

/**
 * What tells this program from any other that would make other bytes: version, the names of its chunks, which are
 * digests of what they hold, and the Node it runs on. Undefined from source, which changes under one version.
 * @param version relcat's
 * @param node its version
 */
export function programIdentity(version: string, node: string): string | undefined {
  if (import.meta.filename.endsWith(".ts")) return undefined;
  const chunks = readdirSync(import.meta.dirname).filter((name) => name.endsWith(".js"));
  return [version, node, ...chunks.sort()].join(" ");
}

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Identifies the program by its version, its files and its Node, because another program may generate other
 * bytes. Names of bundled chunks are digests of their content, so these chunks are not read.
 * @param version relcat's version
 * @param node Node's version
 */
export function programIdentity(version: string, node: string): string {
  return [version, node, import.meta.filename.endsWith(".ts") ? sourceDigest() : chunkNames()].join(" ");
}

const chunkNames = () =>
  readdirSync(import.meta.dirname)
    .filter((name) => name.endsWith(".js"))
    .sort()
    .join(" ");

let digest: string | undefined;

/** Digest of the files that affect what a build generates; computed only once. */
function sourceDigest(): string {
  digest ??= digestBelow(join(import.meta.dirname, ".."));
  return digest;
}

function digestBelow(folder: string): string {
  const hash = createHash("sha256");
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  // biome-ignore lint/plugin: names in the program's own folder.
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  for (const path of paths.sort()) hash.update(`${path}\0`).update(readFileSync(path));
  return hash.digest("hex");
}

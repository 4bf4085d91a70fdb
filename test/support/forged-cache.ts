import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

/** The entries of a build cache. */
export const cacheEntries = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .sort();

/**
 * Changes an entry as an attacker with write access would, together with its digest.
 * @returns whether anything changed
 */
export function forgeEntry(path: string, change: (payload: string) => string): boolean {
  const payload = readFileSync(path).subarray(32).toString("latin1");
  const forged = Buffer.from(change(payload), "latin1");
  const digest = createHash("sha256")
    .update(`${basename(path)}\0`)
    .update(forged)
    .digest();
  writeFileSync(path, Buffer.concat([digest, forged]));
  return !forged.equals(Buffer.from(payload, "latin1"));
}

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { relativePath } from "../../documents/relative-path.ts";
import type { KeptPublish, SiteStore } from "../../documents/site-store.ts";
import { rootFolder } from "../../system/root-folder.ts";
import type { MetadataSource } from "../../trust/live-metadata.ts";
import { sha256 } from "../../trust/metadata.ts";
import { timestampPath } from "../../trust/site-files.ts";

/** Bytes of a stored file, not verified; undefined if missing. */
export async function readKeptFile(kept: KeptPublish, path: string): Promise<Uint8Array | undefined> {
  for await (const { bytes } of kept.read([{ path }])) return bytes;
  return undefined;
}

/** Writes the files that have the expected bytes. @returns paths of the others, ascending */
export async function placeKeptFiles(
  kept: KeptPublish,
  files: Readonly<Record<string, { sha256: string; size: number }>>,
  folder: string,
): Promise<string[]> {
  const at = rootFolder(folder);
  const missing = new Set(Object.keys(files));
  const wanted = Object.entries(files).map(([path, { size }]) => ({ path, size }));
  for await (const { path, bytes } of kept.read(wanted)) {
    if (files[path]?.sha256 !== sha256(bytes)) continue;
    const file = at(relativePath(path));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, bytes);
    missing.delete(path);
  }
  return [...missing].sort();
}

/** Stored metadata of a site, including leftovers, not verified. */
export const metadataOf = (store: SiteStore): MetadataSource => ({
  read: (path) => store.read(path),
  names: () => store.metadataNames(),
  clockOffset: () => store.clockOffset(),
  async earlierTimestamps() {
    const history = (await store.readState())?.state.history ?? [];
    const found: Uint8Array[] = [];
    for (const { files } of history) {
      const kept = await store.openKept(files);
      const bytes = kept && (await readKeptFile(kept, timestampPath));
      if (bytes) found.push(bytes);
    }
    return found;
  },
});

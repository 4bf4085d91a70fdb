import type { SiteStore } from "../documents/site-store.ts";
import type { MetadataSource } from "../trust/live-metadata.ts";
import { timestampPath } from "../trust/site-files.ts";
import { readKeptFile } from "./stores/kept-build.ts";

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

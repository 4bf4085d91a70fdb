import { createHash } from "node:crypto";
import type { Config } from "../documents/config.ts";
import { assignIds, type IdentifiedRelease } from "../ledger/assign-ids.ts";
import type { Catalog } from "../ledger/catalog.ts";
import type { Cut } from "../ledger/cut.ts";
import { type Ledger, readLedger } from "../ledger/ledger.ts";
import { emitSite, type Sources } from "../site/emit.ts";
import type { DocumentHashes } from "./baseline.ts";

/** Releases with ledger lines, and the resulting ids and dates. */
export interface CutReleases {
  releases: IdentifiedRelease[];
  ledger: Ledger;
  config: Config;
}

/** The catalog as `build --released` would see it after the cut. */
export function afterCut({ releases, ledger, config }: Catalog, cut: Cut): CutReleases {
  const after = readLedger({ file: ledger.file, text: cut.after }).ledger;
  const released = releases.filter(({ version }) => after.versions.has(version));
  return { releases: assignIds(released, after, () => false).releases, ledger: after, config };
}

export function hashDocuments({ releases, ledger, config }: CutReleases, sources: Sources): DocumentHashes {
  const hashes = new Map<string, string>();
  for (const { path, chunks } of emitSite(releases, ledger, config, sources)) {
    const hash = createHash("sha256");
    for (const chunk of chunks) hash.update(chunk);
    hashes.set(path, hash.digest("hex"));
  }
  return hashes;
}

import { createHash } from "node:crypto";
import type { Ledger } from "../ledger/ledger.ts";

/** Everything that a release's files and slices are generated from. */
interface ReleaseBasis {
  /** Digest of program, configuration, templates, schemas and selection. */
  basis: string;
  version: string;
  /** SHA-256 of each file of the release. */
  files: readonly (readonly [path: string, sha256: string | undefined])[];
  ledger: Ledger;
  /** First id for artifacts without a ledger line; null: all have one. */
  newIds: number | null;
  /** True if the release is in the feeds. */
  inFeeds: boolean;
}

export function releaseKey({ basis, version, files, ledger, newIds, inFeeds }: ReleaseBasis): string {
  const entries = ledger.ofVersion(version);
  // The page of a withdrawn record names its replacement, which may be in another release.
  const replacements = entries.map(({ retraction }) => {
    const id = retraction?.replaced_by ?? undefined;
    const add = id === undefined ? undefined : ledger.byId.get(id)?.add;
    return add && [add.id, add.version, add.name];
  });
  // The page of a release has the history of each record, of which an entry has only the end.
  const changes = entries.map(({ add }) => ledger.changesOf(add.id));
  const parts = [basis, version, files, entries, replacements, changes, newIds, inFeeds];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

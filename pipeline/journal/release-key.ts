import { createHash } from "node:crypto";
import type { Ledger } from "../ledger/ledger.ts";

/** Everything that a release's files and slices are made from. */
interface ReleaseBasis {
  /** Digest of program, configuration, templates, schemas and selection. */
  basis: string;
  version: string;
  /** SHA-256 of each of its files. */
  files: readonly (readonly [path: string, sha256: string | undefined])[];
  ledger: Ledger;
  /** The first id for artifacts without a ledger line; null where all have one. */
  newIds: number | null;
  /** Whether feeds have it. */
  isNewest: boolean;
}

export function releaseKey({ basis, version, files, ledger, newIds, isNewest }: ReleaseBasis): string {
  const entries = ledger.ofVersion(version);
  // Pages of a withdrawn record name the one that replaces it.
  const replacements = entries.map(({ retraction }) => {
    const id = retraction?.replaced_by ?? undefined;
    const add = id === undefined ? undefined : ledger.byId.get(id)?.add;
    return add && [add.id, add.version, add.name];
  });
  const parts = [basis, version, files, entries, replacements, newIds, isNewest];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

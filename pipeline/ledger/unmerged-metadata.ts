import type { Problem } from "../../shared/errors.ts";
import type { LedgerBase } from "./ledger-base.ts";
import { loadCatalog } from "./load-catalog.ts";
import { changedMetadata, settledMetadata } from "./settled-metadata.ts";

/**
 * Finds metadata of cut artifacts that is not the settled one. A branch proves such a change in `check --artifacts`;
 * other commands accept it after the merge.
 * @param folder of the releases
 */
export async function unmergedMetadata(folder: string, base: LedgerBase): Promise<Problem[]> {
  const settled = await settledMetadata(folder, base);
  if (settled.length === 0) return [];
  const { releases } = await loadCatalog(folder);
  return changedMetadata(releases, settled).map(({ problem }) => ({ ...problem, hint: mergeFirst }));
}

const mergeFirst =
  "Prove it on a branch with relcat check --artifacts FOLDER and merge that first; or restore what was there.";

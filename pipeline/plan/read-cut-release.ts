import type { Config } from "../documents/config.ts";
import type { IdentifiedRelease } from "../ledger/assign-ids.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { openCatalog } from "../ledger/load-catalog.ts";
import { pathsOfRelease } from "../project/parse.ts";
import { readRelease } from "../records/read-release.ts";

/** Part of a catalog that a list of records needs. */
export interface ListedCatalog {
  config: Config;
  ledger: Ledger;
  identified: { releases: readonly IdentifiedRelease[] };
}

/**
 * Reads one release without the others, because reading a catalog of a thousand releases takes seconds.
 * @returns undefined if the other releases are needed too: for provisional ids, or because there is an error
 */
export async function readCutRelease(folder: string, version: string): Promise<ListedCatalog | undefined> {
  const catalog = await openCatalog(folder);
  const files = catalog.releases.find((release) => release.version === version);
  if (!files) return undefined;
  const contents = await catalog.files.readAll(pathsOfRelease(files));
  const release = catalog.identify(readRelease(files, contents, catalog));
  const isCut = release.packages.every(({ ledgerState }) => ledgerState !== "new");
  if (!isCut || release.packages.length !== catalog.ledger.ofVersion(version).length) return undefined;
  const { problems } = await catalog.finish();
  // Records of the other releases are missing only because these were not read.
  const isSound = problems.every(({ code, severity }) => code === "record-vanished" || severity !== "error");
  return isSound
    ? { config: catalog.config, ledger: catalog.ledger, identified: { releases: [release] } }
    : undefined;
}

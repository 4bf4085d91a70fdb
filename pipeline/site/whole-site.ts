import { throwErrors } from "../../shared/errors.ts";
import type { Config } from "../documents/config.ts";
import type { OutputFile } from "../documents/published.ts";
import type { BuildCopies } from "../documents/site.ts";
import type { Catalog } from "../ledger/catalog.ts";
import { refuseUnknownVersions } from "../ledger/cut.ts";
import { loadCatalog, type Selection } from "../ledger/load-catalog.ts";
import { publishRelease } from "../ledger/publish-records.ts";
import type { AuthoredFiles } from "../project/authored-files.ts";
import { emitSite } from "./emit.ts";
import { feedCopies, feedParts } from "./feeds/feeds.ts";
import { readSources } from "./stores/templates.ts";

/** A site in memory. */
export interface Site {
  config: Config;
  /** Every file except build.json. They can be iterated over only once, because each is rendered then. */
  files: Iterable<OutputFile>;
  /** Copies of artifacts, which publishing makes. */
  copies: BuildCopies;
}

/** Writes nothing. @throws RelcatError version-unknown; every problem of the input, if one of them is an error */
export async function buildCatalog(
  folder: string,
  selection: Selection = {},
  source?: AuthoredFiles,
): Promise<{ site: Site; catalog: Catalog }> {
  const catalog = await loadCatalog(folder, selection, source);
  refuseUnknownVersions(catalog, selection.versions);
  const { config, identified, ledger, problems } = catalog;
  throwErrors(selection.released ? [...problems, ...identified.notCut] : problems);
  const sources = await readSources();
  const { releases } = identified;
  const newestFirst = releases.toReversed().map((release) => {
    return { slices: { feeds: () => feedParts(publishRelease(release, ledger, config), config) } };
  });
  const files = emitSite(releases, ledger, config, sources);
  return { site: { config, files, copies: feedCopies(newestFirst, config) }, catalog };
}

import { throwErrors } from "../shared/errors.ts";
import type { RenderedRelease } from "./documents/published.ts";
import type { Journal } from "./journal/journal.ts";
import { sliceReader, storeSlices } from "./journal/stored-slices.ts";
import type { IdentifiedOutline } from "./ledger/assign-ids.ts";
import { refuseUnknownVersions } from "./ledger/cut.ts";
import type { Ledger } from "./ledger/ledger.ts";
import type { LedgerContext } from "./ledger/ledger-file.ts";
import { ledgerMark } from "./ledger/ledger-mark.ts";
import { type OpenCatalog, openCatalog, type Selection } from "./ledger/load-catalog.ts";
import { summarizeRelease } from "./ledger/publish-records.ts";
import type { AuthoredFiles } from "./project/authored-files.ts";
import type { ReleaseFiles } from "./project/discover.ts";
import { outlineOf, readRelease } from "./records/read-release.ts";
import { type BuiltSite, describeSite } from "./site/built-site.ts";
import { buildDocument, releaseGroup, type SiteRenderer, siteRenderer, versionsInNews } from "./site/emit.ts";
import { requiredButLeftOut } from "./site/feeds/feed-gaps.ts";
import { openSiteFolder, type SiteFolder } from "./site/stores/site-folder.ts";
import { readSources } from "./site/stores/templates.ts";

/** Numbers of releases. */
export interface BuildProgress {
  done: number;
  total: number;
}

export interface BuildRequest extends Pick<LedgerContext, "clock" | "proveLedger"> {
  folder: string;
  out: string;
  selection: Selection;
  /** A commit whose files are built under today's ledger, instead of those in the folder. */
  earlier: { commit: string; files: AuthoredFiles; ledger: Ledger } | undefined;
  /** Returns the report of the command, which is stored for a later build that finds nothing changed. */
  report?: ((built: BuiltSite) => Promise<unknown>) | undefined;
  onProgress?: ((progress: BuildProgress) => void) | undefined;
}

interface Building {
  catalog: OpenCatalog;
  site: SiteRenderer;
  target: SiteFolder;
  journal: Journal;
  storedSlices: ReturnType<typeof sliceReader>;
}

/**
 * Reads, checks, normalizes, identifies and renders one release after another into a temporary folder, and
 * keeps only a summary of each. Then assembles the files that span releases. The site changes only in
 * `target.place`, when everything is rendered and valid. The caller holds the lock of the output folder.
 * @throws RelcatError with every problem of the input; version-unknown
 */
export async function buildSite(request: BuildRequest, journal: Journal): Promise<BuiltSite> {
  const { folder, out, selection, earlier, clock } = request;
  const catalog = await openCatalog(folder, selection, earlier?.files);
  refuseUnknownVersions(catalog, selection.versions);
  const { config, ledger } = catalog;
  const site = siteRenderer(ledger, config, await readSources());
  journal.begin([site.basis, folder, selection]);
  const siblings = { encodings: config.precompress, untouched: journal.sibling };
  const target = openSiteFolder(out, clock, siblings);
  try {
    const building = { catalog, site, target, journal, storedSlices: sliceReader(journal.slices) };
    await target.render(site.constants());
    const releases: RenderedRelease[] = [];
    const news = versionsInNews(catalog.releases, ledger);
    for (const files of catalog.releases) {
      releases.push(await addRelease(files, news.has(files.version), building));
      request.onProgress?.({ done: releases.length, total: catalog.releases.length });
    }

    const { ids, problems } = await catalog.finish();
    throwErrors(selection.released ? [...problems, ...ids.notCut] : problems);
    const leftOut = site.leftOut(releases);
    throwErrors(requiredButLeftOut(leftOut, catalog));
    // An earlier commit was compared with today's ledger already.
    if (!earlier) await request.proveLedger?.(ledger, config.ledgerBase);

    for (const group of site.acrossReleases(releases)) {
      const kept = journal.group(group.name, group.key);
      if (kept) await target.keep(kept);
      else await target.render(group);
    }
    const head = {
      base_url: config.baseUrl,
      provisional: releases.filter(({ provisional }) => provisional).map(({ version }) => version),
      ...(earlier && { at: earlier.commit }),
      ledger: ledgerMark(earlier?.ledger ?? ledger),
      copies: site.copies(releases),
    };
    const placed = await target.place((files) => buildDocument(head, files));
    const built = describeSite({ catalog: catalog.head, ids, problems, releases, leftOut, placed });
    journal.save(placed, await request.report?.(built));
    return built;
  } finally {
    await target.close();
  }
}

/** Adds the next release: from the journal if nothing about it changed, otherwise from its files. */
async function addRelease(
  files: ReleaseFiles,
  inFeeds: boolean,
  building: Building,
): Promise<RenderedRelease> {
  const { catalog, site, target, journal } = building;
  const input = {
    files,
    ledger: catalog.ledger,
    nextId: catalog.nextId(),
    inFeeds,
    group: releaseGroup(files.version),
  };
  const kept = await journal.release(input);
  if (kept) {
    const identified = catalog.identify(kept.read);
    await target.keep(kept.group);
    return rendered(identified, kept.key, building);
  }
  const { contents, keyOf } = await journal.read(input);
  const read = readRelease(files, contents, catalog);
  const identified = catalog.identify(read);
  const hasNewIds = identified.packages.some(({ ledgerState }) => ledgerState === "new");
  const key = keyOf(hasNewIds);
  // After an error nothing more is rendered, but every release is still checked.
  if (catalog.isSound(read)) {
    const { group, slices } = site.release(identified, key, inFeeds);
    await target.render(group);
    storeSlices(journal.slices, key, slices);
    journal.noteRelease({ key, hasNewIds, read: outlineOf(read) });
  }
  return rendered(identified, key, building);
}

function rendered(
  identified: IdentifiedOutline,
  key: string,
  { catalog, storedSlices }: Building,
): RenderedRelease {
  const summary = summarizeRelease(identified, catalog.ledger, catalog.config);
  return { ...summary, key, slices: storedSlices(key, summary.packages.length) };
}

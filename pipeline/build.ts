import type { Config } from "./documents/config.ts";
import { noteSchema } from "./documents/note.ts";
import { type Problem, throwErrors } from "./errors.ts";
import { collectMuch } from "./journal/heap.ts";
import type { ReleaseCache } from "./journal/release-cache.ts";
import { type Allocate, idAssignment } from "./ledger/assign-ids.ts";
import type { Catalog } from "./ledger/catalog.ts";
import { completenessCheck } from "./ledger/completeness.ts";
import { refuseUnknown } from "./ledger/cut.ts";
import { acceptedOnce, applyExceptions, type Finding, readExceptions } from "./ledger/exceptions.ts";
import { loadLedger } from "./ledger/ledger-file.ts";
import { type AuthoredFiles, filesIn } from "./project/authored-files.ts";
import { type Discovered, discover, type ReleaseFiles } from "./project/discover.ts";
import { readDocuments } from "./project/parse.ts";
import { configIn } from "./project/project-folder.ts";
import { readConfig } from "./project/read-config.ts";
import { siteNamed } from "./project/site-named.ts";
import type { Release } from "./records/normalize.ts";
import { readReleases } from "./records/read-releases.ts";
import { checkFragment } from "./records/release-rules.ts";
import type { Site } from "./site/site.ts";
import { readSchemas, readTemplates } from "./site/stores/templates.ts";
import { requireFolder } from "./system/files.ts";

/** Which releases count, and which of them may get ids. */
export interface Selection {
  /** Only what has ledger lines: releases without one are left out, unread. */
  released?: boolean;
  /**
   * These versions as `cut` would make them: what other open releases hold gets no ids and is no problem.
   * Without `released` they are read all the same, to compare with.
   */
  versions?: readonly string[] | undefined;
  /** Name of the site it is for, which has an address of its own. */
  site?: string | undefined;
}

/** Opens what earlier runs kept of releases, once it is known which files there are. */
export type Remember = (found: Discovered, files: AuthoredFiles) => ReleaseCache;

/**
 * The whole way from authored files to a site: discover → parse → check → normalize → assign ids → emit.
 * Decides everything and writes nothing; deliver.ts writes.
 * @param folder the releases folder
 * @throws RelcatError version-unknown; with every problem found, when one of them is an error
 */
export async function buildCatalog(
  folder: string,
  selection: Selection = {},
  source?: AuthoredFiles,
  remember?: Remember,
): Promise<{ site: Site; catalog: Catalog }> {
  const catalog = await loadCatalog(folder, selection, source, remember);
  refuseUnknown(catalog, selection.versions);
  const { config, identified } = catalog;
  throwErrors(selection.released ? [...catalog.problems, ...identified.notCut] : catalog.problems);
  const sources = { templates: await readTemplates(), schemas: await readSchemas() };
  // Templates and Markdown are half of the start-up, and only a build needs them.
  const { emitSite } = await import("./site/emit.ts");
  return { site: emitSite(identified.releases, catalog.ledger, config, sources), catalog };
}

/**
 * The way up to assigned ids, with all problems collected: what `check` shows and `cut` decides on.
 * @param source where the files are read from, when not from the folder itself
 */
export async function loadCatalog(
  folder: string,
  selection: Selection = {},
  source?: AuthoredFiles,
  remember?: Remember,
): Promise<Catalog> {
  if (!source) requireFolder(folder);
  const files = source ?? filesIn(folder);
  const found = await discover(folder, files);
  collectMuch();
  const {
    config: parsed,
    problems: configProblems,
    isConsequence,
    place,
  } = readConfig(`${folder}/catalog.yaml`, found.config === undefined ? undefined : files.read(found.config));
  const written = configIn(folder, parsed);
  const config = selection.site === undefined ? written : atSite(written, selection.site);
  const { ledger, problems: ledgerProblems } = loadLedger(found, files);
  collectMuch();
  const versions = new Set(selection.versions);
  const isWhole = !selection.released && selection.versions === undefined;
  const counts = (version: string) => isWhole || ledger.versions.has(version) || versions.has(version);
  const chosen = found.releases.filter((release) => counts(release.version));
  const openVersions = found.releases.map((release) => release.version).filter((version) => !counts(version));

  const releases: Release[] = [];
  const findings: Finding[] = [];
  const exceptions = readExceptions(found, files);
  const problems = [
    ...(isWhole ? found.problems : problemsOf(chosen, found)),
    ...configProblems,
    ...ledgerProblems,
    ...exceptions.problems,
  ];
  const cache = remember?.(found, files);
  const toRead = selection.released ? chosen : found.releases;
  const reading = { folder, config, files, cache, inFolder: source === undefined };
  const ids = idAssignment(ledger, allocation(selection, versions));
  const completeness = completenessCheck(config);
  const missing: Problem[] = [];
  for await (const read of readReleases(toRead, reading)) {
    const { version, complete } = read.release;
    releases.push(read.release);
    collectMuch();
    const identified = ids.next(read.release);
    // An unread manifest says nothing about completeness.
    missing.push(...completeness.next(identified, complete && counts(version) ? "warning" : undefined));
    if (!counts(version)) continue;
    problems.push(...read.problems);
    findings.push(...read.findings.map((problem) => ({ version, problem })));
  }
  const lost = found.exceptions === undefined ? acceptedOnce(findings, ledger) : findings;
  const excepted = applyExceptions(exceptions.document, lost, openVersions);
  const noteProblems = isWhole ? await checkNextNotes(found, files, config) : [];

  const identified = ids.finish();
  // A ledger that cannot be trusted says nothing about records.
  const idProblems = ledgerProblems.length === 0 ? identified.problems : [];
  const own = [problems, excepted, noteProblems, idProblems, missing]
    .flat()
    .filter((problem) => !isConsequence(problem));
  return {
    folder,
    config,
    configPlace: place,
    ledger,
    releases,
    identified,
    openVersions,
    nextNotes: found.next.length,
    problems: own,
  };
}

/** @throws RelcatError site-unknown */
function atSite(config: Config, name: string): Config {
  return { ...config, baseUrl: siteNamed(config, name).baseUrl };
}

/** A stray file in an open release, or beside the releases, stops no release that is cut. */
const problemsOf = (releases: readonly ReleaseFiles[], { folder, problems }: Discovered): Problem[] =>
  problems.filter(({ at }) => releases.some(({ version }) => at?.file.startsWith(`${folder}/${version}/`)));

function allocation({ released, versions }: Selection, chosen: ReadonlySet<string>): Allocate {
  if (released || versions !== undefined) return (version) => chosen.has(version);
  return () => true;
}

async function checkNextNotes(found: Discovered, files: AuthoredFiles, config: Config): Promise<Problem[]> {
  const reads = await readDocuments(found.folder, found.next, noteSchema, files);
  return reads.flatMap(({ document, problems }) =>
    document ? [...checkFragment(document, config)] : problems,
  );
}

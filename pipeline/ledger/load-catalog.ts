import type { Config } from "../documents/config.ts";
import { noteSchema } from "../documents/note.ts";
import type { Problem } from "../errors.ts";
import { type AuthoredFiles, filesIn } from "../project/authored-files.ts";
import { type Discovered, discover, type ReleaseFiles } from "../project/discover.ts";
import { readFeedKeys } from "../project/feed-keys.ts";
import { pathsOfRelease, readDocuments } from "../project/parse.ts";
import { configIn } from "../project/project-folder.ts";
import { readConfig } from "../project/read-config.ts";
import { readRpmSigners } from "../project/rpm-signers.ts";
import { siteNamed } from "../project/site-named.ts";
import type { OutlinedRelease } from "../records/normalize.ts";
import { type ReadRelease, readRelease } from "../records/read-release.ts";
import { checkFragment } from "../records/release-rules.ts";
import { requireFolder } from "../system/files.ts";
import { type Allocate, type AssignedIds, type IdentifiedRelease, idAssignment } from "./assign-ids.ts";
import type { Catalog, CatalogHead } from "./catalog.ts";
import { completenessCheck } from "./completeness.ts";
import { acceptedOnce, applyExceptions, type Finding, readExceptions } from "./exceptions.ts";
import { loadLedger } from "./ledger-file.ts";

/** Selects the releases to use, and those that may get ids. */
export interface Selection {
  /** True: releases without ledger lines are skipped without reading them. */
  released?: boolean;
  /**
   * Versions to treat as `cut` would. Other open releases get no ids, and their problems are ignored; without
   * `released` they are still read, for comparisons.
   */
  versions?: readonly string[] | undefined;
  /** Name of the site whose base URL replaces that of the configuration. */
  site?: string | undefined;
}

/** A catalog whose releases are read one after another. */
export interface OpenCatalog extends CatalogHead {
  files: AuthoredFiles;
  /** Releases to read, ascending by version. */
  releases: readonly ReleaseFiles[];
  /** Id for the next artifact without a ledger line. */
  nextId(): number;
  /** Assigns ids to the next release, and collects its problems. */
  identify<R extends OutlinedRelease>(read: ReadRelease<R>): IdentifiedRelease<R>;
  /**
   * True if no error was found so far, in this release or before it. After an error nothing more is rendered,
   * because nothing will be placed.
   */
  isSound(read: ReadRelease): boolean;
  /** Called once, after the last release. */
  finish(): Promise<{ ids: AssignedIds; problems: Problem[] }>;
}

/**
 * Reads a whole catalog into memory and collects all problems, for `check` and `cut`.
 * @param source files to read instead of those in the folder
 */
export async function loadCatalog(
  folder: string,
  selection: Selection = {},
  source?: AuthoredFiles,
): Promise<Catalog> {
  const catalog = await openCatalog(folder, selection, source);
  const releases: IdentifiedRelease[] = [];
  for (const files of catalog.releases) {
    const contents = await catalog.files.readAll(pathsOfRelease(files));
    releases.push(catalog.identify(readRelease(files, contents, catalog)));
  }
  const { ids, problems } = await catalog.finish();
  return {
    ...headOf(catalog),
    releases: releases.map(({ release }) => release),
    identified: { releases, ...ids },
    problems,
  };
}

export const headOf = ({
  folder,
  config,
  configPlace,
  ledger,
  openVersions,
  nextNotes,
}: CatalogHead): CatalogHead => ({ folder, config, configPlace, ledger, openVersions, nextNotes });

/** Reads everything except the releases: configuration, ledger and exceptions. */
export async function openCatalog(
  folder: string,
  selection: Selection = {},
  source?: AuthoredFiles,
): Promise<OpenCatalog> {
  if (!source) requireFolder(folder);
  const files = source ?? filesIn(folder);
  const found = await discover(folder, files);
  const {
    config: parsed,
    problems: configProblems,
    isConsequence,
    place,
  } = readConfig(`${folder}/catalog.yaml`, found.config === undefined ? undefined : files.read(found.config));
  // Today's certificates, for an earlier commit too: clients must not be offered a key that was retired since.
  const { keys: feedKeys, problems: keyProblems } = readFeedKeys(
    folder,
    filesIn(folder),
    source ? [] : found.certificates,
  );
  const { rpmSigners, problems: signerProblems } = await readRpmSigners(parsed, files, place);
  const written = configIn(folder, { ...parsed, feedKeys, rpmSigners });
  const config = selection.site === undefined ? written : atSite(written, selection.site);
  const { ledger, problems: ledgerProblems } = loadLedger(found, files);
  const versions = new Set(selection.versions);
  const isWhole = !selection.released && selection.versions === undefined;
  const counts = (version: string) => isWhole || ledger.versions.has(version) || versions.has(version);
  const chosen = found.releases.filter((release) => counts(release.version));
  const openVersions = found.releases.map((release) => release.version).filter((version) => !counts(version));
  const exceptions = readExceptions(found, files);
  const problems = [
    ...(isWhole ? found.problems : problemsOf(chosen, found)),
    ...configProblems,
    ...keyProblems,
    ...signerProblems,
    ...ledgerProblems,
    ...exceptions.problems,
  ];
  const findings: Finding[] = [];
  const missing: Problem[] = [];
  const ids = idAssignment(ledger, allocation(selection, versions));
  const completeness = completenessCheck(config);
  return {
    folder,
    files,
    config,
    configPlace: place,
    ledger,
    openVersions,
    nextNotes: found.next.length,
    releases: selection.released ? chosen : found.releases,
    nextId: ids.nextId,
    identify(read) {
      const { version, complete } = read.release;
      const identified = ids.next(read.release);
      // The unread manifest may contain the missing artifact.
      missing.push(...completeness.next(identified, complete && counts(version) ? "warning" : undefined));
      if (!counts(version)) return identified;
      problems.push(...read.problems);
      findings.push(...read.findings.map((problem) => ({ version, problem })));
      return identified;
    },
    isSound: ({ problems: own, findings: found }) =>
      !hasErrors(problems) && !hasErrors(own) && (exceptions.document !== undefined || !hasErrors(found)),
    async finish() {
      const lost = found.exceptions === undefined ? acceptedOnce(findings, ledger) : findings;
      const excepted = applyExceptions(exceptions.document, lost, openVersions);
      const noteProblems = isWhole ? await checkNextNotes(found, files, config) : [];
      const assigned = ids.finish();
      // With an invalid ledger, every record could appear as missing or new.
      const idProblems = ledgerProblems.length === 0 ? assigned.problems : [];
      const all = [problems, excepted, noteProblems, idProblems, missing].flat();
      return { ids: assigned, problems: all.filter((problem) => !isConsequence(problem)) };
    },
  };
}

const hasErrors = (problems: readonly Problem[]) => problems.some(({ severity }) => severity === "error");

/** @throws RelcatError site-unknown */
function atSite(config: Config, name: string): Config {
  return { ...config, baseUrl: siteNamed(config, name).baseUrl };
}

/** A stray file in an open release, or next to the releases, must not block releases that are cut. */
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

import { createHash } from "node:crypto";
import type { Problem } from "../../shared/errors.ts";
import type { Config } from "../documents/config.ts";
import { noteSchema } from "../documents/note.ts";
import { type AuthoredFiles, filesIn } from "../project/authored-files.ts";
import { type Discovered, discover, type ReleaseFiles } from "../project/discover.ts";
import { readFeedKeys } from "../project/feed-keys.ts";
import { readBrandPictures } from "../project/pages/brand-pictures.ts";
import { readTemplateOverrides } from "../project/pages/template-overrides.ts";
import { pathsOfRelease, readDocuments } from "../project/parse.ts";
import { configIn } from "../project/project-folder.ts";
import { type ReadConfig, readConfig } from "../project/read-config.ts";
import { readRpmSigners } from "../project/rpm-signers.ts";
import { siteNamed } from "../project/site-named.ts";
import type { OutlinedRelease } from "../records/normalize.ts";
import { type ReadRelease, readRelease } from "../records/read-release.ts";
import { checkFragment } from "../records/release-rules.ts";
import type { Standing } from "../records/report.ts";
import { requireFolder } from "../system/files.ts";
import { type Allocate, type AssignedIds, type IdentifiedRelease, idAssignment } from "./assign-ids.ts";
import type { Catalog, CatalogHead } from "./catalog.ts";
import { completenessCheck } from "./completeness.ts";
import { acceptedOnce, applyExceptions, type Finding, readExceptions } from "./exceptions.ts";
import { feedCheck } from "./feed-check.ts";
import type { Ledger } from "./ledger.ts";
import { loadLedger } from "./ledger-file.ts";
import { identity } from "./ledger-records.ts";

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
  standingOf(version: string, file: string): Standing;
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
  onProgress?: (progress: { done: number; total: number }) => void,
): Promise<Catalog> {
  const catalog = await openCatalog(folder, selection, source);
  const releases: IdentifiedRelease[] = [];
  for (const files of catalog.releases) {
    const contents = await catalog.files.readAll(pathsOfRelease(files));
    releases.push(catalog.identify(readRelease(files, contents, catalog)));
    onProgress?.({ done: releases.length, total: catalog.releases.length });
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
  const certificates = source ? [] : found.certificates;
  const configuration = await readConfiguration(found, files, certificates, selection.site);
  const loaded = loadLedger(found, files);
  const exceptions = readExceptions(found, files);
  const scope = scopeOf(selection, found, loaded.ledger);
  return {
    folder,
    files,
    standingOf: (version, file) => {
      const entry = loaded.ledger.byIdentity.get(identity(version, file));
      if (!entry) return "new";
      return entry.retraction ? "withdrawn" : "cut";
    },
    config: configuration.config,
    configPlace: configuration.place,
    ledger: loaded.ledger,
    openVersions: scope.openVersions,
    nextNotes: found.next.length,
    releases: scope.releases,
    ...reviewer({ found, files, configuration, loaded, exceptions, scope }),
  };
}

/**
 * The configuration with the project's certificates, and with the base URL of one site.
 * @throws RelcatError site-unknown
 */
async function readConfiguration(
  { folder, config: path, templates: names }: Discovered,
  files: AuthoredFiles,
  certificates: readonly string[],
  site: string | undefined,
): Promise<ReadConfig> {
  const read = readConfig(`${folder}/catalog.yaml`, path === undefined ? undefined : files.read(path));
  // Today's certificates, for an earlier commit too: clients must not be offered a key that was retired since.
  const { keys: feedKeys, problems: keyProblems } = readFeedKeys(folder, filesIn(folder), certificates);
  const { rpmSigners, problems: signerProblems } = await readRpmSigners(read.config, files, read.place);
  const trust = { ...read.config.trust, rootDigest: rootDigest(files) };
  const pictures = await readBrandPictures(folder, read.config.brand, files, read.place);
  const { templates, problems: templateProblems } = await readTemplateOverrides(folder, names, files);
  const pages = { brand: pictures.brand, templates };
  const config = configIn(folder, { ...read.config, ...pages, feedKeys, rpmSigners, trust });
  return {
    ...read,
    config: site === undefined ? config : { ...config, baseUrl: siteNamed(config, site).baseUrl },
    problems: [
      ...[read.problems, keyProblems, signerProblems],
      ...[pictures.problems, templateProblems],
    ].flat(),
  };
}

/** SHA-256 of the root that clients pin; empty in a project without keys. */
function rootDigest(files: AuthoredFiles): string {
  const root = files.read("trust/1.root.json");
  return root ? createHash("sha256").update(root).digest("hex") : "";
}

/** The releases to read, those to use, and those that may get ids. */
interface Scope {
  /** True if no release is skipped; notes for the next release are then checked too. */
  isWhole: boolean;
  counts(version: string): boolean;
  allocate: Allocate;
  releases: readonly ReleaseFiles[];
  openVersions: string[];
  /** Problems with the names and places of files. */
  problems: Problem[];
}

function scopeOf({ released, versions }: Selection, found: Discovered, ledger: Ledger): Scope {
  const isWhole = !released && versions === undefined;
  const named = new Set(versions);
  const allocate = (version: string) => isWhole || named.has(version);
  const counts = (version: string) => allocate(version) || ledger.versions.has(version);
  const chosen = found.releases.filter(({ version }) => counts(version));
  return {
    isWhole,
    counts,
    allocate,
    releases: released ? chosen : found.releases,
    openVersions: found.releases.map(({ version }) => version).filter((version) => !counts(version)),
    problems: isWhole ? found.problems : problemsOf(chosen, found),
  };
}

interface CatalogParts {
  found: Discovered;
  files: AuthoredFiles;
  configuration: ReadConfig;
  loaded: ReturnType<typeof loadLedger>;
  exceptions: ReturnType<typeof readExceptions>;
  scope: Scope;
}

/** Identifies releases one after the other, and collects the problems of all of them. */
function reviewer({
  found,
  files,
  configuration,
  loaded,
  exceptions,
  scope,
}: CatalogParts): Pick<OpenCatalog, "nextId" | "identify" | "isSound" | "finish"> {
  const { config, isConsequence } = configuration;
  const problems = [scope, configuration, loaded, exceptions].flatMap((part) => part.problems);
  const findings: Finding[] = [];
  const missing: Problem[] = [];
  const ids = idAssignment(loaded.ledger, scope.allocate);
  const completeness = completenessCheck(config);
  const feeds = feedCheck(config, configuration.place);
  return {
    nextId: ids.nextId,
    identify(read) {
      const { version, complete } = read.release;
      const counts = scope.counts(version);
      const identified = ids.next(read.release);
      // The unread manifest may contain the missing artifact.
      missing.push(...completeness(identified, complete && counts ? "warning" : undefined));
      feeds.next(identified);
      if (!counts) return identified;
      problems.push(...read.problems);
      findings.push(...read.findings.map((problem) => ({ version, problem })));
      return identified;
    },
    isSound: (read) =>
      !hasErrors(problems) &&
      !hasErrors(read.problems) &&
      (exceptions.document !== undefined || !hasErrors(read.findings)),
    async finish() {
      const lost = found.exceptions === undefined ? acceptedOnce(findings, loaded.ledger) : findings;
      const excepted = applyExceptions(exceptions.document, lost, scope.openVersions);
      const noteProblems = scope.isWhole ? await checkNextNotes(found, files, config) : [];
      const assigned = ids.finish();
      // With an invalid ledger, every record could appear as missing or new.
      const idProblems = loaded.problems.length === 0 ? assigned.problems : [];
      const all = [problems, excepted, noteProblems, idProblems, missing, feeds.finish()].flat();
      return { ids: assigned, problems: all.filter((problem) => !isConsequence(problem)) };
    },
  };
}

const hasErrors = (problems: readonly Problem[]) => problems.some(({ severity }) => severity === "error");

/** A stray file in an open release, or next to the releases, must not block releases that are cut. */
const problemsOf = (releases: readonly ReleaseFiles[], { folder, problems }: Discovered): Problem[] =>
  problems.filter(({ at }) => releases.some(({ version }) => at?.file.startsWith(`${folder}/${version}/`)));

async function checkNextNotes(found: Discovered, files: AuthoredFiles, config: Config): Promise<Problem[]> {
  const reads = await readDocuments(found.folder, found.next, noteSchema, files);
  return reads.flatMap(({ document, problems }) =>
    document ? [...checkFragment(document, config)] : problems,
  );
}

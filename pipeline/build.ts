import { type Config, configSchema } from "./documents/config.ts";
import { type Exception, exceptionsSchema } from "./documents/exceptions.ts";
import { noteSchema } from "./documents/note.ts";
import type { OutputFile } from "./documents/published.ts";
import { type Problem, RelcatError, throwErrors } from "./errors.ts";
import { type AuthoredFiles, filesIn } from "./outside/authored-files.ts";
import { requireFolder } from "./outside/files.ts";
import { readSchemas, readTemplates } from "./outside/templates.ts";
import { type Allocate, assignIds, type Identified } from "./stages/assign-ids.ts";
import { checkRelease } from "./stages/check.ts";
import { completenessProblems } from "./stages/completeness.ts";
import { type UsableConfig, useConfig } from "./stages/config.ts";
import { type Discovered, discover, type ReleaseFiles } from "./stages/discover.ts";
import type { Located } from "./stages/document.ts";
import { applyExceptions, checkExceptions, type Finding } from "./stages/exceptions.ts";
import { type Ledger, readLedger } from "./stages/ledger.ts";
import { normalizeRelease, type Release } from "./stages/normalize.ts";
import { parseRelease, readBytes, readDocuments } from "./stages/parse.ts";
import { checkFragment } from "./stages/rules/release-rules.ts";
import { decode } from "./stages/source.ts";

/** Which releases count, and which of them may get ids. */
export interface Selection {
  /** Only what has ledger lines: releases without one are left out, unread. */
  released?: boolean;
  /** With `released`: these versions as `cut` would make them. Without: only these get new ids. */
  versions?: readonly string[] | undefined;
}

/** A catalog's authored input, read, checked and normalized. */
export interface Catalog {
  folder: string;
  config: Config;
  /** Where an entry of the configuration stands. */
  configPlace: Located<unknown>["place"];
  ledger: Ledger;
  releases: Release[];
  identified: Identified;
  /** Version folders that were left out. */
  openVersions: string[];
  /** Note fragments of the next release. */
  nextNotes: number;
  /** Everything found, warnings included; errors among them do not throw here. */
  problems: Problem[];
}

/** A decided site: nothing is written yet. */
export interface Site {
  config: Config;
  /** Versions that are not permanent, ascending. */
  provisional: string[];
  releaseCount: number;
  packageCount: number;
  /** Leaves first, indexes last; made as they are asked for. */
  files: Iterable<OutputFile>;
}

/**
 * The whole way from authored files to a site: discover → parse → check → normalize → assign ids → emit.
 * Decides everything and writes nothing; deliver.ts writes.
 * @param folder the releases folder
 * @throws RelcatError with every problem found, when one of them is an error
 */
export async function buildCatalog(
  folder: string,
  selection: Selection = {},
): Promise<{ site: Site; catalog: Catalog }> {
  const catalog = await loadCatalog(folder, selection);
  const { config, identified } = catalog;
  throwErrors(selection.released ? [...catalog.problems, ...identified.notCut] : catalog.problems);
  const sources = { templates: await readTemplates(), schemas: await readSchemas() };
  // Templates and Markdown are half of the start-up, and only a build needs them.
  const { emitSite } = await import("./stages/emit.ts");
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
): Promise<Catalog> {
  if (!source) requireFolder(folder);
  const files = source ?? filesIn(folder);
  const found = await discover(folder, files);
  const { config, problems: configProblems, isConsequence, place } = readConfig(found, files);
  const { ledger, problems: ledgerProblems } = loadLedger(found, files);
  const versions = new Set(selection.versions);
  const reads = (version: string) =>
    !selection.released || ledger.versions.has(version) || versions.has(version);
  const chosen = found.releases.filter((release) => reads(release.version));
  const openVersions = found.releases.map((release) => release.version).filter((version) => !reads(version));

  const releases: Release[] = [];
  const findings: Finding[] = [];
  const exceptions = readExceptions(found, files);
  const problems = [
    ...(selection.released ? problemsOf(chosen, found) : found.problems),
    ...configProblems,
    ...ledgerProblems,
    ...exceptions.problems,
  ];
  for (const release of chosen) {
    const parsed = await parseRelease(folder, release, files);
    const { release: normalized, problems: conflicts } = normalizeRelease(parsed, config);
    problems.push(...parsed.problems, ...conflicts);
    findings.push(...checkRelease(parsed, config).map((problem) => ({ version: release.version, problem })));
    releases.push(normalized);
  }
  problems.push(...applyExceptions(exceptions.document, findings, openVersions));
  if (!selection.released) problems.push(...(await checkNextNotes(found, files, config)));

  const identified = assignIds(releases, ledger, allocation(selection, versions));
  // A ledger that cannot be trusted says nothing about records, an unread manifest nothing about completeness.
  if (ledgerProblems.length === 0) problems.push(...identified.problems);
  for (const release of identified.releases) {
    if (release.release.complete)
      problems.push(...completenessProblems(release, releases, config, "warning"));
  }
  const own = problems.filter((problem) => !isConsequence(problem));
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

/** A stray file in an open release, or beside the releases, stops no release that is cut. */
const problemsOf = (releases: readonly ReleaseFiles[], { folder, problems }: Discovered): Problem[] =>
  problems.filter(({ at }) => releases.some(({ version }) => at?.file.startsWith(`${folder}/${version}/`)));

function allocation({ released, versions }: Selection, chosen: ReadonlySet<string>): Allocate {
  if (released || versions !== undefined) return (version) => chosen.has(version);
  return () => true;
}

function readConfig(
  { folder, config }: Discovered,
  files: AuthoredFiles,
): UsableConfig & Pick<Located<unknown>, "place"> {
  const file = `${folder}/catalog.yaml`;
  const bytes = config === undefined ? undefined : files.read(config);
  const nothing = { file, value: {}, place: () => ({ file, line: 1, column: 1 }) };
  if (!bytes) return { ...useConfig(nothing), place: nothing.place };
  const { document, problems, raw } = readBytes(file, bytes, configSchema);
  // Comments only, or nothing: every field has its default.
  if (raw?.value === null) return { ...useConfig(nothing), place: nothing.place };
  const usable = useConfig(document ?? raw ?? nothing);
  const { place } = document ?? raw ?? nothing;
  return { ...usable, place, problems: [...problems, ...usable.problems] };
}

/** What imported history may break; a missing file accepts nothing. */
export function readExceptions(
  { folder, exceptions }: Pick<Discovered, "folder" | "exceptions">,
  files: AuthoredFiles = filesIn(folder),
): {
  document: Located<Exception[]> | undefined;
  problems: Problem[];
} {
  const file = `${folder}/exceptions.yaml`;
  const bytes = exceptions === undefined ? undefined : files.read(exceptions);
  if (!bytes) return { document: undefined, problems: [] };
  const { document, problems, raw } = readBytes(file, bytes, exceptionsSchema);
  if (raw?.value === null) return { document: undefined, problems: [] };
  return { document, problems: document ? checkExceptions(document) : problems };
}

/** The ledger of a releases folder; a missing one is empty. */
export function loadLedger(
  { folder, ledger }: Pick<Discovered, "folder" | "ledger">,
  files: AuthoredFiles = filesIn(folder),
): {
  ledger: Ledger;
  problems: Problem[];
} {
  const file = `${folder}/ledger.jsonl`;
  const bytes = ledger === undefined ? undefined : files.read(ledger);
  try {
    return readLedger(bytes ? decode(file, bytes, Number.MAX_SAFE_INTEGER) : { file, text: "" });
  } catch (error) {
    if (!(error instanceof RelcatError)) throw error;
    return { ledger: readLedger({ file, text: "" }).ledger, problems: [...error.problems] };
  }
}

async function checkNextNotes(found: Discovered, files: AuthoredFiles, config: Config): Promise<Problem[]> {
  const reads = await readDocuments(found.folder, found.next, noteSchema, files);
  return reads.flatMap(({ document, problems }) =>
    document ? [...checkFragment(document, config)] : problems,
  );
}

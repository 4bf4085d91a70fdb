import type { Config, WrittenConfig } from "./documents/config.ts";
import { configSchema } from "./documents/config.ts";
import { noteSchema } from "./documents/note.ts";
import type { OutputFile } from "./documents/published.ts";
import { type Problem, throwErrors } from "./errors.ts";
import { readIfPresent, requireFolder } from "./outside/files.ts";
import { readSchemas, readTemplates } from "./outside/templates.ts";
import { type Allocate, assignIds, type Identified } from "./stages/assign-ids.ts";
import { checkRelease } from "./stages/check.ts";
import { completenessProblems } from "./stages/completeness.ts";
import { checkConfig, normalizeConfig } from "./stages/config.ts";
import { type Discovered, discover } from "./stages/discover.ts";
import type { Located } from "./stages/document.ts";
import { emitSite } from "./stages/emit.ts";
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
export async function buildCatalog(folder: string, selection: Selection = {}): Promise<{ site: Site; catalog: Catalog }> {
  const catalog = await loadCatalog(folder, selection);
  const { config, identified } = catalog;
  throwErrors(selection.released ? [...catalog.problems, ...identified.notCut] : catalog.problems);
  const sources = { templates: await readTemplates(), schemas: await readSchemas() };
  return { site: emitSite(identified.releases, catalog.ledger, config, sources), catalog };
}

/** The way up to assigned ids, with all problems collected: what `check` shows and `cut` decides on. */
export async function loadCatalog(folder: string, selection: Selection = {}): Promise<Catalog> {
  requireFolder(folder);
  const found = await discover(folder);
  const { config, problems: configProblems } = readConfig(found);
  const { ledger, problems: ledgerProblems } = loadLedger(found);
  const versions = new Set(selection.versions);
  const reads = (version: string) => !selection.released || ledger.versions.has(version) || versions.has(version);
  const chosen = found.releases.filter((release) => reads(release.version));
  const openVersions = found.releases.map((release) => release.version).filter((version) => !reads(version));

  const releases: Release[] = [];
  const problems = [...found.problems, ...configProblems, ...ledgerProblems];
  for (const files of chosen) {
    const parsed = await parseRelease(folder, files);
    const { release, problems: conflicts } = normalizeRelease(parsed, config);
    problems.push(...checkRelease(parsed, config), ...conflicts);
    releases.push(release);
  }
  if (!selection.released) problems.push(...(await checkNextNotes(found, config)));

  const identified = assignIds(releases, ledger, allocation(selection, versions));
  // Without sound documents, missing records would only repeat what is already reported.
  if (!problems.some((problem) => problem.severity === "error")) {
    problems.push(...identified.problems);
    for (const release of identified.releases) problems.push(...completenessProblems(release, config, "warning"));
  }
  return { folder, config, ledger, releases, identified, openVersions, nextNotes: found.next.length, problems };
}

function allocation({ released, versions }: Selection, chosen: ReadonlySet<string>): Allocate {
  if (released || versions !== undefined) return (version) => chosen.has(version);
  return () => true;
}

function readConfig(found: Discovered): { config: Config; problems: Problem[] } {
  const bytes = found.config === undefined ? undefined : readIfPresent(`${found.folder}/${found.config}`);
  if (!bytes || isBlank(bytes)) return { config: normalizeConfig({}), problems: [] };
  const { document, problems } = readBytes(`${found.folder}/${found.config}`, bytes, configSchema);
  const all = document ? checkConfig(document) : problems;
  return { config: safeConfig(document, all), problems: all };
}

/** With problems in catalog.yaml the rest is still checked, against as much of it as can be used. */
function safeConfig(document: Located<WrittenConfig> | undefined, problems: readonly Problem[]): Config {
  return normalizeConfig(document && problems.length === 0 ? document.value : {});
}

/** Comments only, or nothing: every field has its default. */
const isBlank = (bytes: Uint8Array) => /^(\s*(#.*)?(\n|$))*$/.test(new TextDecoder().decode(bytes.subarray(0, 65536)));

/** The ledger of a releases folder; a missing one is empty. */
export function loadLedger({ folder, ledger }: Pick<Discovered, "folder" | "ledger">): { ledger: Ledger; problems: Problem[] } {
  const file = `${folder}/ledger.jsonl`;
  const bytes = ledger === undefined ? undefined : readIfPresent(file);
  return readLedger(bytes ? decode(file, bytes, Number.MAX_SAFE_INTEGER) : { file, text: "" });
}

async function checkNextNotes(found: Discovered, config: Config): Promise<Problem[]> {
  const reads = await readDocuments(found.folder, found.next, noteSchema);
  return reads.flatMap(({ document, problems }) => (document ? [...checkFragment(document, config)] : problems));
}

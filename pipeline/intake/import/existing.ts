import { type Problem, throwErrors } from "../../../shared/errors.ts";
import { configSchema, type Settings, type WrittenConfig } from "../../documents/config.ts";
import type { Exception } from "../../documents/exceptions.ts";
import { type Manifest, manifestSchema, type WrittenArtifact } from "../../documents/manifest.ts";
import { releaseSchema } from "../../documents/release.ts";
import { assignIds, type Package } from "../../ledger/assign-ids.ts";
import { type Finding, readExceptions } from "../../ledger/exceptions.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { loadLedger } from "../../ledger/ledger-file.ts";
import { identity } from "../../ledger/ledger-records.ts";
import { useConfig } from "../../project/config.ts";
import { type Discovered, discover } from "../../project/discover.ts";
import type { Located } from "../../project/document.ts";
import { type ParsedRelease, parseRelease, readBytes, readDocuments } from "../../project/parse.ts";
import { normalizeRelease, type Release } from "../../records/normalize.ts";
import { checkRelease } from "../../records/read-release.ts";
import { readIfPresent } from "../../system/files.ts";
import { isImported, type ReleasePlan } from "./manifests.ts";

/** The releases folder before an import; it may be missing, or left incomplete by an interrupted import. */
export interface Existing {
  folder: string;
  /** undefined: no catalog.yaml. */
  configText: string | undefined;
  written: WrittenConfig;
  config: Settings;
  ledger: Ledger;
  exceptionsText: string | undefined;
  exceptions: Exception[];
  releases: Map<string, ExistingRelease>;
  rebuilt: Map<string, Rebuilt>;
  /** Packages with a ledger line, by id. */
  packages: Map<number, Package>;
  /** Entries of manifests written by import, by identity. */
  entries: Map<string, WrittenArtifact>;
}

/**
 * Reads the folder that the import extends.
 * @throws RelcatError with the problems of catalog.yaml, exceptions.yaml, the ledger and import's own
 * manifests
 */
export async function readExisting(folder: string): Promise<Existing> {
  const found = await discover(folder);
  const { ledger, problems: ledgerProblems } = loadLedger(found);
  const exceptions = readExceptions(found);
  const settings = readSettings(found);
  throwErrors([...settings.problems, ...ledgerProblems, ...exceptions.problems]);
  const releases = await readReleases(found);
  const rebuilt = new Map(
    [...releases].map(([version, release]) => [version, rebuild(release, settings.config)]),
  );
  const normalized = [...rebuilt.values()].map(({ release }) => release);
  const identified = assignIds(normalized, ledger, () => false);
  return {
    folder,
    ...settings,
    ledger,
    exceptionsText: found.exceptions && textOf(`${folder}/${found.exceptions}`),
    exceptions: exceptions.document?.value ?? [],
    releases,
    rebuilt,
    packages: new Map(
      identified.releases.flatMap(({ packages }) => packages.map((entry) => [entry.id, entry])),
    ),
    entries: importedEntries(releases),
  };
}

const textOf = (file: string): string | undefined => {
  const bytes = readIfPresent(file);
  return bytes && new TextDecoder().decode(bytes);
};

function readSettings({ folder, config }: Discovered) {
  const file = `${folder}/catalog.yaml`;
  const bytes = config === undefined ? undefined : readIfPresent(file);
  return { configText: bytes && new TextDecoder().decode(bytes), ...settingsOf(file, bytes) };
}

/** Parses catalog.yaml; an empty one gives all defaults. */
export function settingsOf(file: string, bytes: Uint8Array | undefined) {
  const read = bytes && readBytes(file, bytes, configSchema);
  const blank = read?.raw?.value === null;
  const document = read?.document ?? { file, value: {}, place: () => ({ file, line: 1, column: 1 }) };
  const { config, problems } = useConfig(document);
  return {
    written: document.value,
    config,
    problems: [...(blank ? [] : (read?.problems ?? [])), ...problems],
  };
}

async function readReleases(found: Discovered): Promise<Map<string, ExistingRelease>> {
  const releases = new Map<string, ExistingRelease>();
  for (const files of found.releases) {
    const { true: ours = [], false: theirs = [] } = Object.groupBy(
      files.manifests,
      (path) => `${isImported(path)}`,
    );
    const parsed = await parseRelease(found.folder, { ...files, manifests: theirs });
    const reads = await readDocuments(found.folder, ours, manifestSchema);
    throwErrors(reads.flatMap(({ problems }) => problems));
    releases.set(files.version, { parsed, imported: reads.flatMap(({ document }) => document ?? []) });
  }
  return releases;
}

function importedEntries(releases: ReadonlyMap<string, ExistingRelease>): Map<string, WrittenArtifact> {
  const entries = new Map<string, WrittenArtifact>();
  for (const [version, { imported }] of releases) {
    for (const artifact of imported.flatMap(({ value }) => value.artifacts)) {
      entries.set(identity(version, artifact.file ?? artifact.name), artifact);
    }
  }
  return entries;
}

export interface ExistingRelease {
  /** Without manifests written by import. */
  parsed: ParsedRelease;
  imported: Located<Manifest>[];
}

/** A release in the form that a build reads. */
export interface Rebuilt {
  release: Release;
  /** Errors while reading or merging files. */
  problems: Problem[];
  /** Violations of record rules. */
  findings: Finding[];
}

export function rebuild({ parsed, imported }: ExistingRelease, config: Settings): Rebuilt {
  const whole: ParsedRelease = { ...parsed, manifests: [...parsed.manifests, ...imported] };
  const { release, problems } = normalizeRelease(whole, config);
  const findings = checkRelease(whole, config).map((problem) => ({ version: parsed.version, problem }));
  return { release, problems: [...whole.problems, ...problems], findings };
}

const encoder = new TextEncoder();

/** Parses planned files as a build parses files on disk. */
export function asExisting(
  { version, releaseYaml, manifests }: ReleasePlan,
  existing: ExistingRelease | undefined,
  root: string,
): ExistingRelease {
  const folder = `${root}/${version}`;
  const reads = manifests.map(({ name, text }) =>
    readBytes(`${folder}/manifests/${name}`, encoder.encode(text), manifestSchema),
  );
  const problems = reads.flatMap((read) => read.problems);
  const imported = reads.flatMap(({ document }) => document ?? []);
  const parsed = existing?.parsed ?? {
    version,
    folder,
    release: undefined,
    notes: [],
    manifests: [],
    problems: [],
  };
  if (releaseYaml === undefined)
    return { parsed: { ...parsed, problems: [...parsed.problems, ...problems] }, imported };
  const read = readBytes(`${folder}/release.yaml`, encoder.encode(releaseYaml), releaseSchema);
  // The planned release.yaml solves this problem.
  const others = parsed.problems.filter(({ code }) => code !== "release-missing");
  return {
    parsed: { ...parsed, release: read.document, problems: [...others, ...read.problems, ...problems] },
    imported,
  };
}

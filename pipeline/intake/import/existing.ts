import { type Problem, throwErrors } from "../../../shared/errors.ts";
import { configSchema, type Settings, type WrittenConfig } from "../../documents/config.ts";
import type { Exception } from "../../documents/exceptions.ts";
import { manifestSchema, type WrittenArtifact } from "../../documents/manifest.ts";
import { releaseSchema } from "../../documents/release.ts";
import { assignIds, type Package } from "../../ledger/assign-ids.ts";
import { type Finding, readExceptions } from "../../ledger/exceptions.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { loadLedger } from "../../ledger/ledger-file.ts";
import { identity } from "../../ledger/ledger-records.ts";
import { useConfig } from "../../project/config.ts";
import { type Discovered, discover } from "../../project/discover.ts";
import { type ParsedRelease, parseRelease, readBytes } from "../../project/parse.ts";
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
  releases: Map<string, ParsedRelease>;
  rebuilt: Map<string, Rebuilt>;
  /** Packages with a ledger line, by id. */
  packages: Map<number, Package>;
  /** Entries of manifests written by import, by identity. */
  entries: Map<string, WrittenArtifact>;
}

/** @throws RelcatError with the problems of catalog.yaml, exceptions.yaml, the ledger and import's own manifests */
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
    entries: new Map(
      [...releases].flatMap(([version, release]) =>
        importedArtifacts(release).map((artifact) => [
          identity(version, artifact.file ?? artifact.name),
          artifact,
        ]),
      ),
    ),
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

/** Manifests written by import come last. @throws RelcatError with the problems of these */
async function readReleases(found: Discovered): Promise<Existing["releases"]> {
  const releases: Existing["releases"] = new Map();
  for (const files of found.releases) {
    const manifests = files.manifests.toSorted((a, b) => Number(isImported(a)) - Number(isImported(b)));
    const parsed = await parseRelease(found.folder, { ...files, manifests });
    throwErrors(parsed.problems.filter(({ at }) => isImported(at?.file ?? "")));
    releases.set(files.version, parsed);
  }
  return releases;
}

export const importedArtifacts = ({ manifests }: ParsedRelease): WrittenArtifact[] =>
  manifests.filter(({ file }) => isImported(file)).flatMap(({ value }) => value.artifacts);

/** A release in the form that a build reads. */
export interface Rebuilt {
  release: Release;
  /** Errors while reading or merging files. */
  problems: Problem[];
  findings: Finding[];
}

export function rebuild(parsed: ParsedRelease, config: Settings): Rebuilt {
  const { release, problems } = normalizeRelease(parsed, config);
  const findings = checkRelease(parsed, config).map((problem) => ({ version: parsed.version, problem }));
  return { release, problems: [...parsed.problems, ...problems], findings };
}

const encoder = new TextEncoder();

/** Parses planned files as a build parses files on disk. */
export function withPlanned(
  { version, releaseYaml, manifests: planned }: ReleasePlan,
  existing: ParsedRelease | undefined,
  root: string,
): ParsedRelease {
  const folder = `${root}/${version}`;
  const blank = { version, folder, release: undefined, notes: [], manifests: [], problems: [] };
  const { release: present, manifests, problems, ...parsed } = existing ?? blank;
  const reads = planned.map(({ name, text }) =>
    readBytes(`${folder}/manifests/${name}`, encoder.encode(text), manifestSchema),
  );
  const release =
    releaseYaml === undefined
      ? { document: present, problems: [] }
      : readBytes(`${folder}/release.yaml`, encoder.encode(releaseYaml), releaseSchema);
  // A planned release.yaml solves this problem.
  const open = problems.filter(({ code }) => releaseYaml === undefined || code !== "release-missing");
  return {
    ...parsed,
    release: release.document,
    manifests: [
      ...manifests.filter(({ file }) => !isImported(file)),
      ...reads.flatMap(({ document }) => document ?? []),
    ],
    problems: [...open, ...release.problems, ...reads.flatMap((read) => read.problems)],
  };
}

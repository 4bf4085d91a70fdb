import { name as namePattern, sha256 } from "../../../shared/fields.ts";
import type { Settings } from "../../documents/config.ts";
import { isObject } from "../../documents/is-object.ts";
import type { WrittenArtifact } from "../../documents/manifest.ts";
import { packageRecordSchema } from "../../documents/package-record.ts";
import { identity } from "../../ledger/ledger-records.ts";
import { artifactUrl } from "../../ledger/publish-records.ts";
import { neutralData, recordShape } from "../../records/verbatim.ts";
import { typeKey } from "./catalog-rows.ts";
import { releaseDate, verbatimDates } from "./dates.ts";
import type { Existing, ExistingRelease } from "./existing.ts";
import { type Addresses, fileNames } from "./file-names.ts";
import { type Entry, importedManifests, type ReleasePlan } from "./manifests.ts";
import type { Match } from "./match-records.ts";
import type { LiveRecord } from "./read-records.ts";

export interface Downloads {
  /** Addresses found by lookup. */
  addresses: Addresses;
  /** With the placeholders of artifact_url. */
  template: string | undefined;
}

interface Planning extends Downloads {
  existing: Existing;
  config: Settings;
  /** Folder of the JSON Schemas, relative to the project. */
  schemas: string;
}

/** Files of every release with new or changed records, ascending by version. */
export function planReleases(
  records: readonly LiveRecord[],
  match: Match,
  planning: Planning,
): ReleasePlan[] {
  const { existing, addresses, template, schemas } = planning;
  const renewed = new Set([...match.added, ...match.revised, ...match.restored].map(({ id }) => id));
  const addressed = addresses.size > 0 || template !== undefined ? match.unchanged : [];
  for (const record of addressed) if (isReaddressed(record, planning)) renewed.add(record.id);
  const plans: ReleasePlan[] = [];
  const groups = Map.groupBy(records, (record) => record.version);
  for (const version of new Set([...groups.keys(), ...existing.releases.keys()])) {
    const group = groups.get(version) ?? [];
    const present = existing.releases.get(version);
    if (!group.some(({ id }) => renewed.has(id)) && leftovers(version, existing).length === 0) continue;
    const entries = releaseEntries(version, group, renewed, planning);
    plans.push({
      version,
      releaseYaml: hasReleaseFile(present)
        ? undefined
        : releaseYaml(version, releaseDate(version, group), schemas),
      manifests: importedManifests(version, entries, present?.imported.length ?? 0),
    });
  }
  return plans.sort((a, b) => (a.version < b.version ? -1 : 1));
}

/** Entries without a ledger line are from an interrupted import and are overwritten. */
function leftovers(version: string, { releases, ledger }: Existing): string[] {
  const artifacts = releases.get(version)?.imported.flatMap(({ value }) => value.artifacts) ?? [];
  const files = artifacts.map(({ file, name }) => file ?? name);
  return files.filter((file) => !ledger.byIdentity.has(identity(version, file)));
}

/** An unreadable release.yaml counts as present, because import never replaces an existing one. */
const hasReleaseFile = (present: ExistingRelease | undefined) =>
  present !== undefined && !present.parsed.problems.some(({ code }) => code === "release-missing");

const releaseYaml = (version: string, date: string, schemas: string) =>
  `# yaml-language-server: $schema=../../${schemas}/release.schema.json\nversion: ${version}\ndate: ${date}\n`;

/** An unchanged record whose address has become known. */
function isReaddressed(record: LiveRecord, planning: Planning): boolean {
  const { entries, ledger } = planning.existing;
  const file = ledger.byId.get(record.id)?.add.file ?? "";
  const entry = entries.get(identity(record.version, file));
  return entry !== undefined && newEntry(record, file, planning).url !== entry.url;
}

/** Entries written by import, by id: unchanged ones and new ones. */
function releaseEntries(
  version: string,
  group: readonly LiveRecord[],
  renewed: ReadonlySet<number>,
  planning: Planning,
): Entry[] {
  const { existing, addresses } = planning;
  const { ledger } = existing;
  const fresh = group.filter(({ id }) => !ledger.byId.has(id));
  const files = fileNames(fresh, group, takenFiles(version, existing), addresses);
  const entries = new Map(keptEntries(version, existing).map((entry) => [entry.id, entry]));
  for (const record of group) {
    if (!renewed.has(record.id)) continue;
    const file = ledger.byId.get(record.id)?.add.file ?? files.get(record.id) ?? `id-${record.id}`;
    entries.set(record.id, { id: record.id, artifact: newEntry(record, file, planning) });
  }
  return [...entries.values()].sort((a, b) => a.id - b.id);
}

/** Files of the release, except those of an interrupted import. */
function takenFiles(version: string, { ledger, releases }: Existing): string[] {
  const cut = ledger.ofVersion(version).map(({ add }) => add.file);
  const others = releases.get(version)?.parsed.manifests.flatMap(({ value }) => value.artifacts) ?? [];
  return [...cut, ...others.map(({ file, name }) => file ?? name)];
}

function keptEntries(version: string, { releases, ledger }: Existing): Entry[] {
  const artifacts = releases.get(version)?.imported.flatMap(({ value }) => value.artifacts) ?? [];
  return artifacts.flatMap((artifact) => {
    const known = ledger.byIdentity.get(identity(version, artifact.file ?? artifact.name));
    return known ? [{ id: known.add.id, artifact }] : [];
  });
}

function newEntry(record: LiveRecord, file: string, planning: Planning): WrittenArtifact {
  const { existing, config, addresses, template } = planning;
  const before = existing.entries.get(identity(record.version, file));
  const facts = { file, url: addresses.get(record.id)?.url ?? before?.url, size: before?.size };
  const entry = artifactEntry(record, facts, config);
  if (template === undefined || entry.url !== undefined) return entry;
  const of = {
    version: record.version,
    name: entry.name,
    package_type: entry.package_type,
    id: record.id,
    checksum: entry.sha256,
  };
  const url = artifactUrl(of, file, { ...config, artifactUrl: template });
  // Omits an address that artifact_url gives anyway.
  return url === artifactUrl(of, file, config) ? entry : artifactEntry(record, { ...facts, url }, config);
}

/** Data about the file that its record does not contain. */
interface FileFacts {
  file: string;
  url: string | undefined;
  size: number | undefined;
}

/**
 * Creates the manifest entry that normalizes to exactly this record; fields that an entry cannot express go
 * into `verbatim`.
 */
function artifactEntry(
  record: LiveRecord,
  { file, url, size }: FileFacts,
  config: Settings,
): WrittenArtifact {
  const { name, package_type, checksum, version: _, id, ...rest } = record;
  const type = config.packageTypes.get(typeKey(package_type));
  const kept = keptFields(record);
  const entryName = namePattern.safeParse(name).success ? name : kept.instead("name", writableName(name, id));
  const entry: WrittenArtifact = {
    name: entryName,
    ...(file !== entryName && { file }),
    package_type:
      typeKey(package_type) === package_type
        ? package_type
        : kept.instead("package_type", typeKey(package_type)),
    ...kept.unless("description", type?.description),
    sha256: sha256.safeParse(checksum).success
      ? checksum
      : kept.instead("checksum", readableChecksum(record)),
    ...(size !== undefined && { size }),
    ...(url !== undefined && { url }),
    ...kept.unless("min_os_version", null),
    ...kept.unless("max_os_version", null),
    ...kept.unless("gui_only", false),
    ...kept.unless("headless", false),
    ...kept.unless("exclude_from_api", false),
    ...kept.unless("only_for_account", null),
  };
  kept.unlessEqual("operating_system", type?.operating_system);
  kept.unlessEqual("platform", type?.platform);
  for (const field of verbatimDates(record)) kept.asItIs(field);
  for (const field of Object.keys(rest))
    if (!Object.hasOwn(packageRecordSchema.shape, field)) kept.asItIs(field);
  const { wire } = config;
  const { data } = record;
  const isNeutral = recordShape(wire).safeParse({ data }).success && isObject(data);
  if (!isNeutral) kept.asItIs("data");
  return { ...entry, ...(isNeutral && neutralData(data, wire)), ...kept.parts() };
}

type Simple =
  | "description"
  | "min_os_version"
  | "max_os_version"
  | "gui_only"
  | "headless"
  | "exclude_from_api"
  | "only_for_account";

/** Collects `verbatim` and `absent`. */
function keptFields(record: LiveRecord) {
  const verbatim = new Map<string, unknown>();
  const absent: string[] = [];
  const asItIs = (field: string): void => {
    if (Object.hasOwn(record, field)) verbatim.set(field, record[field]);
    else absent.push(field);
  };
  return {
    asItIs,
    /** Keeps the original value, and returns its replacement for the entry. */
    instead(field: string, value: string): string {
      asItIs(field);
      return value;
    },
    unlessEqual(field: string, value: unknown): void {
      if (record[field] !== value) asItIs(field);
    },
    /** Omits fields with their default value. */
    unless(field: Simple, standard: unknown): Partial<WrittenArtifact> {
      const value = record[field];
      if (value === standard && value !== undefined) return {};
      if (packageRecordSchema.shape[field].safeParse(value).success) return { [field]: value };
      asItIs(field);
      return {};
    },
    parts: (): Partial<WrittenArtifact> => ({
      ...(verbatim.size > 0 && { verbatim: Object.fromEntries(verbatim) }),
      ...(absent.length > 0 && { absent: absent as NonNullable<WrittenArtifact["absent"]> }),
    }),
  };
}

/** Replaces a name that a ledger line cannot contain. */
function writableName(name: string, id: number): string {
  const writable = Array.from(name.toWellFormed().replace(/[/\\\p{Cc}]/gu, "-"))
    .slice(0, 255)
    .join("");
  return namePattern.safeParse(writable).success ? writable : `id-${id}`;
}

/** SHA-256 in an unusual notation, if it can be recognized. */
function readableChecksum({ checksum, data }: LiveRecord): string {
  const attestation = isObject(data) && isObject(data.attestation) ? data.attestation : {};
  const candidates = [checksum.toLowerCase(), attestation.sha256];
  return (
    candidates.map((text) => sha256.safeParse(text).data).find((text) => text !== undefined) ?? "unknown"
  );
}

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
import { type Entry, importedManifests, type ManifestText } from "./manifests.ts";
import type { Match } from "./match-records.ts";
import type { LiveRecord } from "./read-records.ts";

export interface Downloads {
  /** Addresses found by lookup. */
  addresses: Addresses;
  /** With the placeholders of artifact_url. */
  template: string | undefined;
}

/** A release whose files change. */
export interface ReleasePlan {
  version: string;
  releaseYaml: string | undefined;
  manifests: ManifestText[];
}

/** Files of every release with new or changed records, ascending by version. */
export function planReleases(
  records: readonly LiveRecord[],
  match: Match,
  existing: Existing,
  config: Settings,
  downloads: Downloads,
  schemas: string,
): ReleasePlan[] {
  const renewed = new Set([...match.added, ...match.revised, ...match.restored].map(({ id }) => id));
  const addressed = downloads.addresses.size > 0 || downloads.template !== undefined ? match.unchanged : [];
  for (const record of addressed)
    if (isReaddressed(record, existing, config, downloads)) renewed.add(record.id);
  const plans: ReleasePlan[] = [];
  const groups = Map.groupBy(records, (record) => record.version);
  for (const version of new Set([...groups.keys(), ...existing.releases.keys()])) {
    const group = groups.get(version) ?? [];
    const present = existing.releases.get(version);
    if (!group.some(({ id }) => renewed.has(id)) && leftovers(version, existing).length === 0) continue;
    const entries = releaseEntries(version, group, renewed, existing, config, downloads);
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
function isReaddressed(
  record: LiveRecord,
  existing: Existing,
  config: Settings,
  downloads: Downloads,
): boolean {
  const file = existing.ledger.byId.get(record.id)?.add.file ?? "";
  const entry = existing.entries.get(identity(record.version, file));
  return entry !== undefined && newEntry(record, file, existing, config, downloads).url !== entry.url;
}

/** Entries written by import, by id: unchanged ones and new ones. */
function releaseEntries(
  version: string,
  group: readonly LiveRecord[],
  renewed: ReadonlySet<number>,
  existing: Existing,
  config: Settings,
  downloads: Downloads,
): Entry[] {
  const { ledger } = existing;
  const fresh = group.filter(({ id }) => !ledger.byId.has(id));
  const files = fileNames(fresh, group, takenFiles(version, existing), downloads.addresses);
  const entries = new Map(keptEntries(version, existing).map((entry) => [entry.id, entry]));
  for (const record of group) {
    if (!renewed.has(record.id)) continue;
    const file = ledger.byId.get(record.id)?.add.file ?? files.get(record.id) ?? `id-${record.id}`;
    entries.set(record.id, { id: record.id, artifact: newEntry(record, file, existing, config, downloads) });
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

function newEntry(
  record: LiveRecord,
  file: string,
  existing: Existing,
  config: Settings,
  { addresses, template }: Downloads,
) {
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
  const kept = new Kept(record);
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
  return { ...entry, ...dataParts(record, kept, config), ...kept.parts() };
}

function dataParts(record: LiveRecord, kept: Kept, { wire }: Settings): Partial<WrittenArtifact> {
  if (recordShape(wire).safeParse({ data: record.data }).success && isObject(record.data)) {
    return neutralData(record.data, wire);
  }
  kept.asItIs("data");
  return {};
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
class Kept {
  private readonly record: LiveRecord;
  private readonly verbatim = new Map<string, unknown>();
  private readonly absent: string[] = [];

  constructor(record: LiveRecord) {
    this.record = record;
  }

  asItIs(field: string): void {
    if (Object.hasOwn(this.record, field)) this.verbatim.set(field, this.record[field]);
    else this.absent.push(field);
  }

  /** Keeps the original value, and returns its replacement for the entry. */
  instead(field: string, value: string): string {
    this.asItIs(field);
    return value;
  }

  unlessEqual(field: string, value: unknown): void {
    if (this.record[field] !== value) this.asItIs(field);
  }

  /** Omits fields with their default value. */
  unless(field: Simple, standard: unknown): Partial<WrittenArtifact> {
    const value = this.record[field];
    if (value === standard && value !== undefined) return {};
    if (packageRecordSchema.shape[field].safeParse(value).success) return { [field]: value };
    this.asItIs(field);
    return {};
  }

  parts(): Partial<WrittenArtifact> {
    return {
      ...(this.verbatim.size > 0 && { verbatim: Object.fromEntries(this.verbatim) }),
      ...(this.absent.length > 0 && { absent: this.absent as NonNullable<WrittenArtifact["absent"]> }),
    };
  }
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

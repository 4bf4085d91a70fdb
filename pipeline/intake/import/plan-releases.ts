import { name as namePattern, sha256 } from "../../../shared/fields.ts";
import type { Settings } from "../../documents/config.ts";
import { isObject } from "../../documents/is-object.ts";
import type { WrittenArtifact } from "../../documents/manifest.ts";
import { packageRecordSchema } from "../../documents/package-record.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { identity } from "../../ledger/ledger-records.ts";
import { artifactUrl } from "../../ledger/publish-records.ts";
import type { ParsedRelease } from "../../project/parse.ts";
import { neutralData, recordShape } from "../../records/verbatim.ts";
import { typeKey } from "./catalog-rows.ts";
import { releaseDate, verbatimDates } from "./dates.ts";
import { type Existing, importedArtifacts } from "./existing.ts";
import { type Addresses, fileNames } from "./file-names.ts";
import { type Entry, importedManifests, isImported, type ReleasePlan } from "./manifests.ts";
import type { Match } from "./match-records.ts";
import type { LiveRecord } from "./read-records.ts";

export interface Downloads {
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
    const written = present ? writtenEntries(present, existing.ledger) : [];
    if (!group.some(({ id }) => renewed.has(id)) && written.every(({ id }) => id !== undefined)) continue;
    // An unreadable release.yaml counts as present, because import never replaces an existing one.
    const hasFile = present && !present.problems.some(({ code }) => code === "release-missing");
    const entries = releaseEntries(version, group, written, renewed, planning);
    const imported = present?.manifests.filter(({ file }) => isImported(file)) ?? [];
    plans.push({
      version,
      releaseYaml: hasFile ? undefined : releaseYaml(version, releaseDate(version, group), schemas),
      manifests: importedManifests(version, entries, imported.length),
    });
  }
  return plans.sort((a, b) => (a.version < b.version ? -1 : 1));
}

type WrittenEntry = Pick<Entry, "artifact"> & { id: number | undefined };

/** Entries that import wrote. One without an id is from an interrupted import, and is overwritten. */
const writtenEntries = (release: ParsedRelease, { byIdentity }: Ledger): WrittenEntry[] =>
  importedArtifacts(release).map((artifact) => ({
    id: byIdentity.get(identity(release.version, artifact.file ?? artifact.name))?.add.id,
    artifact,
  }));

const releaseYaml = (version: string, date: string, schemas: string) =>
  `# yaml-language-server: $schema=../../${schemas}/release.schema.json\nversion: ${version}\ndate: ${date}\n`;

/** An unchanged record whose address has become known. */
function isReaddressed(record: LiveRecord, planning: Planning): boolean {
  const { entries, ledger } = planning.existing;
  const file = ledger.byId.get(record.id)?.add.file ?? "";
  const entry = entries.get(identity(record.version, file));
  return entry !== undefined && newEntry(record, file, planning).url !== entry.url;
}

/** The entries of a release, unchanged ones and new ones, ascending by id. */
function releaseEntries(
  version: string,
  group: readonly LiveRecord[],
  written: readonly WrittenEntry[],
  renewed: ReadonlySet<number>,
  planning: Planning,
): Entry[] {
  const { existing, addresses } = planning;
  const { ledger, releases } = existing;
  const cut = ledger.ofVersion(version).map(({ add }) => add.file);
  const others = releases.get(version)?.manifests.filter(({ file }) => !isImported(file)) ?? [];
  const taken = others.flatMap(({ value }) => value.artifacts.map(({ file, name }) => file ?? name));
  const fresh = group.filter(({ id }) => !ledger.byId.has(id));
  const files = fileNames(fresh, group, [...cut, ...taken], addresses);
  const entries = new Map(written.flatMap(({ id, artifact }) => (id === undefined ? [] : [[id, artifact]])));
  for (const record of group) {
    if (!renewed.has(record.id)) continue;
    const file = ledger.byId.get(record.id)?.add.file ?? files.get(record.id) ?? `id-${record.id}`;
    entries.set(record.id, newEntry(record, file, planning));
  }
  return [...entries].map(([id, artifact]) => ({ id, artifact })).sort((a, b) => a.id - b.id);
}

function newEntry(record: LiveRecord, file: string, planning: Planning): WrittenArtifact {
  const { existing, config, addresses, template } = planning;
  const before = existing.entries.get(identity(record.version, file));
  const facts = { file, url: addresses.get(record.id)?.url ?? before?.url, size: before?.size };
  const entry = artifactEntry(record, facts, config);
  if (template === undefined || entry.url !== undefined) return entry;
  const of = { ...record, name: entry.name, package_type: entry.package_type, checksum: entry.sha256 };
  const url = artifactUrl(of, file, { ...config, artifactUrl: template });
  // Omits an address that artifact_url gives anyway.
  return url === artifactUrl(of, file, config) ? entry : artifactEntry(record, { ...facts, url }, config);
}

interface FileFacts {
  file: string;
  url: string | undefined;
  size: number | undefined;
}

/** The entry normalizes to exactly this record; `verbatim` and `absent` have what it cannot express otherwise. */
function artifactEntry(
  record: LiveRecord,
  { file, url, size }: FileFacts,
  { packageTypes, wire }: Settings,
): WrittenArtifact {
  const { id, data } = record;
  const isHere = (field: string) => Object.hasOwn(record, field);
  const type = packageTypes.get(typeKey(record.package_type));
  const name = namePattern.safeParse(record.name).success ? record.name : writableName(record.name, id);
  const package_type = typeKey(record.package_type);
  const checksum = readableChecksum(record);
  const usual = { description: type?.description, ...usualValues };
  const { shape } = packageRecordSchema;
  const stated = (Object.keys(usual) as (keyof typeof usual)[]).filter(
    (field) => record[field] !== usual[field] && shape[field].safeParse(record[field]).success,
  );
  const plain = Object.fromEntries(stated.map((field) => [field, record[field]])) as Partial<WrittenArtifact>;
  const { description, ...others } = plain;
  const { operating_system, platform } = type ?? {};
  const given: Record<string, unknown> = {
    ...{ name, package_type, description: usual.description },
    // Even a record with the word "unknown" keeps it in `verbatim`: an entry alone may not say it.
    checksum: checksum === "unknown" ? undefined : checksum,
    ...{ ...usualValues, ...plain, operating_system, platform },
  };
  const isNeutral = isObject(data) && recordShape(wire).safeParse({ data }).success;
  const kept = [
    ...Object.keys(given).filter((field) => !isHere(field) || record[field] !== given[field]),
    ...verbatimDates(record),
    ...Object.keys(record).filter((field) => !Object.hasOwn(shape, field)),
    ...(isNeutral ? [] : ["data"]),
  ];
  const verbatim = Object.fromEntries(kept.filter(isHere).map((field) => [field, record[field]]));
  const absent = kept.filter((field) => !isHere(field)) as NonNullable<WrittenArtifact["absent"]>;
  return {
    name,
    ...(file !== name && { file }),
    package_type,
    ...(description !== undefined && { description }),
    sha256: checksum,
    ...(size !== undefined && { size }),
    ...(url !== undefined && { url }),
    ...others,
    ...(isNeutral && neutralData(data, wire)),
    ...(Object.keys(verbatim).length > 0 && { verbatim }),
    ...(absent.length > 0 && { absent }),
  };
}

/** Values that an entry has if it does not state others. */
const usualValues = {
  min_os_version: null,
  max_os_version: null,
  gui_only: false,
  headless: false,
  exclude_from_api: false,
  only_for_account: null,
};

/** Replaces a name that a ledger line cannot contain. */
function writableName(name: string, id: number): string {
  const writable = Array.from(name.toWellFormed().replace(/[/\\\p{Cc}]/gu, "-"))
    .slice(0, 255)
    .join("");
  return namePattern.safeParse(writable).success ? writable : `id-${id}`;
}

/** The SHA-256, also in an unusual notation. */
function readableChecksum({ checksum, data }: LiveRecord): string {
  const attestation = isObject(data) && isObject(data.attestation) ? data.attestation : {};
  const candidates = [checksum, checksum.toLowerCase(), attestation.sha256];
  return (
    candidates.map((text) => sha256.safeParse(text).data).find((text) => text !== undefined) ?? "unknown"
  );
}

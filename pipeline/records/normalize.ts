import { hash } from "node:crypto";
import { architectureOf } from "../../shared/package-metadata.ts";
import type { PackageType } from "../../shared/package-types.ts";
import type { Attestation } from "../documents/attestation.ts";
import type { Settings } from "../documents/config.ts";
import { isObject } from "../documents/is-object.ts";
import type { WrittenArtifact } from "../documents/manifest.ts";
import { packageRecordSchema, type RecordContent, type RecordData } from "../documents/package-record.ts";
import { inOrder } from "../documents/record-fields.ts";
import type { WrittenRelease } from "../documents/release.ts";
import type { ParsedRelease } from "../project/parse.ts";
import type { Artifact, ArtifactOutline, Release } from "./artifact.ts";
import { mergeArtifacts } from "./merge.ts";
import { normalizeNotes } from "./notes.ts";
import { repositoryName } from "./repository-name.ts";
import { asImported, readable, verbatimOf } from "./verbatim.ts";

export type { Artifact, ArtifactOutline, OutlinedRelease, Release } from "./artifact.ts";

/** Normalizes a release that passed its rules; conflicting manifests are problems. */
export function normalizeRelease(parsed: ParsedRelease, config: Settings) {
  const claims = parsed.manifests.flatMap((manifest) =>
    manifest.value.artifacts.flatMap((written, index) => {
      const type = config.packageTypes.get(written.package_type);
      const place = () => manifest.place(["artifacts", index]);
      if (!type) return [];
      const artifact = normalizeArtifact(written, parsed.version, type, config);
      return [Object.assign(artifact, { origin: { manifest: manifest.file, index }, place })];
    }),
  );
  const { artifacts, problems } = mergeArtifacts(claims);
  const written: WrittenRelease = parsed.release?.value ?? { version: parsed.version, date: "1970-01-01" };
  const fragments = parsed.notes.map(({ value }) => value);
  const notes = normalizeNotes(written, fragments, config);
  const securityNotes = notes.filter(({ security }) => security);
  const release: Release = {
    version: parsed.version,
    folder: parsed.folder,
    date: written.date,
    corrected: written.corrected,
    summary: written.summary?.trim() || null,
    notes,
    ...(securityNotes.length > 0 && { securityNotes }),
    artifacts: artifacts.map((artifact) => {
      const { metadata } = artifact;
      return Object.assign(artifact, {
        repository: repositoryName(metadata),
        arch: architectureOf(metadata),
      });
    }),
    complete:
      parsed.problems.length === 0 &&
      claims.length === parsed.manifests.flatMap(({ value }) => value.artifacts).length,
  };
  return { release, problems };
}

export const isPrivate = (content: ArtifactOutline["content"]) =>
  content.exclude_from_api || content.only_for_account !== null;

function normalizeArtifact(stated: WrittenArtifact, version: string, type: PackageType, config: Settings) {
  const written = readable(stated, config.wire);
  const verbatim = verbatimOf(stated);
  const importedData = verbatim?.fields.data;
  const content: Artifact["content"] = {
    name: written.name,
    version,
    description: written.description ?? type.description,
    checksum: written.sha256,
    operating_system: written.operating_system ?? type.operating_system,
    min_os_version: written.min_os_version ?? null,
    max_os_version: written.max_os_version ?? null,
    package_type: written.package_type,
    exclude_from_api: written.exclude_from_api ?? false,
    gui_only: written.gui_only ?? false,
    headless: written.headless ?? false,
    platform: written.platform ?? type.platform,
    only_for_account: written.only_for_account ?? null,
  };
  const data = isObject(importedData) ? importedData : wireData(written, config.wire);
  return {
    file: written.file ?? written.name,
    url: written.url ?? null,
    size: written.size ?? null,
    content,
    data,
    verbatim,
    ...(written.package && { metadata: written.package }),
    ...(written.documents && {
      documents: written.documents,
      documentKinds: written.documents.map(({ kind }) => kind),
    }),
    ...(written.inspected && { inspected: written.inspected }),
    contentHash: hashContent(asImported(contentOf(content, data), verbatim, [])),
  };
}

/** `data` with its published key names. Reading a manifest has put the members of each part in published order. */
function wireData({ store, vendor, attestation }: WrittenArtifact, wire: Settings["wire"]): RecordData {
  return compact({
    store,
    [wire.vendor]: vendor,
    attestation: attestation && wireAttestation(attestation, wire),
  });
}

function wireAttestation(
  { key_id, sha256, signature, cryptolib_post, file_signatures }: Attestation,
  wire: Settings["wire"],
) {
  return compact({ key_id, sha256, signature, [wire.cryptolib_post]: cryptolib_post, file_signatures });
}

function compact(object: RecordData): RecordData {
  const kept: RecordData = {};
  for (const key of Object.keys(object)) if (object[key] !== undefined) put(kept, key, object[key]);
  return kept;
}

/** A plain assignment of `__proto__` would set the object's prototype. */
function put(object: RecordData, key: string, value: unknown): void {
  if (key !== "__proto__") object[key] = value;
  else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

/** The 14 fields that come from a release's files; the ledger adds the id and the dates. */
export const contentOf = (content: Artifact["content"], data: RecordData): RecordContent =>
  inOrder({ ...content, data });

/** `content` of a ledger line: 14 fields in order, keys inside `data` sorted by code unit. */
export function hashContent(content: Readonly<Partial<RecordContent>>): string {
  return hash("sha256", JSON.stringify({ ...content, data: sortKeys(content.data) }));
}

function sortKeys(value: unknown): unknown {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(sortKeys);
  const object = value as RecordData;
  const sorted: RecordData = {};
  for (const key of Object.keys(object).sort()) put(sorted, key, sortKeys(object[key]));
  return sorted;
}

const contentFields = Object.keys(packageRecordSchema.shape);
const outsideContent = ["id", "created_date", "modified_date"];

/** `content` of a listed record in its ledger line. */
export function contentHashOf(record: Readonly<Record<string, unknown>>): string {
  const fields = [...contentFields, ...Object.keys(record).filter((field) => !contentFields.includes(field))];
  const present = fields.filter((field) => !outsideContent.includes(field) && Object.hasOwn(record, field));
  return hashContent(Object.fromEntries(present.map((field) => [field, record[field]])));
}

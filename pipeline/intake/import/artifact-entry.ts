import { name as namePattern, sha256 } from "../../../shared/fields.ts";
import type { Settings } from "../../documents/config.ts";
import { isObject } from "../../documents/is-object.ts";
import type { WrittenArtifact } from "../../documents/manifest.ts";
import { packageRecordSchema } from "../../documents/package-record.ts";
import { neutralData, recordShape } from "../../records/verbatim.ts";
import { typeKey } from "./catalog-rows.ts";
import { verbatimDates } from "./dates.ts";
import type { LiveRecord } from "./read-records.ts";

/** Data about the file that its record does not contain. */
export interface FileFacts {
  file: string;
  url: string | undefined;
  size: number | undefined;
}

/**
 * Creates the manifest entry that normalizes to exactly this record; fields that an entry cannot express go
 * into `verbatim`.
 */
export function artifactEntry(
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

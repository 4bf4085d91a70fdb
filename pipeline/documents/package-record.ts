import type { z } from "zod";
import {
  account,
  flag,
  freeText,
  id,
  line,
  name,
  object,
  opened,
  osVersion,
  packageType,
  sha256,
  timestamp,
  version,
} from "../../shared/fields.ts";
import { attestationSchema, storeSchema, vendorSchema } from "./attestation.ts";

/** `data` of a record; missing parts are absent, never null. */
const recordDataSchema = object({
  store: storeSchema.optional(),
  vendor: vendorSchema.optional(),
  attestation: attestationSchema.optional(),
});

/** A package record with its 17 fields; all are always present, in this order. */
export const packageRecordSchema = object({
  id: id.describe("Permanent record identifier."),
  name: name.describe("File name or label of the artifact."),
  version: version.describe("Release version."),
  description: freeText,
  checksum: sha256.describe("SHA-256 of the artifact."),
  operating_system: line,
  min_os_version: osVersion.nullable(),
  max_os_version: osVersion.nullable(),
  package_type: packageType,
  created_date: timestamp,
  modified_date: timestamp,
  data: recordDataSchema,
  exclude_from_api: flag,
  gui_only: flag,
  headless: flag,
  platform: id,
  only_for_account: account,
}).meta({ title: "Package record" });

export const publishedRecordSchema = opened(packageRecordSchema);

export type PackageRecord = z.infer<typeof packageRecordSchema>;
/** `data` as published: its key names are configurable. */
export type RecordData = Record<string, unknown>;
/** Fields that come from a release's files; id and dates come from the ledger. */
export type RecordContent = Omit<PackageRecord, "id" | "created_date" | "modified_date" | "data"> & {
  data: RecordData;
};
export type WireRecord = Omit<PackageRecord, "data"> & { data: RecordData };

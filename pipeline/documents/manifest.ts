import { z } from "zod";
import {
  account,
  checksum,
  expects,
  flag,
  freeText,
  id,
  line,
  list,
  name,
  object,
  osVersion,
  packageType,
  size,
  url,
  version,
} from "../../shared/fields.ts";
import { documentSchema, packageMetadataSchema } from "../../shared/package-metadata.ts";
import { attestationSchema, storeSchema, vendorSchema } from "./attestation.ts";
import { inspectedSchema } from "./policy.ts";
import { recordFields } from "./record-fields.ts";

const required = ["id", "name", "version", "checksum", "package_type"] as const;

const absentField = z.enum(
  recordFields.filter((field) => !(required as readonly string[]).includes(field)),
  expects("option-value", "a field of a record that it can lack"),
);

export const artifactSchema = object({
  name: name.describe("File name or label in the catalog."),
  file: name.optional().describe("Name of the downloaded file; default: name."),
  package_type: packageType.describe("A row of the package type table."),
  description: freeText.optional().describe("Free text; default: that of the package type."),
  sha256: checksum.describe("SHA-256 of the downloaded file."),
  size: size.optional().describe("Size of the downloaded file in bytes."),
  url: url.optional().describe("URL of the file; default: artifact_url of catalog.yaml."),
  operating_system: line.optional().describe("Must match the package type's row."),
  platform: id.optional().describe("Must match the package type's row."),
  min_os_version: osVersion.nullish().describe("Lowest supported OS version."),
  max_os_version: osVersion.nullish().describe("Highest supported OS version."),
  gui_only: flag.optional().describe("true for graphical-component packages."),
  headless: flag.optional().describe("true for core packages without a GUI."),
  exclude_from_api: flag.optional().describe("true hides the record from everything public."),
  only_for_account: account
    .optional()
    .describe("A value other than null hides the record from everything public."),
  store: storeSchema.optional().describe("Images only: the build output."),
  vendor: vendorSchema.optional().describe("Images only: sources and recipe of the build."),
  attestation: attestationSchema.optional(),
  inspected: inspectedSchema.optional().describe("Result of relcat ingest's inspection."),
  package: packageMetadataSchema
    .optional()
    .describe("Metadata from the package itself, for package repositories."),
  documents: list(documentSchema)
    .optional()
    .describe("Files next to the artifact that say something about it."),
  verbatim: z
    .record(z.string(), z.unknown(), expects("wrong-type", "an object of field: value"))
    .optional()
    .describe("Imported records only: fields of the record that break a rule, unchanged."),
  absent: list(absentField).optional().describe("Imported records only: fields that the record lacks."),
});

export const manifestSchema = object({
  release: version.describe("The release of these artifacts."),
  artifacts: list(artifactSchema),
}).meta({ title: "Build output manifest" });

export type WrittenArtifact = z.infer<typeof artifactSchema>;
export type Manifest = z.infer<typeof manifestSchema>;

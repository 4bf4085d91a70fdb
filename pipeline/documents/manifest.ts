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

/** One artifact as a build job describes it. */
export const artifactSchema = object({
  name: name.meta({ description: "File name or label in the catalog." }),
  file: name.optional().meta({ description: "Name of the downloaded file; default: name." }),
  package_type: packageType.meta({ description: "A row of the package type table." }),
  description: freeText.optional().meta({ description: "Free text; default: that of the package type." }),
  sha256: checksum.meta({ description: "SHA-256 of the downloaded file." }),
  size: size.optional().meta({ description: "Size of the downloaded file in bytes." }),
  url: url.optional().meta({ description: "URL of the file; default: artifact_url of catalog.yaml." }),
  operating_system: line.optional().meta({ description: "Must match the package type's row." }),
  platform: id.optional().meta({ description: "Must match the package type's row." }),
  min_os_version: osVersion.nullable().optional().meta({ description: "Lowest supported OS version." }),
  max_os_version: osVersion.nullable().optional().meta({ description: "Highest supported OS version." }),
  gui_only: flag.optional().meta({ description: "true for graphical-component packages." }),
  headless: flag.optional().meta({ description: "true for core packages without a GUI." }),
  exclude_from_api: flag.optional().meta({ description: "true hides the record from everything public." }),
  only_for_account: account
    .optional()
    .meta({ description: "A value other than null hides the record from everything public." }),
  store: storeSchema.optional().meta({ description: "Images only: the build output." }),
  vendor: vendorSchema.optional().meta({ description: "Images only: sources and recipe of the build." }),
  attestation: attestationSchema.optional(),
  inspected: inspectedSchema.optional().meta({ description: "Result of relcat ingest's inspection." }),
  package: packageMetadataSchema
    .optional()
    .meta({ description: "Metadata from the package itself, for package repositories." }),
  documents: list(documentSchema)
    .optional()
    .meta({ description: "Files next to the artifact that say something about it." }),
  verbatim: z
    .record(z.string(), z.unknown(), expects("wrong-type", "an object of field: value"))
    .optional()
    .meta({ description: "Imported records only: fields of the record that break a rule, unchanged." }),
  absent: list(absentField)
    .optional()
    .meta({ description: "Imported records only: fields that the record lacks." }),
});

/** The artifacts of one build job for a release. */
export const manifestSchema = object({
  release: version.meta({ description: "The release of these artifacts." }),
  artifacts: list(artifactSchema),
}).meta({ title: "Build output manifest" });

export type WrittenArtifact = z.infer<typeof artifactSchema>;
export type Manifest = z.infer<typeof manifestSchema>;

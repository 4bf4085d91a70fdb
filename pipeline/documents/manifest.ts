import type { z } from "zod";
import { attestationSchema, storeSchema, vendorSchema } from "./attestation.ts";
import { account, flag, freeText, id, line, list, name, object, osVersion, packageType, sha256, size, url, version } from "./fields.ts";

/** One artifact as a build job describes it. */
export const artifactSchema = object({
  name: name.meta({ description: "File name or label, as the catalog shows it." }),
  file: name.optional().meta({ description: "File name people download; default: name." }),
  package_type: packageType.meta({ description: "A row of the package type table." }),
  description: freeText.optional().meta({ description: "Free text; default: the package type's." }),
  sha256: sha256.meta({ description: "SHA-256 of the file people download." }),
  size: size.optional().meta({ description: "Size of that file in bytes." }),
  url: url.optional().meta({ description: "Where the file lies; default: artifact_url of catalog.yaml." }),
  operating_system: line.optional().meta({ description: "As the package type's row says." }),
  platform: id.optional().meta({ description: "As the package type's row says." }),
  min_os_version: osVersion.nullable().optional().meta({ description: "Lowest supported OS version." }),
  max_os_version: osVersion.nullable().optional().meta({ description: "Highest supported OS version." }),
  gui_only: flag.optional().meta({ description: "true for graphical-component packages." }),
  headless: flag.optional().meta({ description: "true for core packages without a GUI." }),
  exclude_from_api: flag.optional().meta({ description: "true keeps the record out of everything public." }),
  only_for_account: account.optional().meta({ description: "Not null keeps the record out of everything public." }),
  store: storeSchema.optional().meta({ description: "Images only: the build output." }),
  vendor: vendorSchema.optional().meta({ description: "Images only: sources and recipe of the build." }),
  attestation: attestationSchema.optional(),
});

/** What one build job leaves behind for a release. */
export const manifestSchema = object({
  release: version.meta({ description: "The release these artifacts belong to." }),
  artifacts: list(artifactSchema),
}).meta({ title: "Build output manifest" });

export type WrittenArtifact = z.infer<typeof artifactSchema>;
export type Manifest = z.infer<typeof manifestSchema>;

import { z } from "zod";
import { expects, flag, freeText, line, list, object, sha256, size, text } from "./fields.ts";

/** Architectures as Debian names them; `all` is for packages that run on every machine. */
export const architectureNames = [
  ...["amd64", "arm64", "armhf", "i386", "ppc64el", "riscv64", "s390x"],
  "all",
] as const;

/** Upper limit for `package` of an artifact, as JSON. */
export const maxMetadataBytes = 256 * 1024;

const arch = z.enum(architectureNames, expects("option-value", `one of ${architectureNames.join(", ")}`));
const whole = z.int(expects("wrong-type", "a whole number")).min(0);

/** deb-control(5): the paragraph as it is in the package, without the fields that a repository adds. */
const debSchema = object({ type: z.literal("deb"), arch, control: freeText });

const rpmFlags = z.enum(["EQ", "LT", "GT", "LE", "GE"], expects("option-value", "EQ, LT, GT, LE or GE"));

/** A dependency of an rpm. `epoch`, `version` and `release` are present if `flags` is. */
const rpmEntry = object({
  name: freeText,
  flags: rpmFlags.optional(),
  epoch: freeText.optional(),
  version: freeText.optional(),
  release: freeText.optional(),
  pre: flag.optional(),
});

const rpmFile = object({
  path: freeText,
  type: z.enum(["file", "dir", "ghost"], expects("option-value", "file, dir or ghost")),
});

/** The header of an rpm, as far as a repository's `primary.xml` repeats it. */
const rpmSchema = object({
  type: z.literal("rpm"),
  name: line,
  epoch: whole,
  version: line,
  release: line,
  arch,
  native_arch: line.meta({ description: "The architecture as rpm names it, such as i686 or noarch." }),
  summary: freeText,
  description: freeText,
  url: freeText.optional(),
  packager: freeText.optional(),
  license: freeText.optional(),
  vendor: freeText.optional(),
  group: freeText.optional(),
  buildhost: freeText.optional(),
  sourcerpm: freeText.optional(),
  build_time: whole.meta({ description: "Seconds since 1970." }),
  size: object({ installed: size, archive: size }),
  header_range: z.tuple([size, size]).meta({ description: "Offsets of the header in the file." }),
  provides: list(rpmEntry),
  requires: list(rpmEntry),
  conflicts: list(rpmEntry),
  obsoletes: list(rpmEntry),
  recommends: list(rpmEntry),
  suggests: list(rpmEntry),
  supplements: list(rpmEntry),
  enhances: list(rpmEntry),
  files: list(rpmFile),
});

/** Chart.yaml as an object. */
const chartSchema = object({
  type: z.literal("helm"),
  chart: z.record(z.string(), z.unknown(), expects("wrong-type", "the chart's Chart.yaml as an object")),
});

const msiSchema = object({
  type: z.literal("msi"),
  product_name: line,
  manufacturer: line,
  product_version: line,
  product_code: line,
  upgrade_code: line.optional(),
  arch,
  scope: z.enum(["machine", "user"], expects("option-value", "machine or user")),
});

const pkgSchema = object({
  type: z.literal("pkg"),
  identifier: line,
  version: line,
  arch: arch.optional(),
  min_os: line.optional(),
});

/** A file that states no more than its architecture. */
const plainSchema = object({ type: z.literal("archive"), arch });

const imageSchema = object({
  type: z.literal("image"),
  arch: arch.optional(),
  format: line,
  compression: line.optional(),
  virtual_size: size.optional(),
  inner_sha256: sha256.optional().meta({ description: "SHA-256 of the image without compression." }),
  boot: z.enum(["bios", "uefi", "both"], expects("option-value", "bios, uefi or both")).optional(),
  incus: object({
    os: line,
    release: line,
    description: line,
    metadata_sha256: sha256,
    metadata_size: size,
    combined_sha256: sha256.meta({ description: "SHA-256 of the metadata tarball followed by the image." }),
  })
    .optional()
    .meta({ description: "Images for Incus: the metadata tarball that relcat makes for it." }),
});

/** Facts that a package states about itself; by the format of the package. */
export const packageMetadataSchema = z.discriminatedUnion(
  "type",
  [debSchema, rpmSchema, chartSchema, msiSchema, pkgSchema, imageSchema, plainSchema],
  expects("package-metadata", "one of deb, rpm, helm, msi, pkg, archive, image"),
);

/** A file next to an artifact that says something about it. */
export const documentSchema = object({
  kind: z.enum(
    ["sbom", "attestation", "signature", "provenance"],
    expects("option-value", "sbom, attestation, signature or provenance"),
  ),
  format: text("option-value", /^[a-z0-9][a-z0-9-]{0,31}$/, "a format such as helm-prov"),
  file: line,
  sha256,
  size,
});

export type Architecture = (typeof architectureNames)[number];
export type DebMetadata = z.infer<typeof debSchema>;
export type RpmMetadata = z.infer<typeof rpmSchema>;
export type RpmEntry = z.infer<typeof rpmEntry>;
export type ChartMetadata = z.infer<typeof chartSchema>;
export type MsiMetadata = z.infer<typeof msiSchema>;
export type PkgMetadata = z.infer<typeof pkgSchema>;
export type ImageMetadata = z.infer<typeof imageSchema>;
export type PackageMetadata = z.infer<typeof packageMetadataSchema>;
export type ArtifactDocument = z.infer<typeof documentSchema>;

/** The architecture, if the package states one. */
export const architectureOf = (metadata: PackageMetadata | undefined): Architecture | undefined =>
  metadata && "arch" in metadata ? metadata.arch : undefined;

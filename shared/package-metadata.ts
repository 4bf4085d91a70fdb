import { z } from "zod";
import { controlFault, parseParagraph } from "./control-paragraph.ts";
import { expects, flag, freeText, line, list, name, object, sha256, size, text, version } from "./fields.ts";
import type { Kind } from "./package-types.ts";

const processors =
  "alpha amd64 arc arm arm64 armeb armel armhf avr32 hppa i386 ia64 loong64 m32r m68k mips mips64 mips64el mips64r6 " +
  "mips64r6el mipsel mipsr6 mipsr6el nios2 or1k powerpc powerpcel ppc64 ppc64el riscv64 s390 s390x sh3 sh3eb sh4 sh4eb " +
  "sparc sparc64 tilegx";
const usual = "amd64, arm64, armhf, i386, ppc64el, riscv64, s390x";
const processorsOfLinux = "arm64ilp32 mipsn32 mipsn32el mipsn32r6 mipsn32r6el powerpcspe x32";

/** Architectures of Linux with glibc, as Debian names them, the usual ones first; `all` is for packages that run on every machine. */
export const architectureNames = [
  ...new Set([...usual.split(", "), ...`${processors} ${processorsOfLinux}`.split(" ").sort()]),
  "all",
];

const systems =
  "aix darwin dragonflybsd freebsd hurd kfreebsd knetbsd kopensolaris mint musl-linux netbsd openbsd solaris " +
  "uclibc-linux uclinux";

/** All of `dpkg-architecture -L`: architectures of other systems have a prefix, such as hurd-amd64. */
const dpkgName = `(?:(?:${systems.replaceAll(" ", "|")})-)?(?:${processors.replaceAll(" ", "|")})|${processorsOfLinux.replaceAll(" ", "|")}`;

export const machineArchitecture = text(
  "option-value",
  new RegExp(`^(?:${dpkgName})$`),
  `a Debian architecture such as ${usual}`,
);

/** Upper limit for `package` of an artifact, as JSON. */
export const maxMetadataBytes = 256 * 1024;

/** Excludes what XML 1.0 cannot express, because the indexes of rpm are XML. */
const forXml = (text: z.ZodString, refused: RegExp, expected: string) =>
  text
    .max(maxMetadataBytes, expects("text-format", expected))
    .refine((value) => !refused.test(value), expects("text-format", expected));
const xmlText = forXml(freeText, /[^\P{Cc}\t\n\r]|[\ufffe\uffff]/u, "text without control characters");
const xmlLine = forXml(line, /[\ufffe\uffff]/, "one line of text, not empty and without control characters");

export const architecture = text(
  "option-value",
  new RegExp(`^(?:${dpkgName}|all)$`),
  `a Debian architecture such as ${usual}, or all`,
);
const arch = architecture;
const whole = z.int(expects("wrong-type", "a whole number")).min(0);

const unfit = (expected: string) => ({ code: "custom" as const, message: `package-metadata|${expected}` });

/** deb-control(5): the paragraph as it is in the package, without final line feeds. */
const debSchema = object({
  type: z.literal("deb"),
  arch,
  control: freeText.superRefine((control, { addIssue }) => {
    const fault = controlFault(control);
    if (fault) addIssue(unfit(`the control paragraph of a package; this one ${fault}`));
  }),
}).superRefine(({ arch, control }, { addIssue }) => {
  const fields = parseParagraph(control);
  const stated = typeof fields === "string" ? undefined : fields.get("architecture");
  if (stated !== undefined && stated !== arch)
    addIssue({ ...unfit(`${stated}, as the control paragraph says`), path: ["arch"] });
});

const rpmFlags = z.enum(["EQ", "LT", "GT", "LE", "GE"], expects("option-value", "EQ, LT, GT, LE or GE"));

/** A dependency of an rpm. `epoch`, `version` and `release` are present if `flags` is. */
const rpmEntry = object({
  name: xmlLine,
  flags: rpmFlags.optional(),
  epoch: xmlLine.optional(),
  version: xmlLine.optional(),
  release: xmlLine.optional(),
  pre: flag.optional(),
});

const rpmFile = object({
  path: xmlLine,
  type: z.enum(["file", "dir", "ghost"], expects("option-value", "file, dir or ghost")),
});

const rpmChange = object({
  author: xmlText.describe("The author of the change, usually followed by a version."),
  time: whole.describe("Seconds since 1970."),
  text: xmlText,
});

/** Source rpms have no metadata, because repositories of built packages do not list them. */
export const sourcePackage = {
  isNamed: (file: string): boolean => /\.(?:no)?src\.rpm$/i.test(file),
  /** A clause that completes "is not in the feed, because …". */
  reason: "it is a source package, and the feed lists built packages only",
  hint: 'Release it: it can be downloaded like any other file. To ingest no source packages, add "*src.rpm" to ignore: in catalog.yaml.',
} as const;

/** Files of an rpm that `primary.xml` lists. */
export const isPrimaryFile = (path: string): boolean =>
  path.startsWith("/etc/") || path === "/usr/lib/sendmail" || path.includes("bin/");

/** The header of an rpm, as far as a repository's `primary.xml` repeats it. */
const rpmSchema = object({
  type: z.literal("rpm"),
  name: xmlLine,
  epoch: whole,
  version: xmlLine,
  release: xmlLine,
  arch: arch.optional(),
  native_arch: xmlLine.describe("The architecture as rpm names it, such as i686 or noarch."),
  summary: xmlText,
  description: xmlText,
  url: xmlText.optional(),
  packager: xmlText.optional(),
  license: xmlText.optional(),
  vendor: xmlText.optional(),
  group: xmlText.optional(),
  buildhost: xmlText.optional(),
  sourcerpm: xmlText.optional(),
  build_time: whole.describe("Seconds since 1970."),
  size: object({ installed: size, archive: size }),
  header_range: z.array(size).length(2).describe("Offsets of the header in the file."),
  provides: list(rpmEntry),
  requires: list(rpmEntry),
  conflicts: list(rpmEntry),
  obsoletes: list(rpmEntry),
  recommends: list(rpmEntry),
  suggests: list(rpmEntry),
  supplements: list(rpmEntry),
  enhances: list(rpmEntry),
  files: list(rpmFile),
  changelogs: list(rpmChange)
    .optional()
    .describe("The ten newest changelog entries, the oldest first; only if feeds.yum.changelogs is set."),
});

const chartSchema = object({
  type: z.literal("helm"),
  chart: z
    .looseObject({ name: line, version: line }, expects("wrong-type", "the chart's Chart.yaml as an object"))
    .superRefine((chart, { addIssue }) => {
      const fault = valueFault(chart, maxNesting);
      if (fault) addIssue(unfit(`the chart's Chart.yaml as an object; this one ${fault}`));
    }),
});

/** Far more than the fields of Chart.yaml need, and less than a manifest may have. */
const maxNesting = 16;

/** A clause that says why a value cannot be repeated as JSON. */
function valueFault(value: unknown, depth: number): string | undefined {
  if (typeof value === "string" && !value.isWellFormed()) return "has half of a surrogate pair";
  if (value === null || typeof value !== "object") return undefined;
  if (depth === 0) return `is nested more than ${maxNesting} levels deep`;
  for (const [key, inner] of Object.entries(value)) {
    const fault = key === "__proto__" ? "has the key __proto__" : valueFault(key, 1);
    const found = fault ?? valueFault(inner, depth - 1);
    if (found) return found;
  }
  return undefined;
}

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

/** A disk image for Incus and LXD: the content of its metadata tarball, and the digests that clients compare. */
const incusImageSchema = object({
  os: line,
  release: version.describe("Version of the release that the image belongs to."),
  variant: line.describe("Distinguishes images of one release: the package type."),
  description: line,
  metadata_sha256: sha256,
  metadata_size: size,
  combined_sha256: sha256.describe("SHA-256 of the metadata tarball followed by the image."),
});

const imageSchema = object({
  type: z.literal("image"),
  arch: arch.optional(),
  format: line,
  compression: line.optional(),
  virtual_size: size.optional(),
  inner_sha256: sha256.optional().describe("SHA-256 of the image without compression."),
  boot: z.enum(["bios", "uefi", "both"], expects("option-value", "bios, uefi or both")).optional(),
  content: z
    .enum(
      ["container", "virtual-machine", "metadata"],
      expects("option-value", "container, virtual-machine or metadata"),
    )
    .optional()
    .describe("Archives of Incus: what is in it."),
  incus: incusImageSchema
    .optional()
    .describe("Disks for Incus: the metadata tarball that relcat makes for it."),
});

/** Members of an image that a manifest may lack: earlier versions, or those without a feed for Incus, did not write them. */
export const lateImageMembers = ["content", "incus"] as const;

export const packageMetadataSchema = z.discriminatedUnion(
  "type",
  [debSchema, rpmSchema, chartSchema, msiSchema, pkgSchema, imageSchema, plainSchema],
  expects("package-metadata", "one of deb, rpm, helm, msi, pkg, archive, image"),
);

export const documentSchema = object({
  kind: z.enum(
    ["sbom", "attestation", "signature", "provenance"],
    expects("option-value", "sbom, attestation, signature or provenance"),
  ),
  format: text("option-value", /^[a-z0-9][a-z0-9-]{0,31}$/, "a format such as cyclonedx or helm-prov"),
  version: line.optional().describe("Version of the format, as the document states it."),
  file: name,
  sha256,
  size,
});

export const documentAddress = (
  artifactUrl: string,
  artifactFile: string,
  { file }: ArtifactDocument,
): string => artifactUrl + encodeURIComponent(file.slice(artifactFile.length));

export type Architecture = z.infer<typeof architecture>;
export type DebMetadata = z.infer<typeof debSchema>;
export type RpmMetadata = z.infer<typeof rpmSchema>;
export type RpmEntry = z.infer<typeof rpmEntry>;
export type RpmChange = z.infer<typeof rpmChange>;
export type ChartMetadata = z.infer<typeof chartSchema>;
export type MsiMetadata = z.infer<typeof msiSchema>;
export type PkgMetadata = z.infer<typeof pkgSchema>;
export type ImageMetadata = z.infer<typeof imageSchema>;
export type IncusImage = z.infer<typeof incusImageSchema>;
export type PackageMetadata = z.infer<typeof packageMetadataSchema>;
export type ArtifactDocument = z.infer<typeof documentSchema>;

/** Package types whose files have one format; other clients may have any but that of images. */
const formats: Readonly<Record<string, PackageMetadata["type"]>> = {
  rpm: "rpm",
  deb: "deb",
  msi: "msi",
  pkg: "pkg",
  xz: "archive",
};

const clientFormats = ["deb", "rpm", "msi", "pkg", "archive"] as const;

export function expectedFormats(packageType: string, kind: Kind): readonly PackageMetadata["type"][] {
  if (kind === "image") return ["image"];
  if (kind === "chart") return ["helm"];
  const format = Object.hasOwn(formats, packageType) ? formats[packageType] : undefined;
  return format ? [format] : clientFormats;
}

/** The version that a package states, with the parts that its package manager adds. */
export function packageVersionOf(metadata: PackageMetadata | undefined): string | undefined {
  if (metadata?.type === "helm") return metadata.chart.version;
  if (metadata?.type === "msi") return metadata.product_version;
  if (metadata?.type === "pkg") return metadata.version;
  if (metadata?.type === "rpm")
    return `${metadata.epoch > 0 ? `${metadata.epoch}:` : ""}${metadata.version}-${metadata.release}`;
  return metadata?.type === "deb" ? /^Version:[ \t]*(\S+)/im.exec(metadata.control)?.[1] : undefined;
}

export const architectureOf = (metadata: PackageMetadata | undefined): Architecture | undefined =>
  metadata && "arch" in metadata ? metadata.arch : undefined;

import type { PackageMetadata } from "../shared/package-metadata.ts";
import type { ByteSource } from "./bytes/byte-source.ts";
import type { Inspection, InspectOptions, Reader } from "./inspection.ts";
import { isOldDeb } from "./packages/deb/archive.ts";
import { isMachO } from "./packages/macho/macho.ts";

/** Reads what a package states about itself, without checking signatures. @throws Fault */
type MetadataReader = (
  source: ByteSource,
  options: MetadataOptions,
) => Promise<PackageMetadata | undefined> | PackageMetadata | undefined;

export interface MetadataOptions {
  /** Limit on decompressed size, in bytes. */
  limit: number;
  /** Whether to list every file of an rpm. */
  filelists: boolean;
  /** Whether to read the changelog of an rpm; default: no. */
  changelogs?: boolean | undefined;
}

interface Format {
  /** Matches the first bytes. A format without it is recognized by name alone. */
  isIt?: (head: Buffer) => boolean;
  /** Matches the end of the lower-case file name. */
  named: RegExp;
  /** Imports lazily, so that one format does not load the readers of the others. */
  open(): Promise<Reader>;
  /** Kind of its metadata, which `metadata` reads. Both are absent for a format that states nothing about a package. */
  states?: PackageMetadata["type"];
  metadata?(): Promise<MetadataReader>;
}

const startsWith = (magic: string) => (head: Buffer) => head.toString("latin1").startsWith(magic);
const headSize = 16;

const formats: readonly Format[] = [
  // Provenance looks like any signed text, and a chart like any archive, so their names are matched first.
  { named: /\.prov$/, open: async () => (await import("./packages/helm/helm.ts")).inspectProvenance },
  {
    named: /\.tgz$/,
    open: async () => (await import("./packages/helm/helm.ts")).inspectChart,
    states: "helm",
    metadata: async () => (await import("./packages/helm/chart.ts")).chartMetadata,
  },
  {
    isIt: startsWith("\xed\xab\xee\xdb"),
    named: /\.rpm$/,
    open: async () => (await import("./packages/rpm/rpm.ts")).inspectRpm,
    states: "rpm",
    metadata: async () => (await import("./packages/rpm/metadata.ts")).rpmMetadata,
  },
  {
    isIt: (head) => startsWith("!<arch>\n")(head) || isOldDeb(head),
    named: /\.deb$/,
    open: async () => (await import("./packages/deb/deb.ts")).inspectDeb,
    states: "deb",
    metadata: async () => (await import("./packages/deb/contents.ts")).debMetadata,
  },
  {
    isIt: startsWith("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
    named: /\.msi$/,
    open: async () => (await import("./packages/msi/msi.ts")).inspectMsi,
    states: "msi",
    metadata: async () => (await import("./packages/msi/tables.ts")).msiMetadata,
  },
  {
    isIt: startsWith("xar!"),
    named: /\.pkg$/,
    open: async () => (await import("./packages/pkg/pkg.ts")).inspectPkg,
    states: "pkg",
    metadata: async () => (await import("./packages/pkg/metadata.ts")).pkgMetadata,
  },
  {
    isIt: startsWith("MZ"),
    named: /\.(?:exe|dll)$/,
    open: async () => (await import("./packages/pe/pe.ts")).inspectPe,
  },
  {
    isIt: isMachO,
    named: /\.dylib$/,
    open: async () => (await import("./packages/macho/file.ts")).inspectMachO,
  },
  {
    isIt: startsWith("-----BEGIN PGP "),
    named: /\.(?:asc|sig|gpg)$/,
    open: async () => (await import("./detached.ts")).inspectSignatureFile,
  },
];

const gibibyte = 2 ** 30;

/**
 * Limits on decompressed size, in bytes. Images contain whole disks, so their limit is higher; an archive of
 * files is rejected far earlier, at a thousand times its size.
 */
export const limits = { package: 4 * gibibyte, image: 64 * gibibyte } as const;

/**
 * Reports an artifact's format, whether its signatures are valid, and who made them. The first bytes decide
 * the format; the name is the fallback, so that a package with a damaged header is reported as damaged.
 * @throws only what the source throws; bad bytes give a verdict
 */
export async function inspectArtifact(
  source: ByteSource,
  options: Omit<InspectOptions, "limit">,
): Promise<Inspection> {
  const format = formatOf(source);
  const inspect = format ? await format.open() : (await import("./images/image.ts")).inspectImage;
  return inspect(source, { ...options, limit: format ? limits.package : limits.image });
}

/** @returns undefined for disks, archives (one reader distinguishes them) and unknown files */
export function formatOf(source: ByteSource): Format | undefined {
  const head = Buffer.from(source.read(0, Math.min(headSize, source.size)));
  const name = source.name.toLowerCase();
  return (
    formats.find(({ isIt, named }) => (isIt ? isIt(head) : named.test(name))) ??
    formats.find(({ named }) => named.test(name))
  );
}

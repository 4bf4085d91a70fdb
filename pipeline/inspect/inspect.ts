import type { ByteSource } from "../system/byte-source.ts";
import type { Inspection, InspectOptions, Reader } from "./inspection.ts";
import { isMachO } from "./packages/macho.ts";

/** A format of packages and signatures. */
interface Format {
  /** Told by its first bytes. Formats without are known by name alone. */
  isIt?: (head: Buffer) => boolean;
  /** What its name ends in, in lower case. */
  named: RegExp;
  /** Loads its reader, and nothing of the others. */
  open(): Promise<Reader>;
}

const startsWith = (magic: string) => (head: Buffer) => head.toString("latin1").startsWith(magic);
const headSize = 16;

const formats: readonly Format[] = [
  // Provenance is a signed text as others are, and a chart an archive as others are: names come before bytes here.
  { named: /\.prov$/, open: async () => (await import("./packages/helm.ts")).inspectProvenance },
  { named: /\.tgz$/, open: async () => (await import("./packages/helm.ts")).inspectChart },
  {
    isIt: startsWith("\xed\xab\xee\xdb"),
    named: /\.rpm$/,
    open: async () => (await import("./packages/rpm.ts")).inspectRpm,
  },
  {
    isIt: startsWith("!<arch>\n"),
    named: /\.deb$/,
    open: async () => (await import("./packages/deb.ts")).inspectDeb,
  },
  {
    isIt: startsWith("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
    named: /\.msi$/,
    open: async () => (await import("./packages/msi.ts")).inspectMsi,
  },
  {
    isIt: startsWith("xar!"),
    named: /\.pkg$/,
    open: async () => (await import("./packages/pkg.ts")).inspectPkg,
  },
  {
    isIt: startsWith("MZ"),
    named: /\.(?:exe|dll)$/,
    open: async () => (await import("./packages/pe.ts")).inspectPe,
  },
  {
    isIt: isMachO,
    named: /\.dylib$/,
    open: async () => (await import("./packages/macho-file.ts")).inspectMachO,
  },
  {
    isIt: startsWith("-----BEGIN PGP "),
    named: /\.(?:asc|sig|gpg)$/,
    open: async () => (await import("./detached.ts")).inspectSignatureFile,
  },
];

const gibibyte = 2 ** 30;

/**
 * Bytes that compressed contents may become. Of images all of it is unpacked, for its digest, and they have whole disks;
 * an archive of files is refused far earlier when it becomes a thousand times its size.
 */
export const limits = { package: 4 * gibibyte, image: 64 * gibibyte } as const;

/**
 * What the bytes of an artifact say: its format, whether its signatures hold, and whose they are. The format is told by the
 * first bytes, else by the name: a package whose beginning is damaged is a damaged package.
 * @throws what the source throws; what the bytes say is a verdict
 */
export async function inspectArtifact(
  source: ByteSource,
  options: Omit<InspectOptions, "limit">,
): Promise<Inspection> {
  const format = formatOf(source);
  const inspect = format ? await format.open() : (await import("./images/image.ts")).inspectImage;
  return inspect(source, { ...options, limit: format ? limits.package : limits.image });
}

/** @returns undefined for disks and archives, which one reader tells apart, and for what is nothing of all this */
function formatOf(source: ByteSource): Format | undefined {
  const head = Buffer.from(source.read(0, Math.min(headSize, source.size)));
  const name = source.name.toLowerCase();
  return (
    formats.find(({ isIt, named }) => (isIt ? isIt(head) : named.test(name))) ??
    formats.find(({ named }) => named.test(name))
  );
}

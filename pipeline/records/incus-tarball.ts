import { crc32 } from "node:zlib";
import type { Architecture, IncusImage } from "../../shared/package-metadata.ts";
import { firstDayOf } from "../../shared/version.ts";

export type IncusStatement = Pick<IncusImage, "os" | "release" | "variant" | "description"> & {
  arch: Architecture;
};

/**
 * The metadata tarball of a disk image, which Incus and LXD need beside the disk. Digests in settled manifests depend on
 * its bytes, so they must never change.
 */
export const incusTarball = (statement: IncusStatement): Uint8Array => storedXz(tarOf(metadataOf(statement)));

/** Architectures as the kernel names them, where Debian's name is another one. */
const kernelNames: Readonly<Partial<Record<Architecture, string>>> = {
  amd64: "x86_64",
  arm64: "aarch64",
  armhf: "armv7l",
  i386: "i686",
  ppc64el: "ppc64le",
};

function metadataOf({ arch, os, release, variant, description }: IncusStatement): string {
  const properties = { architecture: arch, description, os, release, variant };
  return [
    `architecture: ${quoted(kernelNames[arch] ?? arch)}`,
    // In seconds: a manifest has no date.
    `creation_date: ${Date.parse(firstDayOf(release)) / 1000}`,
    "properties:",
    ...Object.entries(properties).map(([name, value]) => `  ${name}: ${quoted(value)}`),
    "",
  ].join("\n");
}

/** JSON text is YAML, except for characters that YAML reads as line breaks or refuses. */
const quoted = (text: string): string =>
  JSON.stringify(text).replace(
    /[\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16)}`,
  );

const blockSize = 512;

/** A tar archive with the file metadata.yaml. */
function tarOf(text: string): Uint8Array {
  const content = Buffer.from(text);
  const header = Buffer.alloc(blockSize);
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, "0")}\0`;
  header.write("metadata.yaml", 0);
  header.write(octal(0o644, 7), 100);
  header.write(octal(0, 7), 108);
  header.write(octal(0, 7), 116);
  header.write(octal(content.length, 11), 124);
  header.write(octal(0, 11), 136);
  header.write("        0", 148);
  header.write("ustar\x0000root", 257);
  header.write("root", 297);
  const checksum = header.reduce((sum, byte) => sum + byte, 0);
  header.write(`${octal(checksum, 6)} `, 148);
  const padding = Buffer.alloc((blockSize - (content.length % blockSize)) % blockSize);
  return Buffer.concat([header, content, padding, Buffer.alloc(2 * blockSize)]);
}

/**
 * An xz file that stores its content without compressing it. Its bytes depend on no compressor, so a digest of them
 * stays valid with every version of relcat (https://tukaani.org/xz/xz-file-format.txt).
 */
export function storedXz(content: Uint8Array): Uint8Array {
  const block = Buffer.concat([blockHeader, storedChunks(content)]);
  const check = number32(crc32(content));
  const index = withChecksum(
    padded(Buffer.from([0, 1, ...vli(block.length + check.length), ...vli(content.length)])),
  );
  const size = number32(index.length / 4 - 1);
  const footer = Buffer.concat([number32(crc32(Buffer.concat([size, flags]))), size, flags]);
  return Buffer.concat([streamHeader, padded(block), check, index, footer, Buffer.from("YZ")]);
}

const number32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};

const withChecksum = (bytes: Buffer): Buffer => Buffer.concat([bytes, number32(crc32(bytes))]);

const padded = (bytes: Buffer): Buffer => Buffer.concat([bytes, Buffer.alloc(-bytes.length & 3)]);

/** The check of the content is a CRC32. */
const flags = Buffer.from([0, 1]);
const streamHeader = Buffer.concat([Buffer.from("\xfd7zXZ\0", "latin1"), withChecksum(flags)]);

const lzma2 = 0x21;
/** 64 KiB, the size of a chunk. */
const dictionary = 8;
const blockHeader = withChecksum(Buffer.from([2, 0, lzma2, 1, dictionary, 0, 0, 0]));

const chunkSize = 0x10000;

/** Uncompressed chunks of LZMA2; the first one resets the dictionary. */
function storedChunks(content: Uint8Array): Buffer {
  const parts: Uint8Array[] = [];
  for (let at = 0; at < content.length; at += chunkSize) {
    const chunk = content.subarray(at, at + chunkSize);
    const last = chunk.length - 1;
    parts.push(Buffer.from([at === 0 ? 1 : 2, last >> 8, last & 0xff]), chunk);
  }
  return Buffer.concat([...parts, Buffer.from([0])]);
}

/** Numbers of the index have seven bits per byte, the lowest first. */
function vli(value: number): number[] {
  const low = value % 0x80;
  return value < 0x80 ? [value] : [low | 0x80, ...vli((value - low) / 0x80)];
}

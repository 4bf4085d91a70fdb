import type { Architecture, IncusImage } from "../../shared/package-metadata.ts";
import { storedXz } from "./stored-xz.ts";

/** Content of an image's metadata tarball. */
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
    `creation_date: ${monthOf(release)}`,
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

/** The first second of the release's month, in seconds since 1970: a manifest has no date. */
function monthOf(release: string): number {
  const [year = 0, month = 0] = release.split(".").map(Number);
  return Date.UTC(2000 + year, month - 1) / 1000;
}

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
  header.write(
    `${octal(
      header.reduce((sum, byte) => sum + byte, 0),
      6,
    )} `,
    148,
  );
  const padding = Buffer.alloc((blockSize - (content.length % blockSize)) % blockSize);
  return Buffer.concat([header, content, padding, Buffer.alloc(2 * blockSize)]);
}

import { areZeros } from "../bytes/zeros.ts";
import { malformed } from "../verdict.ts";

export const blockSize = 512;

export interface Header {
  /**
   * Type flag: 0 file, 1 hard link, 2 symbolic link, 5 folder, S sparse file; x g L K describe the next
   * entry.
   */
  kind: string;
  path: string;
  linkname: string;
  size: number;
  /** The whole header, for fields that only some kinds have. */
  block: Buffer;
}

/** @returns undefined for a block of zeros, which ends an archive. @throws Fault malformed */
export function readHeader(bytes: Uint8Array): Header | undefined {
  const block = Buffer.from(bytes);
  if (areZeros(block)) return undefined;
  if (sumOf(block) !== tarNumber(block.subarray(148, 156)))
    throw malformed("the tar archive has a header whose checksum is wrong");
  const magic = block.toString("latin1", 257, 265);
  if (magic !== "ustar\x0000" && magic !== "ustar  \0" && magic !== "\0".repeat(8))
    throw malformed(`the tar archive has a header of the kind ${JSON.stringify(magic)}, expected ustar`);
  const prefix = magic === "ustar\x0000" ? tarText(block.subarray(345, 500)) : "";
  const name = tarText(block.subarray(0, 100));
  return {
    kind: kindOf(block, name),
    path: prefix ? `${prefix}/${name}` : name,
    linkname: tarText(block.subarray(157, 257)),
    size: tarNumber(block.subarray(124, 136)),
    block,
  };
}

/** The checksum distinguishes a tar header from any other data. */
export function isTarHeader(bytes: Uint8Array): boolean {
  if (bytes.length < blockSize) return false;
  try {
    return readHeader(bytes.subarray(0, blockSize)) !== undefined;
  } catch {
    return false;
  }
}

/** POSIX: the sum of all bytes, with the checksum field read as blanks. */
function sumOf(block: Uint8Array): number {
  let sum = 8 * 0x20;
  for (let at = 0; at < block.length; at++) if (at < 148 || at >= 156) sum += block[at] ?? 0;
  return sum;
}

function kindOf(block: Uint8Array, name: string): string {
  const flag = String.fromCharCode(block[156] ?? 0);
  if (flag !== "0" && flag !== "\0" && flag !== "7") return flag;
  // Before ustar, only the trailing slash marked a folder.
  return name.endsWith("/") ? "5" : "0";
}

export function tarText(field: Buffer): string {
  const end = field.indexOf(0);
  return field.toString("utf8", 0, end < 0 ? field.length : end);
}

/** An octal number or, if that is too small, GNU's base 256. @throws Fault malformed */
export function tarNumber(field: Buffer): number {
  const digits = field
    .toString("latin1")
    .replace(/[\0 ]+$/, "")
    .trimStart();
  const value = field[0] === 0x80 ? base256(field) : Number.parseInt(digits || "0", 8);
  if ((field[0] === 0x80 || /^[0-7]*$/.test(digits)) && Number.isSafeInteger(value)) return value;
  throw malformed(`the tar archive has ${JSON.stringify(field.toString("latin1"))} for a number`);
}

const base256 = (field: Uint8Array): number =>
  field.subarray(1).reduce((value, byte) => value * 256 + byte, 0);

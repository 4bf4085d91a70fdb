import { createHash } from "node:crypto";
import type { ByteSource } from "../../bytes/byte-source.ts";
import type { Digest } from "../../signatures/digest.ts";
import { digests } from "../../signatures/digest.ts";
import { Fault, malformed } from "../../verdict.ts";
import { type Blob, isCodeDirectory } from "./blobs.ts";

/** Hashes of a program's pages and of the data signed with it (osfmk/kern/cs_blobs.h). */
export interface CodeDirectory {
  slot: number;
  bytes: Buffer;
  digest: Digest;
  hashSize: number;
  /** macOS uses the CodeDirectory with the highest rank. */
  rank: number;
  identifier: string;
  team: string | undefined;
  isAdhoc: boolean;
  codeLimit: number;
  pageSize: number;
  hashes: { at: number; pages: number; special: number };
}

/** In macOS's order of preference; the third is SHA-256 truncated to 20 bytes. */
const hashTypes = new Map([
  [1, { digest: digests.sha1, size: 20, rank: 1 }],
  [3, { digest: digests.sha256, size: 20, rank: 2 }],
  [2, { digest: digests.sha256, size: 32, rank: 3 }],
  [4, { digest: digests.sha384, size: 48, rank: 4 }],
]);

const adhocFlag = 2;
const fingerprintSize = 20;
/** Slots of files outside the program: Info.plist, CodeResources, and the disk image slot. */
const outside = [1, 3, 6];

/** @throws Fault malformed; unsupported-format */
export function codeDirectoryOf({ slot, bytes }: Blob, name: string): CodeDirectory {
  const number = (at: number) => (at + 4 <= bytes.length ? bytes.readUInt32BE(at) : 0);
  const version = number(8);
  const type = hashTypes.get(bytes[37] ?? 0);
  if (bytes.length < 44 || !type || bytes[36] !== type.size)
    throw new Fault(
      "unsupported-format",
      `${name} has a CodeDirectory of hash type ${bytes[37]}, expected SHA-256 or SHA-384`,
    );
  if (version >= 0x20100 && number(44) !== 0)
    throw new Fault("unsupported-format", `${name} has a CodeDirectory with scattered pages`);
  const hashes = { at: number(16), pages: number(28), special: number(24) };
  const long = version >= 0x20300 && bytes.length >= 64 ? Number(bytes.readBigUInt64BE(56)) : 0;
  const codeLimit = long || number(32);
  const pageSize = bytes[39] === 0 ? codeLimit : 2 ** (bytes[39] ?? 0);
  const firstHash = hashes.at - hashes.special * type.size;
  if (
    firstHash < 44 ||
    hashes.at + hashes.pages * type.size > bytes.length ||
    hashes.pages !== Math.ceil(codeLimit / pageSize || 0)
  )
    throw malformed(`${name} has a CodeDirectory with ${hashes.pages} pages for ${codeLimit} bytes`);
  const team = version >= 0x20200 ? number(48) : 0;
  return {
    slot,
    bytes,
    digest: type.digest,
    hashSize: type.size,
    rank: type.rank,
    identifier: textAt(bytes, number(20), name),
    team: team === 0 ? undefined : textAt(bytes, team, name),
    isAdhoc: (number(12) & adhocFlag) !== 0,
    codeLimit,
    pageSize,
    hashes,
  };
}

function textAt(bytes: Buffer, at: number, name: string): string {
  const end = bytes.indexOf(0, at);
  if (at >= bytes.length || end === -1)
    throw malformed(`${name} has a CodeDirectory with a text that does not end`);
  return bytes.toString("utf8", at, end);
}

/** The cdhash by which macOS identifies a program, in hexadecimal. */
export const fingerprintOf = (directory: CodeDirectory): string =>
  fullHashOf(directory).toString("hex", 0, fingerprintSize);

export const fullHashOf = ({ digest, bytes }: CodeDirectory): Buffer =>
  createHash(digest.name).update(bytes).digest();

/** @throws Fault bad-digest, if a page differs from the signed one */
export function checkCode(
  content: ByteSource,
  { bytes, codeLimit, pageSize, hashSize, digest, hashes }: CodeDirectory,
): void {
  const step = Math.min(pageSize, 1 << 18);
  for (let page = 0; page < hashes.pages; page++) {
    const hash = createHash(digest.name);
    const [from, end] = [page * pageSize, Math.min(codeLimit, (page + 1) * pageSize)];
    for (let at = from; at < end; at += step) hash.update(content.read(at, Math.min(step, end - at)));
    const expected = bytes.subarray(hashes.at + page * hashSize, hashes.at + (page + 1) * hashSize);
    if (!hash.digest().subarray(0, hashSize).equals(expected))
      throw new Fault(
        "bad-digest",
        `the page of ${content.name} at byte ${from} is not the one that was signed`,
      );
  }
}

/**
 * @throws Fault bad-digest, if data signed with the program is missing or differs; payload-not-covered, if
 * the signature has no hash of it
 */
export function checkSpecial(
  blobs: readonly Blob[],
  { bytes, hashSize, digest, hashes }: CodeDirectory,
  name: string,
): void {
  for (const { slot } of blobs.filter(isSpecial)) {
    if (slot > hashes.special)
      throw new Fault(
        "payload-not-covered",
        `${name} has data in slot ${slot} that its signature does not cover`,
      );
  }
  for (let slot = 1; slot <= hashes.special; slot++) {
    const expected = bytes.subarray(hashes.at - slot * hashSize, hashes.at - (slot - 1) * hashSize);
    const blob = blobs.find((blob) => blob.slot === slot);
    const isNone = expected.every((byte) => byte === 0);
    if (!blob && (isNone || outside.includes(slot))) continue;
    const found = blob && createHash(digest.name).update(blob.bytes).digest().subarray(0, hashSize);
    if (!found?.equals(expected))
      throw new Fault("bad-digest", `${name} has something else in slot ${slot} than what was signed`);
  }
}

/** True for entitlements, requirements and other blobs whose hash is in a CodeDirectory. */
export const isSpecial = ({ slot }: Pick<Blob, "slot">): boolean => !isCodeDirectory(slot) && slot < 0x1000;

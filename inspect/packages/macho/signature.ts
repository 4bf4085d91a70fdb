import { createHash } from "node:crypto";
import { type ByteSource, gaps, overlap, shifted, type Uncovered } from "../../bytes/byte-source.ts";
import type { InspectOptions, Signature } from "../../inspection.ts";
import { octetsOf, sequenceOf } from "../../signatures/asn1.ts";
import {
  contentTypes,
  readSignedData,
  type SignedData,
  signatureOf,
  verifyTrusted,
} from "../../signatures/cms.ts";
import { digests, refuseWeak } from "../../signatures/digest.ts";
import { commonNameOf, usages } from "../../signatures/x509.ts";
import {
  badDigest,
  Fault,
  malformed,
  notCovered,
  unsigned,
  unsupported,
  type Verdict,
} from "../../verdict.ts";
import type { Slice } from "./macho.ts";

type Blob = ReturnType<typeof blobsOf>[number];

export const slots = { codeDirectory: 0, alternates: 0x1000, lastAlternate: 0x1005, cms: 0x10000 } as const;

const magics = { superBlob: 0xfade0cc0, codeDirectory: 0xfade0c02, wrapper: 0xfade0b01 };
const maxBlobs = 32;

/** The blobs of Apple's code signature (osfmk/kern/cs_blobs.h), each with its header: magic and length. */
export function blobsOf(signature: Buffer, name: string) {
  const [magic, length, count] =
    signature.length < 12 ? [] : [0, 4, 8].map((at) => signature.readUInt32BE(at));
  if (magic !== magics.superBlob || length === undefined || count === undefined || length > signature.length)
    throw malformed(`${name} has no code signature where it says`);
  if (count > maxBlobs || 12 + 8 * count > length)
    throw malformed(`${name} has a code signature of ${count} parts`);
  const blobs = Array.from({ length: count }, (_, index) => {
    const [slot, from] = [signature.readUInt32BE(12 + 8 * index), signature.readUInt32BE(16 + 8 * index)];
    const size = from + 8 <= length ? signature.readUInt32BE(from + 4) : 0;
    if (size < 8 || from + size > length)
      throw malformed(`${name} has a part of its code signature at ${from} that does not end`);
    return { slot, from, bytes: signature.subarray(from, from + size) };
  });
  refuseDisorder(blobs, 12 + 8 * count, name);
  for (const { slot, bytes } of blobs) {
    const expected = isCodeDirectory(slot)
      ? magics.codeDirectory
      : slot === slots.cms
        ? magics.wrapper
        : undefined;
    if (expected && bytes.readUInt32BE(0) !== expected)
      throw malformed(`${name} has something else in slot ${slot} of its code signature`);
  }
  return blobs;
}

const isCodeDirectory = (slot: number): boolean =>
  slot === slots.codeDirectory || (slot >= slots.alternates && slot <= slots.lastAlternate);

function refuseDisorder(blobs: readonly Blob[], start: number, name: string): void {
  const ranges = blobs.map(({ from, bytes }) => ({ from, to: from + bytes.length }));
  if (overlap([{ from: 0, to: start }, ...ranges]) !== undefined)
    throw malformed(`${name} has parts of its code signature that overlap`);
  if (new Set(blobs.map(({ slot }) => slot)).size < blobs.length)
    throw malformed(`${name} has a slot of its code signature twice`);
  const alternates = blobs.filter(({ slot }) => isCodeDirectory(slot) && slot !== slots.codeDirectory);
  const isGap = alternates.some(({ slot }) => slot - slots.alternates >= alternates.length);
  if (isGap) throw malformed(`${name} has further CodeDirectories that are not numbered one after the other`);
}

/** Gaps between the used blobs, and unused parts inside them. @param blobs the used ones first, in index order */
function openRanges(signature: Buffer, blobs: readonly Blob[], counts: (blob: Blob) => boolean): Uncovered[] {
  const covered = [
    { from: 0, to: 4 },
    { from: 8, to: 12 },
    ...blobs.flatMap((blob, index) =>
      counts(blob)
        ? [
            { from: 12 + 8 * index, to: 20 + 8 * index },
            { from: blob.from, to: blob.from + blob.bytes.length },
          ]
        : [],
    ),
  ];
  return gaps(covered, signature.length, "parts of a code signature that nothing covers");
}

export interface SliceSignature {
  arch: string;
  verdict: Verdict;
  reason: string;
  /** The cdhash; undefined: no CodeDirectory. */
  fingerprint?: string;
  identifier?: string;
  team?: string | undefined;
  /** Undefined: unsigned or ad hoc. */
  signature?: Signature;
  keyId?: string;
  notes: readonly string[];
  /** Ranges of the whole file. */
  uncovered: readonly Uncovered[];
}

const scheme = "Apple code signature";

/** Signed attribute with the hashes of the alternate CodeDirectories. */
const otherDirectories = "1.2.840.113635.100.9.2";

/** More than a signature with the page hashes of a 4 GiB program. */
const maxSignatureBytes = 1 << 26;

export function inspectSlice(slice: Slice, options: InspectOptions): SliceSignature {
  const found: SliceSignature = { arch: slice.arch, verdict: "ok", reason: "", notes: [], uncovered: [] };
  try {
    verify(slice, options, found);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    Object.assign(found, { verdict: error.verdict, reason: `${slice.arch}: ${error.message}` });
  }
  return found;
}

function verify({ content, signature, from }: Slice, options: InspectOptions, found: SliceSignature): void {
  const { name } = content;
  if (!signature) throw unsigned(`${name} has no code signature`);
  if (signature.size > maxSignatureBytes)
    throw malformed(`${name} has a code signature of ${signature.size} bytes`);
  const bytes = Buffer.from(content.read(signature.from, signature.size));
  const blobs = blobsOf(bytes, name);
  const directories = blobs
    .filter(({ slot }) => isCodeDirectory(slot))
    .map((blob) => codeDirectoryOf(blob, name));
  const first = directories.find(({ slot }) => slot === slots.codeDirectory);
  if (!first) throw malformed(`${name} has a code signature without a CodeDirectory`);
  const best = directories.reduce((one, other) => (other.rank > one.rank ? other : one));
  Object.assign(found, { fingerprint: fingerprintOf(best), identifier: best.identifier, team: best.team });
  const cms = blobs.find(({ slot }) => slot === slots.cms)?.bytes.subarray(8);
  const signed = cms && cms.length > 0 ? readSignedData(cms, "its code signature") : undefined;
  if (signed) describe(signed, found);
  for (const directory of directories) checkDirectory(directory, content, signature, blobs);
  if (!cms || !signed || best.isAdhoc) throw nobodys(best, name);
  refuseWeak(best.digest, "its CodeDirectory");
  refuseOtherContent(signed, name);
  const trusted = verifyTrusted(signed, first.bytes, cms, {
    usage: usages.codeSigning,
    what: "its code signature",
    options,
  });
  refuseUnbound(signed, first, best);
  describe(signed, found, trusted.time);
  const counts = ({ slot, bytes }: Blob) =>
    isSpecial({ slot }) || slot === slots.cms || [first, best].some((one) => one.bytes === bytes);
  const start = from + signature.from;
  const inside = openRanges(bytes, blobs, counts).map(shifted(start));
  const cmsAt = start + cms.byteOffset - bytes.byteOffset;
  Object.assign(found, {
    notes: trusted.notes,
    uncovered: [...inside, ...trusted.uncovered.map(shifted(cmsAt))],
  });
}

function describe(signed: SignedData, found: SliceSignature, time?: number): void {
  found.signature = signatureOf(signed.signer, scheme, time);
  found.keyId = commonNameOf(signed.signer.certificate);
}

/** Bytes between the hashed part and the signature, or after the signature, would be covered by neither. */
function checkDirectory(
  directory: CodeDirectory,
  content: ByteSource,
  { from, size }: { from: number; size: number },
  blobs: readonly Blob[],
): void {
  if (directory.codeLimit !== from || from + size !== content.size)
    throw notCovered(
      `${content.name} has ${content.size} bytes, of which ${directory.codeLimit} are hashed and ${size} are its signature`,
    );
  checkCode(content, directory);
  checkSpecial(blobs, directory, content.name);
}

const nobodys = ({ isAdhoc }: CodeDirectory, name: string): Fault =>
  isAdhoc
    ? new Fault("adhoc", `${name} has hashes of its code, but no signature`)
    : unsigned(`${name} has hashes of its code without the signature that they are meant to have`);

function refuseOtherContent({ contentType, content }: SignedData, name: string): void {
  if (contentType !== contentTypes.data || content)
    throw malformed(
      `${name} has a code signature that contains its own content; expected a detached signature`,
    );
}

/** The signature covers the first CodeDirectory. A stronger one is used only if a signed attribute contains its hash. */
function refuseUnbound({ signer }: SignedData, first: CodeDirectory, best: CodeDirectory): void {
  if (best === first) return;
  const what = "its code signature";
  const isListed = (signer.attributes.get(otherDirectories) ?? []).some((value) => {
    const [, hash] = sequenceOf(value, what);
    return fullHashOf(best).equals(octetsOf(hash, what));
  });
  if (!isListed)
    throw notCovered(`${what} is not over its CodeDirectory with ${best.digest.name.toUpperCase()}`);
}

type CodeDirectory = ReturnType<typeof codeDirectoryOf>;

/** macOS uses the CodeDirectory with the highest rank. Number 3 is SHA-256 truncated to 20 bytes. */
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

/** Hashes of pages and of signed data (osfmk/kern/cs_blobs.h). @throws Fault malformed; unsupported-format */
function codeDirectoryOf({ slot, bytes }: Blob, name: string) {
  const number = (at: number) => (at + 4 <= bytes.length ? bytes.readUInt32BE(at) : 0);
  const version = number(8);
  const type = hashTypes.get(bytes[37] ?? 0);
  if (bytes.length < 44 || !type || bytes[36] !== type.size)
    throw unsupported(`${name} has a CodeDirectory of hash type ${bytes[37]}, expected SHA-256 or SHA-384`);
  if (version >= 0x20100 && number(44) !== 0)
    throw unsupported(`${name} has a CodeDirectory with scattered pages`);
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
const fingerprintOf = (directory: CodeDirectory): string =>
  fullHashOf(directory).toString("hex", 0, fingerprintSize);

const fullHashOf = ({ digest, bytes }: CodeDirectory): Buffer =>
  createHash(digest.name).update(bytes).digest();

/** @throws Fault bad-digest, if a page differs from the signed one */
function checkCode(
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
      throw badDigest(`the page of ${content.name} at byte ${from} is not the one that was signed`);
  }
}

/** @throws Fault bad-digest, for missing or other data; payload-not-covered, if the signature has no hash of it */
function checkSpecial(
  blobs: readonly Blob[],
  { bytes, hashSize, digest, hashes }: CodeDirectory,
  name: string,
): void {
  for (const { slot } of blobs.filter(isSpecial)) {
    if (slot > hashes.special)
      throw notCovered(`${name} has data in slot ${slot} that its signature does not cover`);
  }
  for (let slot = 1; slot <= hashes.special; slot++) {
    const expected = bytes.subarray(hashes.at - slot * hashSize, hashes.at - (slot - 1) * hashSize);
    const blob = blobs.find((blob) => blob.slot === slot);
    const isNone = expected.every((byte) => byte === 0);
    if (!blob && (isNone || outside.includes(slot))) continue;
    const found = blob && createHash(digest.name).update(blob.bytes).digest().subarray(0, hashSize);
    if (!found?.equals(expected))
      throw badDigest(`${name} has something else in slot ${slot} than what was signed`);
  }
}

/** True for entitlements, requirements and other blobs whose hash is in a CodeDirectory. */
const isSpecial = ({ slot }: Pick<Blob, "slot">): boolean => !isCodeDirectory(slot) && slot < 0x1000;

import type { Uncovered } from "../../bytes/ranges.ts";
import { gaps, overlap } from "../../bytes/ranges.ts";
import { malformed } from "../../verdict.ts";

/** One blob of Apple's code signature (osfmk/kern/cs_blobs.h). */
export interface Blob {
  slot: number;
  from: number;
  /** Includes the header: magic and length. */
  bytes: Buffer;
}

export const slots = { codeDirectory: 0, alternates: 0x1000, lastAlternate: 0x1005, cms: 0x10000 } as const;

const magics = { superBlob: 0xfade0cc0, codeDirectory: 0xfade0c02, wrapper: 0xfade0b01 };
const mostBlobs = 32;

export function blobsOf(signature: Buffer, name: string): Blob[] {
  const [magic, length, count] =
    signature.length < 12 ? [] : [0, 4, 8].map((at) => signature.readUInt32BE(at));
  if (magic !== magics.superBlob || length === undefined || count === undefined || length > signature.length)
    throw malformed(`${name} has no code signature where it says`);
  if (count > mostBlobs || 12 + 8 * count > length)
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

export const isCodeDirectory = (slot: number): boolean =>
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

/**
 * Gaps between the used blobs, and unused parts inside them.
 * @param blobs the used ones first, in index order
 */
export function openRanges(
  signature: Buffer,
  blobs: readonly Blob[],
  counts: (blob: Blob) => boolean,
): Uncovered[] {
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

import type { ByteSource } from "../bytes/byte-source.ts";
import { type FramingCursor, framingCursor } from "../bytes/framing.ts";
import { refused } from "../verdict.ts";

/** Sizes of the optional fields in bytes, by flag (RFC 8878, section 3.1.1.1). */
const dictionaryIdSizes = [0, 1, 2, 4];
const contentSizes = [0, 2, 4, 8];
const runLength = 1;
const magic = 0xfd2fb528;
/** Magic number of skippable frames; its last digit is arbitrary. */
const skippable = 0x184d2a50;

/** A compressor does not create more frames. */
const maxFrames = 1 << 20;

/**
 * Finds the end of each Zstandard frame (RFC 8878, section 3.1) without decompressing.
 * @param most number of frames to read; later bytes may be anything
 * @throws Fault bad-digest, for a bad or truncated frame; refuse, for more than a million frames
 */
export function frameEnds(
  source: Pick<ByteSource, "name" | "size" | "read">,
  most = Number.POSITIVE_INFINITY,
): number[] {
  const cursor = framingCursor(source);
  const ends: number[] = [];
  do {
    walkFrame(cursor);
    ends.push(cursor.at);
    if (ends.length > maxFrames) throw refused(`${source.name} has over ${maxFrames} frames`);
  } while (cursor.at < source.size && ends.length < most);
  return ends;
}

function walkFrame(cursor: FramingCursor): void {
  const kind = cursor.take(4).readUInt32LE(0);
  if ((kind & 0xfffffff0) === skippable) {
    cursor.skip(cursor.take(4).readUInt32LE(0));
    return;
  }
  cursor.expect(kind === magic, "a frame does not begin where one should");
  const flags = cursor.byte();
  const isSingleSegment = ((flags >> 5) & 1) === 1;
  const contentSize = contentSizes[flags >> 6] || Number(isSingleSegment);
  cursor.skip(Number(!isSingleSegment) + (dictionaryIdSizes[flags & 3] ?? 0) + contentSize);
  for (let isLast = false; !isLast; ) {
    const header = cursor.take(3).readUIntLE(0, 3);
    isLast = (header & 1) === 1;
    cursor.skip(((header >> 1) & 3) === runLength ? 1 : header >> 3);
  }
  cursor.skip(((flags >> 2) & 1) * 4);
}

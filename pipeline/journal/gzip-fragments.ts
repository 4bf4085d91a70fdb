import { createHash } from "node:crypto";
import { constants, crc32, deflateRawSync } from "node:zlib";
import type { TextPart } from "../documents/published.ts";
import type { Cache } from "./cache.ts";
import { largeLevels } from "./compressors.ts";
import { joinedCrc32 } from "./crc32.ts";
import { collectMuch } from "./heap.ts";

const sync = { level: largeLevels.gz, finishFlush: constants.Z_SYNC_FLUSH };

/** RFC 1952: deflate, no flags, no time, no word of the effort, any system. */
const header = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255);
/** RFC 1951: the last block, which holds nothing. */
const lastBlock = Uint8Array.of(3, 0);

/** What was kept of parts, and what tells the program that made their text from any other. */
export interface Fragments {
  cache: Cache;
  program: string;
}

/**
 * One gzip member out of parts that were compressed each for itself: of a part that did not change, not even the text
 * is made again. It is a twelfth larger than compressing all at once makes it.
 * @param parts in order
 */
export function* gzipOf(parts: Iterable<TextPart>, fragments: Fragments): Generator<Uint8Array> {
  yield header;
  let checksum = 0;
  let size = 0;
  for (const part of parts) {
    const fragment = fragmentOf(part, fragments);
    checksum = joinedCrc32(checksum, fragment.checksum, fragment.size);
    size += fragment.size;
    yield fragment.deflated;
    collectMuch();
  }
  yield lastBlock;
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(checksum, 0);
  trailer.writeUInt32LE(size % 2 ** 32, 4);
  yield trailer;
}

/** Ends on a whole byte, so that another can follow. */
interface Fragment {
  checksum: number;
  /** Of the text, in bytes. */
  size: number;
  deflated: Uint8Array;
}

function fragmentOf(part: TextPart, { cache, program }: Fragments): Fragment {
  if (part.key === null) return compressed(part);
  const name = `deflate-${createHash("sha256").update(`${program}\n${part.key}`).digest("hex")}`;
  const known = cache.get(name);
  if (known) return decoded(known);
  const fragment = compressed(part);
  cache.put(name, encoded(fragment));
  return fragment;
}

function compressed({ text }: TextPart): Fragment {
  const bytes = new TextEncoder().encode(text());
  return { checksum: crc32(bytes), size: bytes.length, deflated: deflateRawSync(bytes, sync) };
}

/** Checksum and size, then what is compressed. */
function encoded({ checksum, size, deflated }: Fragment): Uint8Array {
  const head = Buffer.alloc(8);
  head.writeUInt32LE(checksum, 0);
  head.writeUInt32LE(size, 4);
  return Buffer.concat([head, deflated]);
}

function decoded(bytes: Uint8Array): Fragment {
  const head = new DataView(bytes.buffer, bytes.byteOffset, 8);
  return { checksum: head.getUint32(0, true), size: head.getUint32(4, true), deflated: bytes.subarray(8) };
}

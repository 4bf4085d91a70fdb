import type { Wanted } from "../bytes/push.ts";
import { Fault, malformed } from "../verdict.ts";
import { blockSize, type Header, tarNumber } from "./tar-header.ts";

/** A part of a file's content: stored bytes, or a hole. */
export interface Part {
  size: number;
  isHole: boolean;
}

/**
 * Reads the parts of a sparse file of GNU tar (`tar --sparse`, the old GNU format of 1.12 and later).
 * @param room remaining bytes that holes may expand to; reduced here
 * @throws Fault malformed; refuse, for holes beyond the limit; unsupported-format, if no holes are allowed
 */
export function* readParts(header: Header, room: { holes: number }): Generator<Wanted, Part[], Uint8Array> {
  if (room.holes === 0)
    throw new Fault("unsupported-format", `${header.path} is written with holes, which nothing expects here`);
  const size = tarNumber(header.block.subarray(483, 495));
  const parts: Part[] = [];
  let at = 0;
  for (const { from, length } of yield* readMap(header.block)) {
    if (from < at) throw malformed(`${header.path} has parts that overlap`);
    parts.push({ size: from - at, isHole: true }, { size: length, isHole: false });
    at = from + length;
  }
  parts.push({ size: size - at, isHole: true });
  const written = parts.reduce((sum, part) => (part.isHole ? sum : sum + part.size), 0);
  if (at > size || written !== header.size)
    throw malformed(`${header.path} has parts that do not make up its size`);
  room.holes -= size - written;
  if (room.holes < 0) throw new Fault("refuse", `${header.path} unpacks to ${size} bytes, beyond the limit`);
  return parts;
}

/** More parts than a 1 TiB file has if every other 4 MiB is a hole. */
const mostParts = 1 << 17;

interface Place {
  from: number;
  length: number;
}

function* readMap(first: Buffer): Generator<Wanted, Place[], Uint8Array> {
  const places = placesIn(first.subarray(386, 482));
  for (let more = first[482]; more; ) {
    const block = Buffer.from(yield { exactly: blockSize });
    places.push(...placesIn(block.subarray(0, 504)));
    if (places.length > mostParts)
      throw new Fault("refuse", `the tar archive has a file of over ${mostParts} parts`);
    more = block[504];
  }
  return places;
}

function placesIn(bytes: Buffer): Place[] {
  const places: Place[] = [];
  for (let at = 0; at < bytes.length && bytes[at] !== 0; at += 24)
    places.push({
      from: tarNumber(bytes.subarray(at, at + 12)),
      length: tarNumber(bytes.subarray(at + 12, at + 24)),
    });
  return places;
}

import type { ByteSource } from "../../system/byte-source.ts";
import { Fault } from "../inspection.ts";
import { beyond, type Take } from "./unpacking.ts";
import { unpackXz } from "./xz.ts";
import { unpackGzip, unpackZstd } from "./zlib-stream.ts";

/** What cannot be read yet (bzip2, lzma) is unsupported-format. */
export type Compression = "none" | "gzip" | "xz" | "zstd" | "bzip2" | "lzma";

const magics: readonly (readonly [Compression, string])[] = [
  ["gzip", "1f8b08"],
  ["xz", "fd377a585a00"],
  ["zstd", "28b52ffd"],
  ["bzip2", "425a68"],
  ["lzma", "5d0000"],
];

/** @param head the first six bytes or more */
export function compressionOf(head: Uint8Array): Compression {
  const hex = Buffer.from(head.subarray(0, 6)).toString("hex");
  return magics.find(([, magic]) => hex.startsWith(magic))?.[0] ?? "none";
}

type Decode = (source: ByteSource, take: Take, limit: number) => Promise<void>;

const decoders: Partial<Record<Compression, Decode>> = {
  none: (source, take) => source.each(take),
  gzip: unpackGzip,
  xz: unpackXz,
  zstd: unpackZstd,
};

/**
 * Each decompressed chunk once, in order; it is good during the call. All members, frames and streams are read.
 * @param limit bytes that may come out
 * @returns bytes that came out
 * @throws Fault refuse: more than the limit, or a dictionary over 64 MiB; bad-digest: damaged, truncated, or followed by
 *   something else; unsupported-format. RelcatError, where xz cannot be read on this machine
 */
export async function decompress(
  source: ByteSource,
  compression: Compression,
  limit: number,
  take: Take,
): Promise<number> {
  const decode = decoders[compression];
  if (!decode)
    throw new Fault(
      "unsupported-format",
      `${source.name} is compressed with ${compression}, expected gzip, xz or zstd`,
    );
  let size = 0;
  await decode(
    source,
    (chunk) => {
      size += chunk.length;
      if (size > limit) throw beyond(source.name, limit);
      return take(chunk);
    },
    limit,
  );
  return size;
}

import type { ByteSource } from "../bytes/byte-source.ts";
import { Fault } from "../verdict.ts";
import { beyond, type Take } from "./unpacking.ts";
import { unpackXz } from "./xz.ts";
import { unpackGzip, unpackZstd } from "./zlib-stream.ts";

/** bzip2 and lzma are recognized but not supported (unsupported-format). */
export type Compression = "none" | "gzip" | "xz" | "zstd" | "bzip2" | "lzma";

const magics: readonly (readonly [Compression, string])[] = [
  ["gzip", "1f8b08"],
  ["xz", "fd377a585a00"],
  ["zstd", "28b52ffd"],
  ["bzip2", "425a68"],
  ["lzma", "5d0000"],
];

/** @param head at least the first six bytes */
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
 * Decompresses all members, frames and streams. Chunks come in order and are valid only during the call.
 * @param limit largest allowed output in bytes
 * @returns size of the output in bytes
 * @throws Fault refuse, beyond the limit or for a dictionary over 64 MiB; bad-digest, for damaged, truncated
 * or trailing data; unsupported-format. RelcatError, if xz cannot be read on this machine
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

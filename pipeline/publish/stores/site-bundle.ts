import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { createGunzip, createGzip } from "node:zlib";

/** Where a file lies in a bundle, unpacked. */
export interface Bundled {
  path: string;
  offset: number;
  size: number;
}

/** Files one after another, compressed. They are read one by one: a first publish has all files of the site. */
export function packedFiles(
  paths: readonly string[],
  read: (path: string) => Uint8Array,
): Promise<Uint8Array> {
  const parts = function* () {
    for (const path of paths) yield read(path);
  };
  return buffer(Readable.from(parts(), { objectMode: true }).pipe(createGzip({ level: 4 })));
}

const chunkSize = 256 * 1024;

/** Some files of a bundle, one by one. Where the bundle is too short, zeros stand in for what is missing. */
export async function* unpackedFiles(
  bundle: Uint8Array,
  files: readonly Bundled[],
): AsyncGenerator<{ path: string; bytes: Uint8Array }> {
  const sorted = files.toSorted((a, b) => a.offset - b.offset || a.size - b.size);
  const wanted = sorted.values();
  let file = wanted.next().value;
  let bytes = new Uint8Array(file?.size ?? 0);
  let at = 0;
  for await (const chunk of Readable.from([bundle]).pipe(createGunzip({ chunkSize }))) {
    const end = at + (chunk as Uint8Array).length;
    while (file) {
      const { path, offset, size } = file;
      const from = Math.max(offset, at);
      if (from < end) bytes.set(chunk.subarray(from - at, Math.min(offset + size, end) - at), from - offset);
      if (offset + size > end) break; // It goes on in the next chunk.
      yield { path, bytes };
      file = wanted.next().value;
      bytes = new Uint8Array(file?.size ?? 0);
    }
    at = end;
  }
  for (; file; file = wanted.next().value) yield { path: file.path, bytes: new Uint8Array(file.size) };
}

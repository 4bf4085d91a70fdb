import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { createGunzip, createGzip } from "node:zlib";

/** Range of a file in the uncompressed bundle. */
interface Bundled {
  path: string;
  offset: number;
  size: number;
}

/** Concatenates and compresses files, read one by one, because a first publish contains the whole site. */
export function packedFiles(paths: readonly string[], read: (path: string) => Uint8Array) {
  const parts = function* () {
    for (const path of paths) yield read(path);
  };
  return buffer(Readable.from(parts(), { objectMode: true }).pipe(createGzip({ level: 4 })));
}

const chunkSize = 256 * 1024;

/** Extracts files one by one. If the bundle is truncated, missing bytes are zeros. */
export async function* unpackedFiles(bundle: Uint8Array, files: readonly Bundled[]) {
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
      if (offset + size > end) break; // The file continues in the next chunk.
      yield { path, bytes };
      file = wanted.next().value;
      bytes = new Uint8Array(file?.size ?? 0);
    }
    at = end;
  }
  for (; file; file = wanted.next().value) yield { path: file.path, bytes: new Uint8Array(file.size) };
}

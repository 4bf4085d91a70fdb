import { pushReader, type Steps, skip, type Wanted } from "../bytes/push.ts";
import { Fault, malformed } from "../verdict.ts";
import { blockSize, type Header, readHeader } from "./tar-header.ts";
import { type Names, readNames } from "./tar-names.ts";
import { pathGuard, type TarEntry } from "./tar-paths.ts";
import { type Part, readParts } from "./tar-sparse.ts";

export type OnEntry = (entry: TarEntry) => ((chunk: Uint8Array) => void) | undefined;

const mostEntries = 1 << 20;
/** Longer than any path or attribute in a preceding header. */
const mostNames = 1 << 20;
const zeros = new Uint8Array(1 << 16);

/**
 * Reads a streamed tar archive: POSIX ustar and pax, GNU (long names, sparse files), and older formats.
 * @param entry returns a consumer for the entry's content, or undefined
 * @param holes bytes that holes may expand to; without it, a sparse file is unsupported-format
 * @throws Fault malformed, for a wrong checksum, an impossible size or path, a path or link that leaves the
 * archive or passes through a link, a missing end, or bytes after the end. Absolute symbolic links are left
 * to the caller, who knows the target folder
 */
export function tarReader(entry: OnEntry, holes = 0): { write(chunk: Uint8Array): void; end(): void } {
  return pushReader(entries(entry, { holes }), "tar archive");
}

function* entries(entry: OnEntry, room: { holes: number }): Steps {
  const guard = pathGuard();
  let names: Names = {};
  let count = 0;
  for (let header = readHeader(yield { exactly: blockSize }); header; ) {
    if (++count > mostEntries) throw new Fault("refuse", `the tar archive has over ${mostEntries} entries`);
    if ("xgLK".includes(header.kind)) names = readNames(header.kind, yield* attributes(header), names);
    else {
      const named = { ...header, ...names };
      const parts: readonly Part[] =
        named.kind === "S" ? yield* readParts(named, room) : [{ size: named.size, isHole: false }];
      const known = guard({ ...named, size: sum(parts) });
      yield* content(parts, entry(known));
      yield* skip(fill(named.size));
      names = {};
    }
    header = readHeader(yield { exactly: blockSize });
  }
  if (Object.keys(names).length > 0)
    throw malformed("the tar archive ends with the name of an entry that is missing");
  if (readHeader(yield { exactly: blockSize })) throw malformed("bytes follow the end of the tar archive");
}

const fill = (size: number): number => -size & (blockSize - 1);

const sum = (parts: readonly Part[]): number => parts.reduce((total, { size }) => total + size, 0);

function* attributes({ size }: Header): Generator<Wanted, Uint8Array, Uint8Array> {
  if (size === 0 || size > mostNames)
    throw malformed(`the tar archive has attributes of ${size} bytes, expected 1 to ${mostNames}`);
  return (yield { exactly: size + fill(size) }).subarray(0, size);
}

function* content(parts: readonly Part[], take: ((chunk: Uint8Array) => void) | undefined): Steps {
  for (const { size, isHole } of parts) {
    if (isHole && !take) continue;
    for (let left = size; left > 0; ) {
      const piece = isHole ? zeros.subarray(0, left) : yield { most: left };
      take?.(piece);
      left -= piece.length;
    }
  }
}

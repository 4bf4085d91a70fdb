import { pushReader, type Steps, skip, type Wanted } from "../bytes/push.ts";
import { Fault, malformed } from "../inspection.ts";
import { blockSize, type Header, readHeader } from "./tar-header.ts";
import { type Names, readNames } from "./tar-names.ts";
import { pathGuard } from "./tar-paths.ts";
import { type Part, readParts } from "./tar-sparse.ts";

export interface TarEntry {
  /** Without `./` before it or `/` behind; `.` for the folder that everything is in. */
  path: string;
  /** Bytes of the content, holes included. */
  size: number;
  type: "file" | "directory" | "link" | "other";
  linkname?: string;
}

export type OnEntry = (entry: TarEntry) => ((chunk: Uint8Array) => void) | undefined;

const mostEntries = 1 << 20;
/** Longer than any path or attribute that stands before an entry. */
const mostNames = 1 << 20;
const zeros = new Uint8Array(1 << 16);

/**
 * Entries of a tar archive that arrives in chunks: POSIX ustar and pax, GNU (long names, holes), and what came before.
 * @param entry gives a taker of an entry's content, or undefined
 * @param holes bytes that holes in files may become; without, a file with holes is unsupported-format
 * @throws Fault malformed: a wrong checksum, a size or path that cannot be, a path or link that leads out of the archive
 *   or through a link, no end, or bytes after it. An absolute symbolic link is left to whoever knows where it is unpacked
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

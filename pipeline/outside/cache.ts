import { createHash } from "node:crypto";
import {
  accessSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { accessFailure } from "./access-failure.ts";
import { isMissing } from "./files.ts";

/** Results of earlier runs, by what they were made of. Whoever deletes the folder loses time, nothing else. */
export interface Cache {
  /** What was kept, when it still is what was kept. */
  get(key: string): Uint8Array | undefined;
  put(key: string, bytes: Uint8Array): void;
  /** An entry that never lies in memory as a whole. */
  putPieces(key: string, pieces: Iterable<Uint8Array>): void;
  /** The time as files get it here, in milliseconds since 1970. */
  clock(): number;
  /** Removes what no run has made or asked for in the last 30 days. */
  prune(): void;
}

const oldest = 30 * 24 * 3_600_000;
const digest = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest();
const digestLength = 32;

/**
 * @param folder made when it is not there
 * @param now milliseconds since 1970
 * @returns undefined where nothing may be written: then nothing is kept, and all is made anew each time
 */
export function cacheIn(folder: string, pid: number, now: number): Cache | undefined {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
  } catch {
    return undefined;
  }
  const used = new Set<string>();
  const place = (key: string) => join(folder, key.slice(0, 2), key);
  const put = (key: string, write: (path: string) => void) => {
    used.add(key);
    const path = place(key);
    // Renamed into its place: another build sees it whole or not at all.
    const temporary = `${path}.${pid}`;
    try {
      mkdirSync(dirname(path), { recursive: true });
      write(temporary);
      renameSync(temporary, path);
    } catch (error) {
      throw accessFailure(`cannot write ${path}`, error);
    }
  };
  return {
    get(key) {
      used.add(key);
      return checked(place(key));
    },
    put(key, bytes) {
      put(key, (path) => writeFileSync(path, Buffer.concat([digest(bytes), bytes])));
    },
    putPieces(key, pieces) {
      put(key, (path) => writeEntry(path, pieces));
    },
    clock() {
      const probe = join(folder, `clock.${pid}`);
      writeFileSync(probe, "");
      const { mtimeMs } = statSync(probe);
      rmSync(probe);
      return mtimeMs;
    },
    prune() {
      for (const path of entries(folder)) {
        const stat = statSync(path, { throwIfNoEntry: false });
        if (stat && !used.has(path.slice(path.lastIndexOf("/") + 1)) && now - stat.mtimeMs > oldest)
          rmSync(path, { force: true });
      }
    },
  };
}

/** The digest stands before the pieces, and is known after them. */
function writeEntry(path: string, pieces: Iterable<Uint8Array>): void {
  const hash = createHash("sha256");
  const file = openSync(path, "w");
  try {
    let at = digestLength;
    for (const piece of pieces) {
      hash.update(piece);
      writeAt(file, piece, at);
      at += piece.length;
    }
    writeAt(file, hash.digest(), 0);
  } finally {
    closeSync(file);
  }
}

function writeAt(file: number, bytes: Uint8Array, place: number): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at, bytes.length - at, place + at);
}

/** An entry that was damaged, or cut short, is none. */
function checked(path: string): Uint8Array | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw accessFailure(`cannot read ${path}`, error);
  }
  const payload = bytes.subarray(digestLength);
  return digest(payload).equals(bytes.subarray(0, digestLength)) ? payload : undefined;
}

function entries(folder: string): string[] {
  const folders = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders.flatMap(({ name }) =>
    readdirSync(join(folder, name)).map((entry) => join(folder, name, entry)),
  );
}

import { createHash, randomBytes } from "node:crypto";
import {
  closeSync,
  existsSync,
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
import type { RelcatError } from "../errors.ts";
import { accessFailure } from "../system/access-failure.ts";
import { isMissing } from "../system/files.ts";

/**
 * Results of earlier runs, each under the digest of its input. Deleting the folder costs time and nothing else, and
 * nothing that goes wrong in it stops a run: what cannot be read is made anew, what cannot be written is not kept.
 */
export interface Cache {
  /** @returns the bytes that were kept under this key; undefined for damaged ones and those of another key */
  get(key: string): Uint8Array | undefined;
  put(key: string, bytes: Uint8Array): void;
  /** An entry that is never in memory as a whole. */
  putPieces(key: string, pieces: Iterable<Uint8Array>): void;
  /** The same, of pieces that come one by one. The caller ends it. */
  begin(key: string): GrowingEntry;
  remove(key: string): void;
  /** Whether there is an entry, whatever it holds; it counts as asked for. */
  has(key: string): boolean;
  /** The time as files get it here, in milliseconds since 1970; 0 when no file can be written. */
  clock(): number;
  /** Removes what no run has made or asked for in the last 30 days. */
  prune(): void;
}

/** An entry that no other run sees before it is kept. */
export interface GrowingEntry {
  add(piece: Uint8Array): void;
  keep(): void;
  /** Removes what was not kept. */
  end(): void;
}

/** Called with the first failure of a cache, in a sentence. */
export type OnCacheFailure = (reason: string) => void;

const oldest = 30 * 24 * 3_600_000;
const digestLength = 32;

/** Over the key too: an entry that is copied to another key's place is none. */
const keyedHash = (key: string) => createHash("sha256").update(`${key}\0`);

/**
 * @param folder made when it does not exist
 * @param now milliseconds since 1970
 * @returns undefined where nothing can be written: then nothing is kept
 */
export function cacheIn(
  folder: string,
  pid: number,
  now: number,
  onFailure: OnCacheFailure = () => {},
): Cache | undefined {
  // Containers that share a cache may have the same process id.
  const own = `${pid}-${randomBytes(4).toString("hex")}`;
  const trials = trying(onFailure);
  const clock = () => trials.write(folder, () => timeOfNewFile(join(folder, `clock.${own}`)));
  if (clock() === undefined) return undefined;
  const used = new Set<string>();
  const place = (key: string) => join(folder, key.slice(0, 2), key);
  const begin = (key: string): GrowingEntry => {
    used.add(key);
    const path = place(key);
    // Renamed into its place: another run sees it whole or not at all.
    return growingEntry(key, path, `${path}.${own}`, trials);
  };
  const putPieces = (key: string, pieces: Iterable<Uint8Array>) => {
    const entry = begin(key);
    try {
      for (const piece of pieces) entry.add(piece);
      entry.keep();
    } finally {
      entry.end();
    }
  };
  return {
    get(key) {
      used.add(key);
      const bytes = trials.read(place(key));
      return bytes && entryBytes(key, bytes);
    },
    put: (key, bytes) => putPieces(key, [bytes]),
    putPieces,
    begin,
    remove(key) {
      trials.write(place(key), () => rmSync(place(key), { recursive: true, force: true }));
    },
    has(key) {
      used.add(key);
      return existsSync(place(key));
    },
    clock: () => clock() ?? 0,
    prune() {
      trials.write(folder, () => {
        for (const path of entries(folder)) {
          const stat = statSync(path, { throwIfNoEntry: false });
          if (stat && !used.has(path.slice(path.lastIndexOf("/") + 1)) && now - stat.mtimeMs > oldest)
            rmSync(path, { force: true });
        }
      });
    },
  };
}

interface Trials {
  /** @returns undefined when there is no file, or it cannot be read */
  read(path: string): Uint8Array | undefined;
  /** @returns undefined after a failure, and for everything after the first: a full disk is not asked again */
  write<T>(path: string, act: () => T): T | undefined;
}

/** File operations that fail without an error, but with one message for all of them. */
function trying(onFailure: OnCacheFailure): Trials {
  let [isTold, canWrite] = [false, true];
  const tell = ({ message, problems: [first] }: RelcatError) => {
    if (!isTold) onFailure(first?.message ?? message);
    isTold = true;
  };
  return {
    read(path) {
      try {
        return readFileSync(path);
      } catch (error) {
        if (!isMissing(error)) tell(accessFailure(`cannot read ${path}`, error));
        return undefined;
      }
    },
    write(path, act) {
      if (!canWrite) return undefined;
      try {
        return act();
      } catch (error) {
        canWrite = false;
        tell(accessFailure(`cannot write ${path}`, error));
        return undefined;
      }
    },
  };
}

function timeOfNewFile(path: string): number {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, "");
  const { mtimeMs } = statSync(path);
  rmSync(path);
  return mtimeMs;
}

/** The digest comes before the pieces, and is known after them. */
function growingEntry(key: string, path: string, temporary: string, { write }: Trials): GrowingEntry {
  const hash = keyedHash(key);
  let file = write(path, () => {
    mkdirSync(dirname(path), { recursive: true });
    return openSync(temporary, "w");
  });
  let size = digestLength;
  const close = () => {
    const open = file;
    file = undefined;
    if (open !== undefined) closing(open, path, write);
  };
  const add = (bytes: Uint8Array, at: number) => {
    const open = file;
    if (open === undefined) return;
    if (write(path, () => writeAt(open, bytes, at)) === undefined) close();
  };
  return {
    add(piece) {
      hash.update(piece);
      add(piece, size);
      size += piece.length;
    },
    keep() {
      add(hash.digest(), 0);
      if (file === undefined) return;
      close();
      write(path, () => {
        try {
          renameSync(temporary, path);
        } catch (error) {
          // Removed together with the folder.
          if (!isMissing(error)) throw error;
        }
      });
    },
    end() {
      close();
      try {
        rmSync(temporary, { force: true });
      } catch {
        // Left behind; pruned with the entries that no run asks for.
      }
    },
  };
}

/** Some file systems say only then that there is no space. */
function closing(file: number, path: string, write: Trials["write"]): void {
  try {
    closeSync(file);
  } catch (error) {
    write(path, () => {
      throw error;
    });
  }
}

function writeAt(file: number, bytes: Uint8Array, place: number): true {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at, bytes.length - at, place + at);
  return true;
}

/** @returns undefined for an entry that was damaged or cut short, or is another key's */
export function entryBytes(key: string, bytes: Uint8Array): Uint8Array | undefined {
  const payload = bytes.subarray(digestLength);
  const digest = keyedHash(key).update(payload).digest();
  return digest.equals(bytes.subarray(0, digestLength)) ? payload : undefined;
}

function entries(folder: string): string[] {
  const folders = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders.flatMap(({ name }) =>
    readdirSync(join(folder, name)).map((entry) => join(folder, name, entry)),
  );
}

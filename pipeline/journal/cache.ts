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
import type { RelcatError } from "../../shared/errors.ts";
import { accessFailure, refuseSpecial } from "../system/access-failure.ts";
import { isMissing } from "../system/files.ts";

/** Called with a sentence, only for the first failure of a cache. */
export type OnCacheFailure = (reason: string) => void;

export type Cache = NonNullable<ReturnType<typeof cacheIn>>;

const oldest = 30 * 24 * 3_600_000;
const digestLength = 32;

/** Includes the key, so that an entry copied to another key is invalid there. */
const keyedHash = (key: string) => createHash("sha256").update(`${key}\0`);

/**
 * Stores results of earlier runs, each under the digest of its input. An entry that cannot be read is computed again,
 * one that cannot be written is not stored, and no failure stops a run.
 * @param now milliseconds since 1970
 * @returns undefined if the folder cannot be made or written to; the run then uses no cache
 */
export function cacheIn(folder: string, pid: number, now: number, onFailure: OnCacheFailure = () => {}) {
  // The process id is not enough, because containers that share a cache may have the same one.
  const own = `${pid}-${randomBytes(4).toString("hex")}`;
  const trials = trying(onFailure);
  const clock = () => trials.write(folder, () => timeOfNewFile(join(folder, `clock.${own}`)));
  if (clock() === undefined) return undefined;
  const used = new Set<string>();
  const place = (key: string) => join(folder, key.slice(0, 2), key);
  /** Opens an entry to which pieces are added one by one. The caller must call `end`. */
  const begin = (key: string) => {
    used.add(key);
    const path = place(key);
    // The rename is atomic, so other runs see a whole entry or none.
    return growingEntry(key, path, `${path}.${own}`, trials.write);
  };
  /** Stores an entry without holding all of it in memory. */
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
    /** @returns the bytes stored under this key; undefined if they are damaged or belong to another key */
    get(key: string): Uint8Array | undefined {
      used.add(key);
      const bytes = trials.read(place(key));
      return bytes && entryBytes(key, bytes);
    },
    put: (key: string, bytes: Uint8Array) => putPieces(key, [bytes]),
    putPieces,
    begin,
    remove(key: string) {
      trials.write(place(key), () => rmSync(place(key), { recursive: true, force: true }));
    },
    /** Whether the entry exists, valid or not. Asking counts as use, so `prune` keeps the entry. */
    has(key: string) {
      used.add(key);
      return existsSync(place(key));
    },
    /** Current time of the cache's file system, in milliseconds since 1970; 0 if no file can be written. */
    clock: () => clock() ?? 0,
    /** Removes entries that no run has written or used for 30 days. */
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

/** File operations that never throw. Only the first failure is reported: the others usually have the same cause. */
function trying(onFailure: OnCacheFailure) {
  let [isReported, canWrite] = [false, true];
  const report = ({ message, problems: [first] }: RelcatError) => {
    if (!isReported) onFailure(first?.message ?? message);
    isReported = true;
  };
  return {
    /** @returns undefined if the file is missing or unreadable */
    read(path: string): Uint8Array | undefined {
      try {
        refuseSpecial(path);
        return readFileSync(path);
      } catch (error) {
        if (!isMissing(error)) report(accessFailure(`cannot read ${path}`, error));
        return undefined;
      }
    },
    /** @returns undefined after a failure, without another try, because a full disk would fail each of them */
    write<T>(path: string, act: () => T): T | undefined {
      if (!canWrite) return undefined;
      try {
        return act();
      } catch (error) {
        canWrite = false;
        report(accessFailure(`cannot write ${path}`, error));
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

/** An entry that other runs cannot see until `keep` is called. */
function growingEntry(
  key: string,
  path: string,
  temporary: string,
  write: ReturnType<typeof trying>["write"],
) {
  const hash = keyedHash(key);
  // The digest is at the start of the file, but it is known only after the last piece.
  let size = digestLength;
  let file = write(path, () => {
    mkdirSync(dirname(path), { recursive: true });
    return openSync(temporary, "w");
  });
  const writeAt = (bytes: Uint8Array, place: number) =>
    write(path, () => {
      for (let at = 0; file !== undefined && at < bytes.length; )
        at += writeSync(file, bytes, at, bytes.length - at, place + at);
    });
  const close = () => {
    const open = file;
    file = undefined;
    if (open !== undefined) closeSync(open);
  };
  return {
    add(piece: Uint8Array) {
      hash.update(piece);
      writeAt(piece, size);
      size += piece.length;
    },
    keep() {
      writeAt(hash.digest(), 0);
      write(path, () => {
        // Some file systems report a full disk only here.
        close();
        try {
          renameSync(temporary, path);
        } catch (error) {
          // Someone deleted the cache folder in the meantime, which is allowed.
          if (!isMissing(error)) throw error;
        }
      });
    },
    /** Removes the entry unless `keep` was called. */
    end() {
      try {
        close();
        rmSync(temporary, { force: true });
      } catch {
        // The file stays behind; a later run prunes it.
      }
    },
  };
}

/** @returns undefined if the entry is damaged, incomplete or of another key */
export function entryBytes(key: string, bytes: Uint8Array): Uint8Array | undefined {
  const payload = bytes.subarray(digestLength);
  const digest = keyedHash(key).update(payload).digest();
  return digest.equals(bytes.subarray(0, digestLength)) ? payload : undefined;
}

/** Files where `place` puts them. No others may be removed: the folder may be a link that someone committed. */
function entries(folder: string): string[] {
  const folders = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders.flatMap(({ name }) => {
    const own = readdirSync(join(folder, name)).filter((entry) => entry.slice(0, 2) === name);
    return own.map((entry) => join(folder, name, entry));
  });
}

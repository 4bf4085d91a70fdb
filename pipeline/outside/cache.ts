import { createHash, randomBytes } from "node:crypto";
import {
  accessSync,
  closeSync,
  constants,
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
import { accessFailure } from "./access-failure.ts";
import { isMissing } from "./files.ts";

/** Results of earlier runs, by what they were made of. Whoever deletes the folder loses time, nothing else. */
export interface Cache {
  /** What was kept, when it still is what was kept. */
  get(key: string): Uint8Array | undefined;
  put(key: string, bytes: Uint8Array): void;
  /** An entry that never lies in memory as a whole. */
  putPieces(key: string, pieces: Iterable<Uint8Array>): void;
  /** The same, of pieces that come one by one; who began it ends it. */
  begin(key: string): GrowingEntry;
  /** The time as files get it here, in milliseconds since 1970. */
  clock(): number;
  /** Removes what no run has made or asked for in the last 30 days. */
  prune(): void;
}

/** An entry that nobody sees before it is kept. */
export interface GrowingEntry {
  add(piece: Uint8Array): void;
  keep(): void;
  /** Removes what was not kept. */
  end(): void;
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
  // Containers that share a cache may have the same process id.
  const own = `${pid}-${randomBytes(4).toString("hex")}`;
  const pathsFor = (key: string) => {
    used.add(key);
    const path = place(key);
    writing(path, () => mkdirSync(dirname(path), { recursive: true }));
    // Renamed into its place: another build sees it whole or not at all.
    return { path, temporary: `${path}.${own}` };
  };
  const begin = (key: string): GrowingEntry => {
    const { path, temporary } = pathsFor(key);
    return growingEntry(path, temporary);
  };
  return {
    get(key) {
      used.add(key);
      return checked(place(key));
    },
    put(key, bytes) {
      const { path, temporary } = pathsFor(key);
      writing(path, () => {
        writeFileSync(temporary, Buffer.concat([digest(bytes), bytes]));
        renameSync(temporary, path);
      });
    },
    begin,
    putPieces(key, pieces) {
      const entry = begin(key);
      try {
        for (const piece of pieces) entry.add(piece);
        entry.keep();
      } finally {
        entry.end();
      }
    },
    clock() {
      const probe = join(folder, `clock.${own}`);
      mkdirSync(folder, { recursive: true });
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
function growingEntry(path: string, temporary: string): GrowingEntry {
  const hash = createHash("sha256");
  const file = writing(path, () => openSync(temporary, "w"));
  let [size, isOpen] = [digestLength, true];
  const close = () => {
    if (isOpen) closeSync(file);
    isOpen = false;
  };
  const write = (bytes: Uint8Array, at: number) => writing(path, () => writeAt(file, bytes, at));
  return {
    add(piece) {
      hash.update(piece);
      write(piece, size);
      size += piece.length;
    },
    keep() {
      write(hash.digest(), 0);
      close();
      // Whoever takes the cache away meanwhile takes it along.
      if (existsSync(temporary)) writing(path, () => renameSync(temporary, path));
    },
    end() {
      close();
      rmSync(temporary, { force: true });
    },
  };
}

/** @throws RelcatError file-access */
function writing<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw accessFailure(`cannot write ${path}`, error);
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

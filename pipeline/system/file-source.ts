import { createHash } from "node:crypto";
import { type BigIntStats, closeSync, fstatSync, openSync, read, readSync, statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename } from "node:path";
import { promisify } from "node:util";
import { type ByteSource, refuseBeyond, release } from "../../inspect/bytes/byte-source.ts";
import { failure } from "../../shared/errors.ts";
import type { MeasuredFile } from "../documents/object-store.ts";
import { accessFailure, refuseSpecial } from "./access-failure.ts";
import { startThread } from "./thread.ts";

/**
 * A file of any size, read with the memory of four chunks and of the largest random access. All methods throw
 * RelcatError file-access, and file-changed if the file changes during reading.
 */
export interface FileSource extends ByteSource {
  /** SHA-256 of the whole file, from the first full pass or computed now. */
  sha256(): Promise<string>;
  close(): void;
}

/** @param onBytes receives the number of bytes that a pass has read @throws RelcatError file-access */
export function fileSource(path: string, onBytes: (done: number) => void = () => {}): FileSource {
  const descriptor = attempt(path, () => {
    refuseSpecial(path);
    return openSync(path, "r");
  });
  const before = fstatSync(descriptor, { bigint: true });
  const at = { name: basename(path), size: Number(before.size) };
  let sha256: string | undefined;
  let piece = Buffer.alloc(0);
  let held: Uint8Array | undefined;

  // Checks the path too, because a build that renames a new file into place changes only that.
  const refuseChanged = () =>
    attempt(path, () => {
      for (const after of [fstatSync(descriptor, { bigint: true }), statSync(path, { bigint: true })])
        if (!isSame(before, after)) throw changed(path);
    });

  /** Reads a short file in one system call, because each call costs as much as reading it. */
  function wholeShortFile(): Uint8Array {
    if (held) return held;
    const bytes = Buffer.allocUnsafeSlow(at.size + 1);
    if (attempt(path, () => readSync(descriptor, bytes, 0, bytes.length, 0)) !== at.size) throw changed(path);
    refuseChanged();
    held = bytes.subarray(0, at.size);
    return held;
  }

  async function pass(take: Take, hash: PassHash | undefined): Promise<void> {
    if (at.size <= shortSize) {
      const bytes = wholeShortFile();
      hash?.update(bytes);
      if (bytes.length === 0) return;
      onBytes(bytes.length);
      await take(bytes, 0);
      return;
    }
    const takeAndReport: Take = (chunk, from) => {
      onBytes(from + chunk.length);
      return take(chunk, from);
    };
    const done = await readAhead(descriptor, at.size, takeAndReport, hash).catch((error) => {
      throw asAccessFailure(path, error);
    });
    if (done !== at.size) throw changed(path);
  }

  async function passInThread(read: NonNullable<PassHash["read"]>): Promise<void> {
    let done = 0;
    let count = partSize;
    while (count === partSize) {
      count = await read({ descriptor, from: done, length: partSize }).catch((error) => {
        throw asAccessFailure(path, error);
      });
      done += count;
      if (done > at.size) throw changed(path);
      onBytes(done);
    }
    if (done !== at.size) throw changed(path);
  }

  async function hashing(readAll: (hash: PassHash | undefined) => Promise<void>): Promise<void> {
    const hash = sha256 === undefined ? passHash(at.size) : undefined;
    try {
      await readAll(hash);
      refuseChanged();
      sha256 ??= await hash?.digest();
    } finally {
      hash?.end();
    }
  }

  return {
    ...at,
    read(from, length) {
      refuseBeyond(at, from, length);
      if (at.size <= shortSize) return wholeShortFile().subarray(from, from + length);
      if (piece.length < length) piece = Buffer.allocUnsafeSlow(length);
      const count = attempt(path, () => readSync(descriptor, piece, 0, length, from));
      if (count !== length) throw changed(path);
      return piece.subarray(0, length);
    },
    each: (take) => hashing((hash) => pass(take, hash)),
    async sha256() {
      if (sha256 === undefined)
        await hashing((hash) => (hash?.read ? passInThread(hash.read) : pass(() => {}, hash)));
      refuseChanged();
      return sha256 ?? "";
    },
    close: () => closeSync(descriptor),
  };
}

/** Smaller chunks need more memory, because each leaves promises to garbage collection. */
const chunkSize = 1024 * 1024;
/** A thread that reads reports after each part. */
const partSize = 16 * chunkSize;
/** Uses no more memory than two chunks. */
const shortSize = 2 * chunkSize;
const readInto = promisify(read);

type Take = (chunk: Uint8Array, at: number) => void | Promise<void>;

/** Takes one chunk while the next is read. @returns number of bytes up to the end, or to the first missing one */
async function readAhead(
  descriptor: number,
  total: number,
  take: Take,
  hash: PassHash | undefined,
): Promise<number> {
  const buffers = hash?.buffers ?? [Buffer.allocUnsafeSlow(chunkSize), Buffer.allocUnsafeSlow(chunkSize)];
  const hashed: (Promise<unknown> | undefined)[] = [];
  const readAt = async (index: number, from: number) => {
    const slot = index % buffers.length;
    await hashed[slot];
    const buffer = buffers[slot] as Buffer;
    const { bytesRead } = await readInto(descriptor, buffer, 0, chunkSize, from);
    return buffer.subarray(0, bytesRead);
  };
  let done = 0;
  let reading = readAt(0, 0);
  try {
    for (let index = 0; ; index++) {
      const chunk = await reading;
      if (chunk.length === 0 || done > total) return done;
      reading = readAt(index + 1, done + chunk.length);
      hashed[index % buffers.length] = hash?.update(chunk);
      const processed = take(chunk, done);
      if (processed) await processed;
      done += chunk.length;
    }
  } finally {
    await reading.catch(() => {}); // Awaited only so that its failure does not end the process.
    for (const buffer of buffers) release(buffer);
  }
}

const isSame = (a: BigIntStats, b: BigIntStats) =>
  (["size", "mtimeNs", "ctimeNs", "ino", "dev"] as const).every((member) => a[member] === b[member]);

function attempt<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw asAccessFailure(path, error);
  }
}

const asAccessFailure = (path: string, error: unknown) =>
  (error as NodeJS.ErrnoException).syscall ? accessFailure(`cannot read ${path}`, error) : error;

const changed = (path: string) =>
  failure(
    "file-changed",
    `${path} was changed while it was read`,
    "Wait until the build has finished, then run the command again.",
    { file: path, line: 1, column: 1 },
  );

/** Uses the memory of at most two chunks. @throws RelcatError file-changed if it changes during reading; file-access */
export async function hashFile(path: string, onBytes?: (done: number) => void): Promise<MeasuredFile> {
  const file = fileSource(path, onBytes);
  try {
    return { sha256: await file.sha256(), size: file.size };
  } finally {
    file.close();
  }
}

interface PassHash {
  /** Memory that the hash shares with the reader; undefined: any memory is suitable. */
  buffers?: readonly Buffer[];
  /** Ends when the chunk may be overwritten. */
  update(chunk: Uint8Array): Promise<unknown> | undefined;
  /** Reads and hashes a part of an open file; undefined: only the caller can. @returns bytes read, fewer at the end */
  read?(part: { descriptor: number; from: number; length: number }): Promise<number>;
  digest(): Promise<string>;
  /** Must also be called if the pass failed. */
  end(): void;
}

/** Smaller files are hashed before a thread has started. */
const worthAThread = 8 << 20;
/** One is read and one is hashed; the others keep both threads busy. */
const buffersOfThread = 4;

const idle: PassHash[] = [];
let started = 0;

/** Hashes in a thread of its own, at most one for each core; otherwise, and for small files, in this thread. */
function passHash(size: number): PassHash {
  if (size < worthAThread) return hashHere();
  const cores = availableParallelism();
  return idle.pop() ?? (cores > 1 && started < cores ? startHash() : hashHere());
}

function hashHere(): PassHash {
  const hash = createHash("sha256");
  return {
    update: (chunk) => void hash.update(chunk),
    digest: async () => hash.digest("hex"),
    end() {},
  };
}

const program = `
const { createHash } = process.getBuiltinModule("node:crypto");
const { readSync } = process.getBuiltinModule("node:fs");
let hash = createHash("sha256");
let piece;
function answer(job) {
  if (job === undefined) {
    const digest = hash.digest("hex");
    hash = createHash("sha256");
    return digest;
  }
  if (job instanceof Uint8Array) return void hash.update(job);
  piece ??= new Uint8Array(${256 << 10});
  let done = 0;
  while (done < job.length) {
    const count = readSync(job.descriptor, piece, 0, Math.min(piece.length, job.length - done), job.from + done);
    if (count === 0) break;
    hash.update(piece.subarray(0, count));
    done += count;
  }
  return done;
}
`;

function startHash(): PassHash {
  started++;
  const { ask } = startThread(program);
  let isUsed = false;
  let buffers: readonly Buffer[] | undefined;
  const hash: PassHash = {
    get buffers() {
      buffers ??= Array.from({ length: buffersOfThread }, () =>
        Buffer.from(new SharedArrayBuffer(chunkSize)),
      );
      return buffers;
    },
    update(chunk) {
      isUsed = true;
      return ask(chunk);
    },
    read(part) {
      isUsed = true;
      return ask(part) as Promise<number>;
    },
    async digest() {
      const digest = (await ask(undefined)) as string;
      isUsed = false;
      return digest;
    },
    end() {
      if (isUsed) hash.digest().then(hash.end, () => started--);
      else idle.push(hash);
    },
  };
  return hash;
}

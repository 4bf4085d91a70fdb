import { createHash } from "node:crypto";
import { availableParallelism } from "node:os";
import { startThread } from "./thread.ts";

export interface PassHash {
  /** Memory that the hash shares with the reader; undefined: any memory is suitable. */
  buffers?: readonly Buffer[];
  /** Ends when the chunk may be overwritten. */
  update(chunk: Uint8Array): Promise<unknown> | undefined;
  /**
   * Reads a part of an open file and hashes it; undefined: only the caller can read.
   * @returns number of bytes, fewer than asked for at the end of the file
   */
  read?(part: { descriptor: number; from: number; length: number }): Promise<number>;
  digest(): Promise<string>;
  /** Must also be called if the pass failed. */
  end(): void;
}

/** Smaller files are hashed before a thread has started. */
const worthAThread = 8 << 20;
const chunkSize = 1 << 20;
/** One is read and one is hashed; the others keep both threads busy. */
const buffersOfThread = 4;

const idle: PassHash[] = [];
let started = 0;

/** Hashes in a thread of its own, at most one for each core; otherwise, and for small files, in this thread. */
export function passHash(size: number): PassHash {
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

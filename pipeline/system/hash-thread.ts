import { createHash } from "node:crypto";
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";

export interface PassHash {
  /** Memory that the hash shares with the reader; undefined: any memory is suitable. */
  buffers?: readonly Buffer[];
  /** Ends when the chunk may be overwritten. */
  update(chunk: Uint8Array): Promise<unknown> | undefined;
  /**
   * Reads a part of an open file and hashes it; undefined: only the caller can read.
   * @returns number of bytes, fewer than asked for at the end of the file
   */
  read?(part: FilePart): Promise<number>;
  digest(): Promise<string>;
  /** Must also be called if the pass failed. */
  end(): void;
}

export interface FilePart {
  descriptor: number;
  from: number;
  length: number;
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
  return idle.pop() ?? (cores > 1 && started < cores ? startThread() : hashHere());
}

function hashHere(): PassHash {
  const hash = createHash("sha256");
  return {
    update: (chunk) => void hash.update(chunk),
    digest: async () => hash.digest("hex"),
    end() {},
  };
}

/** A text, because the bundle, the compiled files and the sources would each need another path to a file. */
const program = `
const { parentPort } = process.getBuiltinModule("node:worker_threads");
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
parentPort.on("message", (job) => {
  try {
    parentPort.postMessage({ answer: answer(job) });
  } catch (error) {
    // A copy of an error has no code.
    parentPort.postMessage({ failure: { ...error, message: error.message } });
  }
});
`;

interface Waiting {
  resolve(answer: unknown): void;
  reject(error: Error): void;
}

function startThread(): PassHash {
  started++;
  const worker = new Worker(program, { eval: true, execArgv: [] });
  let isUsed = false;
  let buffers: readonly Buffer[] | undefined;
  const waiting: Waiting[] = [];
  worker.on("message", ({ answer, failure }) => {
    const job = waiting.shift();
    // An idle thread must not keep the process alive, and one that hashes must.
    if (waiting.length === 0) worker.unref();
    if (failure) job?.reject(Object.assign(new Error(failure.message), failure));
    else job?.resolve(answer);
  });
  const ask = (job?: Uint8Array | FilePart) => {
    isUsed = true;
    worker.ref();
    worker.postMessage(job);
    return new Promise<unknown>((resolve, reject) => waiting.push({ resolve, reject }));
  };
  const thread: PassHash = {
    get buffers() {
      buffers ??= Array.from({ length: buffersOfThread }, () =>
        Buffer.from(new SharedArrayBuffer(chunkSize)),
      );
      return buffers;
    },
    update: ask,
    read: (part) => ask(part) as Promise<number>,
    async digest() {
      const digest = (await ask()) as string;
      isUsed = false;
      return digest;
    },
    end() {
      if (isUsed) void thread.digest().then(thread.end);
      else idle.push(thread);
    },
  };
  return thread;
}

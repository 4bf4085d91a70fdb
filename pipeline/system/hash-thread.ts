import { createHash } from "node:crypto";
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";

/** The SHA-256 of one pass over a file. */
export interface PassHash {
  /** Memory that the hash shares with the reader; undefined: any memory is suitable. */
  buffers?: readonly Buffer[];
  /** Ends when the chunk may be overwritten. */
  update(chunk: Uint8Array): Promise<unknown> | undefined;
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
let hash = createHash("sha256");
parentPort.on("message", (chunk) => {
  if (chunk) hash.update(chunk);
  parentPort.postMessage(chunk ? null : hash.digest("hex"));
  if (!chunk) hash = createHash("sha256");
});
`;

function startThread(): PassHash {
  started++;
  const worker = new Worker(program, { eval: true, execArgv: [] });
  let isUsed = false;
  const waiting: ((answer: string) => void)[] = [];
  worker.on("message", (answer) => waiting.shift()?.(answer));
  const ask = (chunk?: Uint8Array) => {
    // An idle thread must not keep the process alive, and one that hashes must.
    if (waiting.length === 0) worker.ref();
    worker.postMessage(chunk);
    return new Promise<string>((resolve) => waiting.push(resolve)).finally(() => {
      if (waiting.length === 0) worker.unref();
    });
  };
  const thread: PassHash = {
    buffers: Array.from({ length: buffersOfThread }, () => Buffer.from(new SharedArrayBuffer(chunkSize))),
    update(chunk) {
      isUsed = true;
      return ask(chunk);
    },
    digest: async () => {
      const digest = await ask();
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

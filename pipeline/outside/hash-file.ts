import { type Problem, RelcatError } from "../errors.ts";
import { fileSource, type Pace } from "./file-source.ts";
import { threadFile } from "./thread.ts";

/** What a file's bytes are. */
export interface Measure {
  sha256: string;
  size: number;
}

/** Called after every chunk: bytes read so far, and those the file had when it was opened. */
export type OnBytes = (done: number, total: number) => void;

/**
 * SHA-256 and size of a file of any size, in the memory of two chunks at most.
 * @throws RelcatError file-changed when the file did not stand still meanwhile; file-access
 */
export async function hashFile(path: string, onBytes: OnBytes = () => {}, pace?: Pace): Promise<Measure> {
  const file = fileSource(path, pace);
  try {
    await file.each((chunk, at) => onBytes(at + chunk.length, file.size));
    return { sha256: await file.sha256(), size: file.size };
  } finally {
    file.close();
  }
}

/** Files that another thread hashes while this one reads the rest. */
export interface HashedAside<F> {
  /**
   * A file that the other thread has begun; it rejects with what hashFile throws.
   * @returns undefined for one that it has not: it is the caller's now
   */
  take(file: F): Promise<Measure> | undefined;
  /** Ends the thread, whatever it is at. */
  end(): Promise<void>;
}

/** A file that another thread may hash. */
export interface HashTask {
  path: string;
  pace: Pace;
}

/** What the thread says: bytes read since it last said so, and what became of the file. */
export type HashReply = { bytes: number } | { measure: Measure } | { problems: readonly Problem[] };

/**
 * Has another thread hash files from the last to the first; who reads them from the first on meets it.
 * @param onBytes called with the bytes that were read since it was last called
 */
export async function hashAside<F extends HashTask>(
  files: readonly F[],
  onBytes: (bytes: number) => void,
): Promise<HashedAside<F>> {
  const { Worker } = await import("node:worker_threads"); // Not loaded where one file is read.
  const thread = new Worker(threadFile(import.meta.url, "hash-thread"));
  const waiting = [...files];
  const begun = new Map<F, Promise<Measure>>();
  let current = begin();

  function begin(): PromiseWithResolvers<Measure> {
    const outcome = Promise.withResolvers<Measure>();
    outcome.promise.catch(() => {}); // Who wants it comes later, or not at all when another file fails before.
    const file = waiting.pop();
    if (!file) return outcome;
    begun.set(file, outcome.promise);
    thread.postMessage({ path: file.path, pace: file.pace } satisfies HashTask);
    return outcome;
  }

  function hear(reply: HashReply) {
    if ("bytes" in reply) return onBytes(reply.bytes);
    if ("measure" in reply) current.resolve(reply.measure);
    else current.reject(new RelcatError(reply.problems));
    current = begin();
  }

  thread.on("error", (error) => current.reject(error));
  thread.on("message", (reply: HashReply) => {
    try {
      hear(reply);
    } catch (error) {
      current.reject(error); // onBytes is the caller's, and so is what it throws.
    }
  });
  return {
    take(file) {
      const outcome = begun.get(file);
      if (!outcome) waiting.splice(waiting.indexOf(file), 1);
      return outcome;
    },
    async end() {
      await thread.terminate();
    },
  };
}

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

/**
 * Has another thread hash files from the last to the first; who reads them from the first on meets it.
 * @param onBytes called with the bytes that were read since it was last called
 */
export async function hashAside<F extends HashTask>(
  files: readonly F[],
  onBytes: (bytes: number) => void,
): Promise<HashedAside<F>> {
  const { startThread } = await import("./second-thread.ts"); // Not loaded where one file is read.
  const program = threadFile(import.meta.url, "hash-thread");
  const thread = startThread<HashTask, Measure, number>(program, undefined, onBytes);
  const waiting = [...files];
  const begun = new Map<F, Promise<Measure>>();

  function begin(): void {
    const file = waiting.pop();
    if (!file) return;
    const measure = thread.ask({ path: file.path, pace: file.pace });
    begun.set(file, measure);
    measure.then(begin, begin);
  }

  begin();
  return {
    take(file) {
      const measure = begun.get(file);
      if (!measure) waiting.splice(waiting.indexOf(file), 1);
      return measure;
    },
    end: () => thread.stop(),
  };
}

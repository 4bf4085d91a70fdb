import { fileSource, type Pace } from "./file-source.ts";
import { threadFile } from "./thread.ts";

export interface Measure {
  sha256: string;
  size: number;
}

/** Called after every chunk with the bytes read so far and the file's size when it was opened. */
export type OnBytes = (done: number, total: number) => void;

/**
 * SHA-256 and size of a file, using the memory of at most two chunks.
 * @throws RelcatError file-changed if the file changes during reading; file-access
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

/** Files that another thread hashes while this one reads the others. */
export interface HashedAside<F> {
  /**
   * Result for a file that the other thread has started; it rejects like hashFile.
   * @returns undefined: not started, so the caller must hash it
   */
  take(file: F): Promise<Measure> | undefined;
  /** Terminates the thread, even during a file. */
  end(): Promise<void>;
}

export interface HashTask {
  path: string;
  pace: Pace;
}

/**
 * Lets another thread hash files from last to first, while the caller reads them from first to last until
 * they meet.
 * @param onBytes called with the number of bytes since its last call
 */
export async function hashAside<F extends HashTask>(
  files: readonly F[],
  onBytes: (bytes: number) => void,
): Promise<HashedAside<F>> {
  const { startThread } = await import("./second-thread.ts"); // Imported lazily, because a single file does not need it.
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

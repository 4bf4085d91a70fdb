import { availableParallelism } from "node:os";

/**
 * After a failure, no further item is started, and those in progress finish.
 * @param most maximum number in progress
 * @returns results in the order of the items
 * @throws the failure of the first of the items that failed, whichever failed earlier
 */
export async function inParallel<T, R>(
  items: readonly T[],
  most: number,
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results = new Array<R>(items.length);
  const failures: { index: number; error: unknown }[] = [];
  let next = 0;
  const worker = async () => {
    while (failures.length === 0 && next < items.length) {
      const index = next++;
      try {
        results[index] = await work(items[index] as T, index);
      } catch (error) {
        failures.push({ index, error });
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker));
  const [first] = failures.sort((a, b) => a.index - b.index);
  if (first) throw first.error;
  return results;
}

/** Progress over the bytes of all files; `file` is the one that was read last. */
export interface ReadProgress {
  file: string;
  done: number;
  total: number;
}

export interface Reading {
  /** Maximum number of files in progress; default: one for each core. */
  jobs?: number | undefined;
  onProgress?: ((progress: ReadProgress) => void) | undefined;
}

/**
 * Reads several files at the same time, the largest first. After a failure, the others stop.
 * @param work calls `onBytes` with the bytes of its file that it has read, and ends if that throws
 * @returns results in the order of the files
 * @throws the first failure
 */
export async function readFilesAtOnce<F extends { name: string; size: number }, R>(
  files: readonly F[],
  { jobs = availableParallelism(), onProgress }: Reading,
  work: (file: F, onBytes: (done: number) => void) => Promise<R>,
): Promise<R[]> {
  const total = files.reduce((bytes, { size }) => bytes + size, 0);
  let done = 0;
  let failure: { error: unknown } | undefined;
  const bySize = [...files.entries()].sort(([, a], [, b]) => b.size - a.size);
  const results = new Array<R>(files.length);
  await inParallel(bySize, jobs, async ([index, file]) => {
    let reported = 0;
    const onBytes = (bytes: number) => {
      if (failure) throw failure.error;
      if (bytes <= reported) return; // A reader may pass over the file again.
      done += bytes - reported;
      reported = bytes;
      onProgress?.({ file: file.name, done, total });
    };
    try {
      results[index] = await work(file, onBytes);
      onBytes(file.size);
    } catch (error) {
      failure ??= { error };
      throw error;
    }
  });
  return results;
}

import { fileSource } from "./file-source.ts";

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
export async function hashFile(path: string, onBytes: OnBytes = () => {}): Promise<Measure> {
  const file = fileSource(path);
  try {
    await file.each((chunk, at) => onBytes(at + chunk.length, file.size));
    return { sha256: await file.sha256(), size: file.size };
  } finally {
    file.close();
  }
}

import { fileSource } from "./file-source.ts";

/** What a file's bytes are. */
export interface Measure {
  sha256: string;
  size: number;
}

/** Called after every chunk: bytes read so far, and those the file had when it was opened. */
export type OnBytes = (done: number, total: number) => void;

/**
 * SHA-256 and size of a file of any size, in the memory of two chunks: one is hashed while the other is read.
 * @throws RelcatError file-changed when the file did not stand still meanwhile; file-access
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

import { fileSource } from "./file-source.ts";

export interface Measure {
  sha256: string;
  size: number;
}

/**
 * SHA-256 and size of a file, using the memory of at most two chunks.
 * @throws RelcatError file-changed if the file changes during reading; file-access
 */
export async function hashFile(path: string, onBytes?: (done: number) => void): Promise<Measure> {
  const file = fileSource(path, onBytes);
  try {
    return { sha256: await file.sha256(), size: file.size };
  } finally {
    file.close();
  }
}

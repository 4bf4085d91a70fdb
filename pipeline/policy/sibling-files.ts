import { basename, dirname, join } from "node:path";
import type { ByteSource } from "../../inspect/bytes/byte-source.ts";
import { type FileSource, fileSource } from "../system/file-source.ts";
import { pathInfo } from "../system/input-files.ts";

export interface FileWithNeighbours {
  file: FileSource;
  /** Undefined: the folder has no such file. */
  openSibling(name: string): ByteSource | undefined;
}

/**
 * Opens a file for `work`, and then closes it and the neighbours that were opened.
 * @param onBytes receives the number of bytes of the file that a pass has read
 * @throws RelcatError file-access, and those of `work`
 */
export async function withNeighbours<T>(
  path: string,
  onBytes: ((done: number) => void) | undefined,
  work: (opened: FileWithNeighbours) => Promise<T>,
): Promise<T> {
  const file = fileSource(path, onBytes);
  const opened = [file];
  const openSibling = (name: string) => {
    if (!isFileName(name)) return undefined;
    // biome-ignore lint/plugin: a checked file name in the user's own folder, where links are allowed.
    const at = join(dirname(path), name);
    if (pathInfo(at).kind !== "file") return undefined;
    const source = fileSource(at);
    opened.push(source);
    return source;
  };
  try {
    return await work({ file, openSibling });
  } finally {
    for (const source of opened) source.close();
  }
}

/** A signed text may contain names with a folder, or names that no file can have. */
export const isFileName = (name: string): boolean =>
  basename(name) === name && Buffer.byteLength(name) <= 255 && !name.includes("\0");

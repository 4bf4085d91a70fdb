import { basename, dirname, join } from "node:path";
import type { ByteSource } from "../../inspect/bytes/byte-source.ts";
import { type FileSource, fileSource } from "../system/file-source.ts";
import { pathInfo } from "../system/input-files.ts";

export interface FileWithNeighbours {
  file: FileSource;
  /** Undefined: the folder has no such file. */
  openSibling(name: string): ByteSource | undefined;
  close(): void;
}

/**
 * @param onBytes receives the number of bytes of the file that a pass has read
 * @throws RelcatError file-access, also when the returned sources are read
 */
export function openWithNeighbours(path: string, onBytes?: (done: number) => void): FileWithNeighbours {
  const file = fileSource(path, onBytes);
  const opened = [file];
  return {
    file,
    openSibling(name) {
      if (!isFileName(name)) return undefined;
      // biome-ignore lint/plugin: a checked file name in the user's own folder, where links are allowed.
      const at = join(dirname(path), name);
      if (pathInfo(at).kind !== "file") return undefined;
      const source = fileSource(at);
      opened.push(source);
      return source;
    },
    close() {
      for (const source of opened) source.close();
    },
  };
}

/** A signed text may contain names with a folder, or names that no file can have. */
export const isFileName = (name: string): boolean =>
  basename(name) === name && Buffer.byteLength(name) <= 255 && !name.includes("\0");

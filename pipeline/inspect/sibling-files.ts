import { basename, dirname, join } from "node:path";
import type { ByteSource } from "../system/byte-source.ts";
import { type FileSource, fileSource } from "../system/file-source.ts";
import { lookAt } from "../system/input-files.ts";

/** A file, and those of its folder that it belongs together with. */
export interface FileWithNeighbours {
  file: FileSource;
  /** The file of that name in the same folder, if there is one. */
  beside(name: string): ByteSource | undefined;
  close(): void;
}

/** @throws RelcatError file-access, here and in what is read */
export function openWithNeighbours(path: string): FileWithNeighbours {
  const file = fileSource(path);
  const opened = [file];
  return {
    file,
    beside(name) {
      if (!isFileName(name)) return undefined;
      // biome-ignore lint/plugin: it is the name of a file, and a person's folder may have links.
      const at = join(dirname(path), name);
      if (lookAt(at).kind !== "file") return undefined;
      const source = fileSource(at);
      opened.push(source);
      return source;
    },
    close() {
      for (const source of opened) source.close();
    },
  };
}

/** Names that a signed text brings along may lead elsewhere, or be none that a file can have. */
export const isFileName = (name: string): boolean =>
  basename(name) === name && Buffer.byteLength(name) <= 255 && !name.includes("\0");

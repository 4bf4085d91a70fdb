import { closeSync, openSync, readSync, realpathSync, statSync } from "node:fs";
import { accessFailure } from "./access-failure.ts";
import { isMissing } from "./files.ts";

export interface PathInfo {
  /** A stream is a pipe or terminal, which can be read only once. */
  kind: "folder" | "file" | "stream" | "missing";
  /** With all symbolic links resolved, such as the store path behind `result`. */
  realPath: string;
  size: number;
}

/** @throws RelcatError file-access if the path cannot be read */
export function pathInfo(path: string): PathInfo {
  try {
    const stats = statSync(path);
    const kind = stats.isDirectory() ? "folder" : stats.isFile() ? "file" : "stream";
    return { kind, realPath: kind === "stream" ? path : realpathSync(path), size: stats.size };
  } catch (error) {
    if (isMissing(error)) return { kind: "missing", realPath: path, size: 0 };
    throw accessFailure(`cannot read ${path}`, error);
  }
}

/** The first bytes of a file, fewer if it is shorter. */
export function readHead(path: string, length: number): Uint8Array {
  try {
    const descriptor = openSync(path, "r");
    try {
      const bytes = new Uint8Array(length);
      return bytes.subarray(0, readSync(descriptor, bytes, 0, length, 0));
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    throw accessFailure(`cannot read ${path}`, error);
  }
}

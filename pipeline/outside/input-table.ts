import { createHash } from "node:crypto";
import { resolve } from "node:path";
import type { Cache } from "./cache.ts";
import { type FileState, isRacy } from "./file-stats.ts";

/** Digests of authored files by the state they had, so that what did not change is not read again. */
export interface InputTable {
  /** The digest of a file that is as it was; undefined: it must be read. */
  known(path: string): string | undefined;
  /** @param digests of files as they were read or known, by path relative to the folder */
  save(digests: ReadonlyMap<string, string>): void;
}

interface Saved {
  taken: number;
  files: Record<string, [state: FileState, sha256: string]>;
}

/** @param now states from before anything was read: what changes later has another one then */
export function inputTable(cache: Cache, folder: string, now: ReadonlyMap<string, FileState>): InputTable {
  const name = `inputs-${createHash("sha256").update(resolve(folder)).digest("hex")}`;
  const bytes = cache.get(name);
  const before: Saved = bytes ? JSON.parse(new TextDecoder().decode(bytes)) : { taken: 0, files: {} };
  return {
    known(path) {
      const [state, sha256] = before.files[path] ?? [];
      if (state === undefined || state !== now.get(`${folder}/${path}`)) return undefined;
      return isRacy(state, before.taken) ? undefined : sha256;
    },
    save(digests) {
      const files: Saved["files"] = {};
      for (const [path, sha256] of digests) {
        const state = now.get(`${folder}/${path}`);
        if (state !== undefined) files[path] = [state, sha256];
      }
      cache.put(name, new TextEncoder().encode(JSON.stringify({ taken: cache.clock(), files })));
    },
  };
}

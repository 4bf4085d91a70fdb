import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Cache } from "./cache.ts";
import { type FileState, fileState, isRacy } from "./file-stats.ts";

export interface MadeFile {
  path: string;
  sha256: string;
  size: number;
}

interface Group {
  key: string;
  files: (MadeFile & { state: FileState })[];
}

/** What builds made in a folder, and of what: groups of files, each under the digest of all it was made of. */
export interface OutputTable {
  /** The group's files, when they were made of the same and still lie there as they were made. */
  recall(name: string, key: string): MadeFile[] | undefined;
  /** Notes files that lie in the folder now. */
  keep(name: string, key: string, files: readonly MadeFile[]): void;
  save(): void;
}

/** @param program what tells it from any other: another one makes other files of the same */
export function outputTable(cache: Cache, out: string, program: string): OutputTable {
  const name = `outputs-${createHash("sha256")
    .update(`${program}\n${resolve(out)}`)
    .digest("hex")}`;
  const bytes = cache.get(name);
  const before: { taken: number; groups: Record<string, Group> } = bytes
    ? JSON.parse(new TextDecoder().decode(bytes))
    : { taken: 0, groups: {} };
  const groups: Record<string, Group> = {};
  const stands = ({ path, sha256, state }: Group["files"][number]) => {
    const now = fileState(join(out, path));
    if (now === undefined || now !== state) return false;
    return !isRacy(state, before.taken) || digestOf(join(out, path)) === sha256;
  };
  return {
    recall(name, key) {
      const group = before.groups[name];
      if (group?.key !== key || !group.files.every(stands)) return undefined;
      groups[name] = group;
      return group.files;
    },
    keep(name, key, files) {
      const stated = files.map(({ path, sha256, size }) => {
        return { path, sha256, size, state: fileState(join(out, path)) ?? "" };
      });
      groups[name] = { key, files: stated };
    },
    save() {
      cache.put(name, new TextEncoder().encode(JSON.stringify({ taken: cache.clock(), groups })));
    },
  };
}

const digestOf = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex");

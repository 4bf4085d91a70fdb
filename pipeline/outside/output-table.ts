import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Cache, GrowingEntry } from "./cache.ts";
import { isRecent, isSameLook, type Look, lookAt } from "./file-stats.ts";

export interface MadeFile {
  path: string;
  sha256: string;
  size: number;
}

/** What builds made in a folder, and of what: groups of files, each under the digest of all it was made of. */
export interface OutputTable {
  /** The group's files, when they were made of the same and still lie there as they were made. */
  recall(name: string, key: string): MadeFile[] | undefined;
  /** SHA-256 of one of a group's files, when it still lies there as it was made, of whatever. */
  untouched(name: string, path: string): string | undefined;
  /** Notes files that lie in the folder now. */
  keep(name: string, key: string, files: readonly MadeFile[]): void;
  save(): void;
  /** Once: what was not saved leaves nothing. */
  end(): void;
}

/** As it is kept: objects would take several times as much. */
interface Group {
  key: string;
  /** JSON of its files. */
  line: Uint8Array;
}

/** Of a file that was gone when it was kept, `null`. */
type Row = readonly [path: string, sha256: string, size: number, look: Look | null];

/** @param program what tells it from any other: another one makes other files of the same */
export function outputTable(cache: Cache, out: string, program: string): OutputTable {
  const entryName = `output-groups-${createHash("sha256")
    .update(`${program}\n${resolve(out)}`)
    .digest("hex")}`;
  const before = readGroups(cache.get(entryName));
  let entry: GrowingEntry | undefined;
  // Not kept in memory meanwhile: at 250,000 records they are 50 MB.
  const write = (name: string, { key, line }: Group) => {
    entry ??= cache.begin(entryName);
    entry.add(Buffer.concat([encoder.encode(`${JSON.stringify([name, key])}\n`), line, lineFeed]));
  };
  const stands = ([path, sha256, , look]: Row) => {
    const now = lookAt(join(out, path));
    if (!now || !look || !isSameLook(now, look)) return false;
    return !isRecent(look, before.taken) || digestOf(join(out, path)) === sha256;
  };
  const rowsOf = ({ line }: Group): Row[] => JSON.parse(decoder.decode(line));
  return {
    recall(name, key) {
      const group = before.groups.get(name);
      if (group?.key !== key) return undefined;
      const rows = rowsOf(group);
      if (!rows.every(stands)) return undefined;
      write(name, group);
      return rows.map(([path, sha256, size]) => ({ path, sha256, size }));
    },
    untouched(name, path) {
      const group = before.groups.get(name);
      const row = group && rowsOf(group).find(([known]) => known === path);
      return row && stands(row) ? row[1] : undefined;
    },
    keep(name, key, files) {
      const rows = files.map(({ path, sha256, size }): Row => {
        return [path, sha256, size, lookAt(join(out, path)) ?? null];
      });
      write(name, { key, line: encoder.encode(JSON.stringify(rows)) });
    },
    save() {
      entry ??= cache.begin(entryName);
      entry.add(encoder.encode(`${cache.clock()}\n`));
      entry.keep();
    },
    end() {
      entry?.end();
    },
  };
}

const digestOf = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex");

const [encoder, decoder] = [new TextEncoder(), new TextDecoder()];
const lineFeed = encoder.encode("\n");

/** Of each group its name and key, and its files; at the end when they were saved. */
function readGroups(bytes: Uint8Array = new Uint8Array()): { taken: number; groups: Map<string, Group> } {
  const groups = new Map<string, Group>();
  const lines = linesIn(bytes);
  for (const head of lines) {
    const line = lines.next().value;
    if (!line) return { taken: Number(decoder.decode(head)), groups };
    const [name, key]: [string, string] = JSON.parse(decoder.decode(head));
    groups.set(name, { key, line });
  }
  return { taken: 0, groups };
}

/** Views into the bytes: nothing is copied. */
function* linesIn(bytes: Uint8Array): Generator<Uint8Array, undefined> {
  for (let at = 0, end: number; at < bytes.length; at = end + 1) {
    end = bytes.indexOf(10, at);
    yield bytes.subarray(at, end);
  }
}

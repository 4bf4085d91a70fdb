import { createHash } from "node:crypto";
import { join, resolve } from "node:path";
import { isRelativePath } from "../documents/relative-path.ts";
import { onlyTheLast } from "../ledger/only-the-last.ts";
import { digestOf } from "../system/files.ts";
import { realFolders } from "../system/real-folders.ts";
import type { Cache, GrowingEntry } from "./cache.ts";
import { isRecentlyChanged, isSameLook, type Look, lookAt } from "./file-stats.ts";

export interface MadeFile {
  path: string;
  sha256: string;
  size: number;
  /** Taken right after the file was written. */
  look: Look;
}

/** The files that builds made in a folder, in groups, each group with the digest of all its input. */
export interface OutputTable {
  /** The group's files, if the same input made them and none of them has changed since. */
  recall(name: string, key: string): MadeFile[] | undefined;
  /** One of a group's files, if it has not changed since it was made, whatever made it. */
  untouched(name: string, path: string): MadeFile | undefined;
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

type Row = readonly [path: string, sha256: string, size: number, look: Look];

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
  const folders = realFolders(out);
  const isUntouched = ([path, sha256, , look]: Row) => {
    // The cache may be shared: another writer could name any file there.
    if (!isRelativePath(path) || !folders.holds(path)) return false;
    // biome-ignore lint/plugin: its text was checked, and no folder above it is a link.
    const file = join(out, path);
    const now = lookAt(file);
    if (!now || !isSameLook(now, look)) return false;
    return !isRecentlyChanged(look, before.taken) || digestOf(file).sha256 === sha256;
  };
  const rowsOf = ({ line }: Group): Row[] => JSON.parse(decoder.decode(line));
  const rowsByPath = onlyTheLast((group: Group) => new Map(rowsOf(group).map((row) => [row[0], row])));
  return {
    recall(name, key) {
      const group = before.groups.get(name);
      if (group?.key !== key) return undefined;
      const rows = rowsOf(group);
      if (!rows.every(isUntouched)) return undefined;
      write(name, group);
      return rows.map(fileOf);
    },
    untouched(name, path) {
      const group = before.groups.get(name);
      const row = group && rowsByPath(group).get(path);
      return row && isUntouched(row) ? fileOf(row) : undefined;
    },
    keep(name, key, files) {
      const rows = files.map(({ path, sha256, size, look }): Row => [path, sha256, size, look]);
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

const fileOf = ([path, sha256, size, look]: Row): MadeFile => ({ path, sha256, size, look });

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

import { createHash } from "node:crypto";
import { closeSync, openSync } from "node:fs";
import { join, resolve } from "node:path";
import type { OutputFile, TextPart } from "../documents/published.ts";
import { readInto } from "../system/files.ts";
import type { Cache } from "./cache.ts";

/** Files that are joined of parts, as earlier builds left them: what did not change is copied out of the file that lies there. */
export interface JoinedParts {
  /**
   * @param before SHA-256 of the file that lies at its path; undefined: it may be another than was built
   * @returns the file with the same bytes, whose unchanged parts are not made again
   */
  reusing(file: OutputFile, before: string | undefined): OutputFile;
  /** Notes where the parts stand in a file that was made of what `reusing` returned. */
  keep(path: string, sha256: string): void;
}

/** A joined file's parts, in order: their keys and sizes in bytes. */
interface Table {
  sha256: string;
  parts: (readonly [key: string | null, size: number])[];
}

/** Where a part stands in a file, in bytes. */
interface Run {
  at: number;
  size: number;
}

const written = 1 << 20;

/** @param program what tells it from any other: another one may write parts otherwise */
export function joinedParts(cache: Cache, out: string, program: string): JoinedParts {
  const made = new Map<string, Table["parts"]>();
  const nameOf = (path: string) =>
    `parts-${createHash("sha256")
      .update(`${program}\n${resolve(out, path)}`)
      .digest("hex")}`;
  const runsBefore = (path: string, before: string | undefined): ReadonlyMap<string, Run> => {
    const bytes = before === undefined ? undefined : cache.get(nameOf(path));
    const table: Table | undefined = bytes && JSON.parse(new TextDecoder().decode(bytes));
    return table && table.sha256 === before ? runsOf(table) : new Map();
  };
  return {
    reusing(file, before) {
      const { path, parts } = file;
      if (!parts || file.sameAs !== undefined) return file;
      const chunks = () => {
        const list: Table["parts"] = [];
        made.set(path, list);
        return inBatches(bytesOf(parts(), join(out, path), runsBefore(path, before), list));
      };
      return { ...file, chunks: { [Symbol.iterator]: chunks } };
    },
    keep(path, sha256) {
      const parts = made.get(path);
      if (!parts) return;
      const table: Table = { sha256, parts };
      cache.put(nameOf(path), new TextEncoder().encode(JSON.stringify(table)));
    },
  };
}

function runsOf({ parts }: Table): ReadonlyMap<string, Run> {
  const runs = new Map<string, Run>();
  let at = 0;
  for (const [key, size] of parts) {
    if (key !== null) runs.set(key, { at, size });
    at += size;
  }
  return runs;
}

/** @param list gets the key and size of each part */
function* bytesOf(
  parts: Iterable<TextPart>,
  path: string,
  before: ReadonlyMap<string, Run>,
  list: Table["parts"],
): Generator<Uint8Array> {
  const descriptor = before.size > 0 ? openSync(path, "r") : undefined;
  const encoder = new TextEncoder();
  try {
    for (const { key, text } of parts) {
      const run = key === null ? undefined : before.get(key);
      const bytes = run && descriptor !== undefined ? bytesAt(descriptor, run) : encoder.encode(text());
      list.push([key, bytes.length]);
      yield bytes;
    }
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function bytesAt(descriptor: number, { at, size }: Run): Uint8Array {
  const bytes = Buffer.allocUnsafe(size);
  if (readInto(bytes, descriptor, at) < size) throw new Error("a file became shorter while relcat read it");
  return bytes;
}

/** A write for each part would cost more than its bytes. */
function* inBatches(pieces: Iterable<Uint8Array>): Generator<Uint8Array> {
  let batch: Uint8Array[] = [];
  let size = 0;
  for (const bytes of pieces) {
    batch.push(bytes);
    size += bytes.length;
    if (size < written) continue;
    yield Buffer.concat(batch, size);
    batch = [];
    size = 0;
  }
  if (size > 0) yield Buffer.concat(batch, size);
}

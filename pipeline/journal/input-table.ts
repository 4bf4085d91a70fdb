import { createHash } from "node:crypto";
import { resolve } from "node:path";
import type { Inputs } from "./build-looks.ts";
import type { Cache } from "./cache.ts";
import { isRecent, isSameLook, lookIn } from "./file-stats.ts";
import { inputRows } from "./input-rows.ts";

/** Digests of authored files by the looks they had, so that what did not change is not read again. */
export interface InputTable {
  /**
   * The digest of a file that is as it was; undefined: it must be read.
   * @param path relative to the folder
   */
  known(path: string): string | undefined;
  /** A file's digest, as it was read or known. */
  note(path: string, sha256: string): void;
  save(): void;
}

/** What is kept: a row for each of the inputs' folders and files. */
interface Columns {
  /** Milliseconds since 1970. */
  taken: number;
  listings: string;
  looks: Float64Array;
  /** All zeros where none was noted. */
  digests: Buffer;
}

/** @param now from before anything was read: what changes later looks otherwise then */
export function inputTable(cache: Cache, folder: string, now: Omit<Inputs, "racy">): InputTable {
  const name = `input-columns-${createHash("sha256").update(resolve(folder)).digest("hex")}`;
  const before = unpacked(cache.get(name));
  const rowsBefore = inputRows(before.listings);
  const rows = inputRows(now.listings);
  const digests = Buffer.alloc((now.looks.length / 4) * digestLength);
  return {
    known(path) {
      const [then, row] = [rowsBefore.of(`${folder}/${path}`), rows.of(`${folder}/${path}`)];
      if (then === undefined || row === undefined) return undefined;
      const look = lookIn(now.looks, row);
      if (!isSameLook(look, lookIn(before.looks, then)) || isRecent(look, before.taken)) return undefined;
      const sha256 = before.digests.toString("hex", then * digestLength, (then + 1) * digestLength);
      return sha256 === noDigest ? undefined : sha256;
    },
    note(path, sha256) {
      const row = rows.of(`${folder}/${path}`);
      if (row !== undefined) digests.write(sha256, row * digestLength, "hex");
    },
    save() {
      cache.putPieces(name, packed({ ...now, taken: cache.clock(), digests }));
    },
  };
}

const digestLength = 32;
const noDigest = "0".repeat(2 * digestLength);

function packed({ taken, listings, looks, digests }: Columns): Uint8Array[] {
  return [bytesOf(Float64Array.of(taken, looks.length)), bytesOf(looks), digests, Buffer.from(listings)];
}

function unpacked(bytes: Uint8Array | undefined): Columns {
  if (!bytes) return { taken: 0, listings: "", looks: new Float64Array(), digests: Buffer.alloc(0) };
  const { buffer, byteOffset } = bytes;
  const [taken = 0, length = 0] = new Float64Array(buffer, byteOffset, 2);
  const looks = new Float64Array(buffer, byteOffset + 16, length);
  const rest = Buffer.from(buffer, byteOffset, bytes.length).subarray(16 + looks.byteLength);
  const end = (length / 4) * digestLength;
  return { taken, looks, digests: rest.subarray(0, end), listings: rest.toString("utf8", end) };
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Float64Array) =>
  new Uint8Array(buffer, byteOffset, byteLength);

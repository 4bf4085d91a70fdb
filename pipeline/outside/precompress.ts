import {
  copyFileSync,
  constants as copying,
  createReadStream,
  createWriteStream,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { type Encoding, encodings } from "../documents/hosting.ts";
import { RelcatError } from "../errors.ts";
import { accessFailure } from "./access-failure.ts";
import { chunkSize, compressors, largeCompressors } from "./compressors.ts";
import { writeChunks } from "./files.ts";

/** Below this a compressed answer saves no packet worth its file. */
const smallest = 8192;

/** Bytes up to which everything together is compressed well. */
const little = 4 << 20;

/** Under way at a time: what threads of zlib's there are. */
const most = 4;

const compressible = /\.(?:json|html|css|js|svg|atom|md|txt)$|(?:^|\/)SHA256SUMS$/;

/** A file of the site. */
interface Source {
  path: string;
  sha256: string;
  size: number;
}

/** Compresses a large file that is joined of parts by what was kept of them; undefined: of this one, nothing is. */
export type InParts = (sha256: string) => AsyncIterable<Uint8Array> | undefined;

/** Writes compressed siblings on other threads, while files are still being made. */
export interface Precompression {
  /**
   * Begins what is missing beside these files, which lie there whole; waits while much is under way.
   * @throws what an earlier file's sibling failed with
   */
  add(files: readonly Source[]): Promise<void>;
  /** Waits for all. @throws RelcatError file-access */
  finish(): Promise<void>;
  /** Begins nothing more, and waits for what is under way. */
  stop(): Promise<void>;
}

/**
 * Writes what is missing of `file.gz`, `file.br` and `file.zst` beside the files of a site. A sibling is whole
 * and of its file's time, or it is not there: who changes a file removes its siblings first.
 * @param work a folder of the same file system, for files on their way
 */
export function precompression(
  folder: string,
  work: string,
  wanted: ReadonlySet<Encoding>,
  inParts: InParts = () => undefined,
): Precompression {
  const waiting: Missing[][] = [];
  const underWay = new Set<Promise<void>>();
  const failures: unknown[] = [];
  let total = 0;
  let begun = 0;
  const begin = (group: readonly Missing[], isLittle: boolean) => {
    const done = writeGroup(folder, join(work, `encoded-${begun++}`), group, isLittle, inParts)
      .catch((error: unknown) => failures.push(error))
      .then(() => void underWay.delete(done));
    underWay.add(done);
  };
  const beginAll = async (isLittle: boolean) => {
    for (let group = waiting.shift(); group && failures.length === 0; group = waiting.shift()) {
      while (underWay.size >= most) await Promise.race(underWay);
      begin(group, isLittle);
    }
    if (failures.length > 0) throw failures[0];
  };
  return {
    async add(files) {
      const sources = files.filter(({ path, size }) => isSource(path, size));
      for (const { path } of sources) {
        for (const encoding of encodings) if (!wanted.has(encoding)) removeSibling(folder, path, encoding);
      }
      const missing = sources.flatMap((source) =>
        [...wanted]
          .filter((encoding) => !isCurrent(folder, source.path, encoding))
          .map((encoding) => ({ source, encoding })),
      );
      for (const { size } of new Set(missing.map(({ source }) => source))) total += size;
      waiting.push(...groupsOfSameBytes(missing));
      if (total > little) await beginAll(false);
    },
    async finish() {
      await beginAll(total <= little);
      await Promise.all(underWay);
      if (failures.length > 0) throw failures[0];
    },
    async stop() {
      waiting.length = 0;
      await Promise.all(underWay);
    },
  };
}

const isSource = (path: string, size: number) =>
  size >= smallest && compressible.test(path) && !path.startsWith("hosting/");

interface Missing {
  source: Source;
  encoding: Encoding;
}

/** The list has several addresses; its bytes are compressed once. */
const groupsOfSameBytes = (missing: readonly Missing[]): Missing[][] => [
  ...Map.groupBy(missing, ({ source, encoding }) => `${encoding} ${source.sha256}`).values(),
];

async function writeGroup(
  folder: string,
  temporary: string,
  group: readonly Missing[],
  isLittle: boolean,
  inParts: InParts,
): Promise<void> {
  const [one] = group;
  if (!one) return;
  await write(temporary, join(folder, one.source.path), one, isLittle, inParts);
  const last = group.length - 1;
  for (const [index, { source, encoding }] of group.entries()) {
    const file = join(folder, source.path);
    const { mtime } = statSync(file);
    const made = index === last ? temporary : `${temporary}-${index}`;
    try {
      if (made !== temporary) copyFileSync(temporary, made, copying.COPYFILE_FICLONE);
      utimesSync(made, mtime, mtime);
      renameSync(made, `${file}.${encoding}`);
    } catch (error) {
      throw accessFailure(`cannot write ${file}.${encoding}`, error);
    }
  }
}

/** Into a temporary file. */
async function write(
  temporary: string,
  file: string,
  { source: { sha256, size }, encoding }: Missing,
  isLittle: boolean,
  inParts: InParts,
): Promise<void> {
  try {
    if (size <= little) {
      writeChunks(temporary, [await compressors[encoding](await readFile(file), isLittle)], false);
      return;
    }
    const into = createWriteStream(temporary);
    const joined = encoding === "gz" ? inParts(sha256) : undefined;
    if (joined) await pipeline(joined, into);
    else
      await pipeline(
        createReadStream(file, { highWaterMark: chunkSize }),
        largeCompressors[encoding](size),
        into,
      );
  } catch (error) {
    // What goes wrong while parts are made is no fault of this file's.
    throw error instanceof RelcatError ? error : accessFailure(`cannot write ${file}.${encoding}`, error);
  }
}

/** Servers make validators of the sibling's time, so it is the file's. */
function isCurrent(folder: string, path: string, encoding: Encoding): boolean {
  const file = join(folder, path);
  const sibling = statSync(`${file}.${encoding}`, { throwIfNoEntry: false });
  return sibling?.mtimeMs === statSync(file).mtimeMs;
}

function removeSibling(folder: string, path: string, encoding: Encoding): void {
  const sibling = `${join(folder, path)}.${encoding}`;
  if (statSync(sibling, { throwIfNoEntry: false })) rmSync(sibling, { force: true });
}

/** Removes a file's compressed siblings: before its own bytes change, or when it goes. */
export function removeSiblings(folder: string, path: string): void {
  for (const encoding of encodings) removeSibling(folder, path, encoding);
}

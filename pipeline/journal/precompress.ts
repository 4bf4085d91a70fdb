import { join } from "node:path";
import { type Encoding, encodings } from "../documents/hosting.ts";
import { digestOf } from "../system/files.ts";
import { type SecondThread, startThread } from "../system/second-thread.ts";
import { threadFile } from "../system/thread.ts";
import { little } from "./compressors.ts";
import { lookAt, noLook } from "./file-stats.ts";
import type { MadeFile } from "./output-table.ts";
import { decodesTo, hasTimeOf, removeSibling, type Sibling, writeSibling } from "./siblings.ts";

/** Below this a compressed answer saves no packet worth its file. */
const smallest = 8192;

/** Bytes to compress from which on a thread wins more than its start takes. */
const worthAThread = 1 << 20;

const compressible = /\.(?:json|html|css|js|svg|atom|md|txt)$|(?:^|\/)SHA256SUMS$/;

/** A file of the site. */
interface Source {
  path: string;
  sha256: string;
  size: number;
}

/** Compresses a large file by its parts; undefined for a file without parts. */
export type InParts = (sha256: string) => Iterable<Uint8Array> | undefined;

/** A sibling, by its path, that has not changed since an earlier build wrote it. */
export type Untouched = (path: string) => MadeFile | undefined;

export interface Compressing {
  encodings: ReadonlySet<Encoding>;
  untouched: Untouched;
  inParts: InParts;
}

/** Writes compressed siblings, on another thread while files are still being made. */
export interface Precompression {
  /** Notes what is missing beside these files, which lie there whole. */
  add(files: readonly Source[]): void;
  /**
   * Waits for all, and does its part.
   * @returns every sibling, those that are kept included
   * @throws RelcatError file-access
   */
  finish(): Promise<MadeFile[]>;
  /** Begins nothing more, and waits for what is under way. */
  stop(): Promise<void>;
}

/** What all tasks of the other thread have in common. */
export interface CompressSetting {
  folder: string;
  work: string;
  /** Of each task, in four bytes, whether somebody has begun it. */
  claimed: SharedArrayBuffer;
}

/** A sibling that whoever claims it first makes. */
export interface CompressTask {
  index: number;
  sibling: Sibling;
}

/** Tasks that there is room for: one for every file of a site of ten million records. */
const most = 1 << 24;

/** @returns what takes a task, and says whether nobody had */
export const claims = (claimed: SharedArrayBuffer) => {
  const taken = new Int32Array(claimed);
  return (index: number): boolean => Atomics.exchange(taken, index, 1) === 0;
};

/**
 * Writes what is missing of `file.gz`, `file.br` and `file.zst` beside the files of a site. Another thread begins with the
 * first of them as soon as they are much; at the end this one takes them from the last on, until both meet.
 * @param work a folder of the same file system, for files on their way
 */
export function precompression(
  folder: string,
  work: string,
  { encodings: wanted, untouched, inParts }: Compressing,
): Precompression {
  const claimed = new SharedArrayBuffer(0, { maxByteLength: 4 * most });
  const claim = claims(claimed);
  const siblings: (Sibling & { sha256: string })[] = [];
  const kept: MadeFile[] = [];
  const answers: Promise<void>[] = [];
  let thread: SecondThread<CompressTask[], void> | undefined;
  let [asked, total] = [0, 0];

  const ask = (): void => {
    if (total < worthAThread) return;
    thread ??= startThread<CompressTask[], void>(threadFile(import.meta.url, "compress-thread"), {
      folder,
      work,
      claimed,
    } satisfies CompressSetting);
    const tasks = siblings.slice(asked).map(({ sha256, ...sibling }, index) => {
      return { index: asked + index, sibling };
    });
    asked = siblings.length;
    const theirs = tasks.filter(({ sibling }) => !isJoined(sibling));
    // One message for all of a group: at 250,000 records there are 40,000 siblings.
    if (theirs.length > 0) answers.push(thread.ask(theirs));
  };
  return {
    add(files) {
      const sources = files.filter(({ path, size }) => isSource(path, size));
      removeUnwanted(folder, sources, wanted);
      const missing: Missing[] = [];
      for (const source of sources) {
        for (const encoding of wanted) {
          const known = currentSibling(folder, source, encoding, untouched);
          if (known) kept.push(known);
          else missing.push({ source, encoding });
        }
      }
      for (const sibling of siblingsOf(missing)) {
        siblings.push(sibling);
        total += sibling.size;
      }
      claimed.grow(4 * siblings.length);
      ask();
    },
    async finish() {
      for (const [index, sibling] of [...siblings.entries()].reverse()) {
        if (!claim(index)) continue;
        const joined = isJoined(sibling) ? inParts(sibling.sha256) : undefined;
        await writeSibling(folder, join(work, `encoded-${index}`), sibling, joined);
      }
      await Promise.all(answers);
      const made = siblings.flatMap(({ paths, encoding }) => paths.map((path) => `${path}.${encoding}`));
      return [...kept, ...made.map((path) => noted(folder, path))];
    },
    async stop() {
      for (const index of siblings.keys()) claim(index);
      await Promise.allSettled(answers);
      await thread?.stop();
    },
  };
}

/** Only this thread has what its parts are made of. */
const isJoined = ({ encoding, size }: Sibling): boolean => encoding === "gz" && size > little;

interface Missing {
  source: Source;
  encoding: Encoding;
}

function removeUnwanted(folder: string, sources: readonly Source[], wanted: ReadonlySet<Encoding>): void {
  const unwanted = encodings.filter((encoding) => !wanted.has(encoding));
  for (const { path } of sources) for (const encoding of unwanted) removeSibling(folder, path, encoding);
}

/** @returns undefined when it must be made */
function currentSibling(
  folder: string,
  { path, size }: Source,
  encoding: Encoding,
  untouched: Untouched,
): MadeFile | undefined {
  if (!hasTimeOf(folder, path, encoding)) return undefined;
  const sibling = `${path}.${encoding}`;
  return untouched(sibling) ?? (decodesTo(folder, path, encoding, size) ? noted(folder, sibling) : undefined);
}

/** The list has several addresses; its bytes are compressed once. */
function siblingsOf(missing: readonly Missing[]): (Sibling & { sha256: string })[] {
  const groups = Map.groupBy(missing, ({ source, encoding }) => `${encoding} ${source.sha256}`);
  return [...groups.values()].map(([first, ...others]) => {
    const { source, encoding } = first as Missing;
    const paths = [source.path, ...others.map((other) => other.source.path)] as const;
    return { encoding, paths, size: source.size, sha256: source.sha256 };
  });
}

/** A sibling as it is now. The look comes first: a later change shows. */
function noted(folder: string, path: string): MadeFile {
  const file = join(folder, path);
  const look = lookAt(file) ?? noLook;
  const { sha256, size } = digestOf(file);
  return { path, sha256, size, look };
}

const isSource = (path: string, size: number) =>
  size >= smallest && compressible.test(path) && !path.startsWith("hosting/");

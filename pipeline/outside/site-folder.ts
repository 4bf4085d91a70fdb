import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { Encoding } from "../documents/hosting.ts";
import type { OutputFile } from "../documents/published.ts";
import { buildSchema } from "../documents/site.ts";
import { failure } from "../errors.ts";
import { accessFailure } from "./access-failure.ts";
import { isMissing, readIfPresent, writeChunks } from "./files.ts";
import { type Fragments, gzipOf } from "./gzip-fragments.ts";
import { lockFile } from "./lock.ts";
import { type Precompression, precompression, removeSiblings } from "./precompress.ts";

/** Files on their way, and the list of those that no build.json names yet. Gone after every finished build. */
const workFolder = ".relcat-tmp";
const journal = "journal";

interface Known {
  sha256: string;
  size: number;
}

/** A folder that holds a built site, opened for the next build. */
export interface SiteFolder {
  put(file: OutputFile): Known;
  /** Files that lie there as an earlier build made them. */
  leave(files: readonly (Known & { path: string })[]): void;
  removeAllBut(kept: Readonly<Record<string, unknown>>): number;
  /** What writes the compressed siblings that are missing; they are in no list and no count. */
  compressing(encodings: ReadonlySet<Encoding>, fragments: Fragments | undefined): Precompression;
  finish(buildDocument: string): void;
  /** Adds what another thread has put. */
  count(others: Counts): void;
  counts: Counts;
}

interface Counts {
  written: number;
  unchanged: number;
  bytes: number;
}

/**
 * Refuses a folder with other people's files in it: a build removes what it made before, nothing else.
 * @param source the releases folder, which relcat locks too: that alone makes no site of it
 * @throws RelcatError folder-not-ours
 */
export function refuseForeignFolder(folder: string, source: string): void {
  const [out, authored] = [realPlace(folder), realPlace(source)];
  if (`${out}/`.startsWith(`${authored}/`) || `${authored}/`.startsWith(`${out}/`)) {
    const relation = out === authored ? "is" : out.startsWith(authored) ? "lies in" : "holds";
    throw failure(
      "folder-not-ours",
      `${folder} ${relation} the releases folder, expected a folder for the site alone`,
      "Give another folder with --out, such as dist.",
    );
  }
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === false) {
    throw failure(
      "folder-not-ours",
      `${folder} is a file, expected a folder`,
      "Give another folder with --out.",
    );
  }
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (error) {
    if (isMissing(error)) return;
    throw accessFailure(`cannot read ${folder}`, error);
  }
  const ours = names.length === 0 || names.includes("build.json") || names.includes(lockFile);
  if (ours) return;
  throw failure(
    "folder-not-ours",
    `${folder} holds files but no build.json, expected an absent or empty folder, or an earlier build`,
    "Give another folder with --out, or empty this one.",
  );
}

/** With links resolved as far as the path exists; without a slash at the end, the root included. */
function realPlace(path: string): string {
  const whole = resolve(path);
  if (existsSync(whole)) return realpathSync(whole).replace(/\/$/, "");
  return `${realPlace(dirname(whole))}/${basename(whole)}`;
}

/** @param now milliseconds since 1970 */
export function openSiteFolder(folder: string, now: number): SiteFolder {
  const work = join(folder, workFolder);
  const previous = previousFiles(folder);
  const startedBefore = unfinishedFiles(work);
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  const notes = openSync(join(work, journal), "a");
  writeSync(notes, startedBefore.map((path) => `${path}\n`).join(""));
  const place = placing(folder, join(work, "file"), now);
  const parts = new Map<string, NonNullable<OutputFile["parts"]>>();
  const { counts } = place;

  return {
    counts,
    put(file) {
      // Noted before it exists: should this build be killed, the next one knows the file as relcat's own.
      if (!previous.has(file.path)) writeSync(notes, `${file.path}\n`);
      const known = place.put(file);
      if (file.parts) parts.set(known.sha256, file.parts);
      return known;
    },
    leave(files) {
      const unknown = files.filter(({ path }) => !previous.has(path));
      writeSync(notes, unknown.map(({ path }) => `${path}\n`).join(""));
      counts.unchanged += files.length;
      for (const { size } of files) counts.bytes += size;
    },
    count({ written, unchanged, bytes }) {
      counts.written += written;
      counts.unchanged += unchanged;
      counts.bytes += bytes;
    },
    removeAllBut(kept) {
      const stale = [...new Set([...previous, ...startedBefore])].filter(
        (path) => !Object.hasOwn(kept, path),
      );
      for (const path of stale) removeFile(folder, path);
      return stale.length;
    },
    compressing(encodings, fragments) {
      const inParts = (sha256: string) => {
        const made = parts.get(sha256);
        return made && fragments && gzipOf(made(), fragments);
      };
      return precompression(folder, work, encodings, inParts);
    },
    finish(buildDocument) {
      place.put({ path: "build.json", chunks: [new TextEncoder().encode(buildDocument)] });
      closeSync(notes);
      rmSync(work, { recursive: true, force: true });
    },
  };
}

/** Puts files into their places, each whole or not at all. @param temporary where one lies on its way */
function placing(folder: string, temporary: string, now: number): { put: SiteFolder["put"]; counts: Counts } {
  const counts = { written: 0, unchanged: 0, bytes: 0 };

  // A folder made by this build holds nothing to compare with, nor to remove.
  const made = new Set<string>();
  const isNew = (parent: string): boolean => {
    if (made.has(parent)) return true;
    if (mkdirSync(parent, { recursive: true }) === undefined) return false;
    made.add(parent);
    return true;
  };
  const put = new Map<string, Known>();
  /** Into the temporary file. A copy is cheaper than the same bytes made and hashed again. */
  const write = ({ chunks, sameAs }: Pick<OutputFile, "chunks" | "sameAs">, time?: number): Known => {
    const known = sameAs === undefined ? undefined : put.get(sameAs);
    if (sameAs === undefined || !known) return writeChunks(temporary, chunks, false, time);
    copyFileSync(join(folder, sameAs), temporary, constants.COPYFILE_FICLONE);
    if (time !== undefined) utimesSync(temporary, time, time);
    return known;
  };

  const replace = (file: OutputFile): Known => {
    const { path } = file;
    const target = join(folder, path);
    try {
      if (isNew(dirname(target))) {
        const time = modificationTime(path, now, undefined);
        const known = write(file, time);
        renameSync(temporary, target);
        counts.bytes += known.size;
        counts.written++;
        return known;
      }
      const known = write(file);
      counts.bytes += known.size;
      const old = statSync(target, { throwIfNoEntry: false });
      if (old?.size === known.size && sameBytes(temporary, target, known.size)) {
        counts.unchanged++;
        return known;
      }
      counts.written++;
      const time = modificationTime(path, now, old?.mtimeMs);
      utimesSync(temporary, time, time);
      // First, so that nobody is ever sent old bytes compressed beside new ones.
      removeSiblings(folder, path);
      renameSync(temporary, target);
      return known;
    } catch (error) {
      throw accessFailure(`cannot write ${target}`, error);
    }
  };

  return {
    counts,
    put(file) {
      const known = replace(file);
      put.set(file.path, known);
      return known;
    },
  };
}

/** What another thread writes into a site folder that is open. */
export interface SecondWriter {
  /** Files that share nothing with those of other calls. */
  put(files: readonly OutputFile[]): { made: (Known & { path: string })[]; counts: Counts };
}

/** @param now as the folder was opened with */
export function secondWriter(folder: string, now: number): SecondWriter {
  const work = join(folder, workFolder);
  const notes = openSync(join(work, journal), "a");
  return {
    put(files) {
      writeSync(notes, files.map(({ path }) => `${path}\n`).join(""));
      const { put, counts } = placing(folder, join(work, "second-file"), now);
      return { made: files.map((file) => ({ path: file.path, ...put(file) })), counts };
    },
  };
}

function previousFiles(folder: string): Set<string> {
  const bytes = readIfPresent(join(folder, "build.json"));
  if (!bytes) return new Set();
  try {
    const build = buildSchema.parse(JSON.parse(new TextDecoder().decode(bytes)));
    return new Set(Object.keys(build.files).filter(staysInside));
  } catch (error) {
    throw failure(
      "folder-not-ours",
      `${folder}/build.json is not a build of relcat's`,
      "Give another folder with --out, or remove this one.",
      undefined,
      error,
    );
  }
}

/** build.json lies in a folder anybody may write to: a path in it must not lead outside. */
const staysInside = (path: string) =>
  !path.startsWith("/") &&
  !path.includes("\\") &&
  path.split("/").every((part) => part !== "" && part !== "." && part !== "..");

function unfinishedFiles(work: string): string[] {
  const bytes = readIfPresent(join(work, journal));
  const lines = bytes ? new TextDecoder().decode(bytes).split("\n").slice(0, -1) : [];
  return lines.filter(staysInside);
}

/** @param size of both, in bytes */
function sameBytes(a: string, b: string, size: number): boolean {
  const files = [openSync(a, "r"), openSync(b, "r")] as const;
  const [left, right] = [
    Buffer.alloc(Math.min(size, comparedAtOnce)),
    Buffer.alloc(Math.min(size, comparedAtOnce)),
  ];
  try {
    for (let at = 0; at < size; at += left.length) {
      const length = readSync(files[0], left, 0, left.length, at);
      if (readSync(files[1], right, 0, length, at) !== length) return false;
      if (left.compare(right, 0, length, 0, length) !== 0) return false;
    }
    return true;
  } finally {
    for (const file of files) closeSync(file);
  }
}

const comparedAtOnce = 1 << 20;

function removeFile(folder: string, path: string): void {
  removeSiblings(folder, path);
  rmSync(join(folder, path), { force: true });
  for (let parent = dirname(path); parent !== "."; parent = dirname(parent)) {
    try {
      rmdirSync(join(folder, parent));
    } catch {
      return; // Not empty, or gone already: either way it is not ours to remove.
    }
  }
}

/**
 * Web servers make validators of size and time. Whole seconds, always later than before, and never equal
 * between two representations of one resource: each kind has its own remainder modulo 4.
 * @returns seconds since 1970
 */
export function modificationTime(path: string, now: number, oldMs: number | undefined): number {
  const floor = Math.max(Math.floor(now / 1000), oldMs === undefined ? 0 : Math.floor(oldMs / 1000) + 1);
  return floor + ((((representation(path) - floor) % 4) + 4) % 4);
}

function representation(path: string): number {
  if (path.endsWith(".html")) return 1;
  if (path.includes("ordering=")) return 2;
  return path.endsWith("gone.json") ? 3 : 0;
}

import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { OutputFile } from "../documents/published.ts";
import { buildSchema } from "../documents/site.ts";
import { failure } from "../errors.ts";
import { accessFailure, isMissing, readIfPresent, writeChunks } from "./files.ts";
import { lockFile } from "./lock.ts";

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
  removeAllBut(kept: Readonly<Record<string, unknown>>): number;
  finish(buildDocument: string): void;
  counts: { written: number; unchanged: number; bytes: number };
}

/**
 * Refuses a folder with other people's files in it: a build removes what it made before, nothing else.
 * @throws RelcatError folder-not-ours
 */
export function refuseForeignFolder(folder: string): void {
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

/** @param now milliseconds since 1970 */
export function openSiteFolder(folder: string, now: number): SiteFolder {
  const work = join(folder, workFolder);
  const previous = previousFiles(folder);
  const startedBefore = unfinishedFiles(work);
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  const notes = openSync(join(work, journal), "a");
  writeSync(notes, startedBefore.map((path) => `${path}\n`).join(""));
  const counts = { written: 0, unchanged: 0, bytes: 0 };

  const replace = (path: string, chunks: Iterable<Uint8Array>): Known => {
    const temporary = join(work, "file");
    const target = join(folder, path);
    try {
      const known = writeChunks(temporary, chunks, false);
      counts.bytes += known.size;
      const old = statSync(target, { throwIfNoEntry: false });
      if (old?.size === known.size && sameBytes(temporary, target)) {
        counts.unchanged++;
        return known;
      }
      counts.written++;
      const time = modificationTime(path, now, old?.mtimeMs);
      utimesSync(temporary, time, time);
      mkdirSync(dirname(target), { recursive: true });
      renameSync(temporary, target);
      return known;
    } catch (error) {
      throw accessFailure(`cannot write ${target}`, error);
    }
  };

  return {
    counts,
    put({ path, chunks }) {
      // Noted before it exists: should this build be killed, the next one knows the file as relcat's own.
      if (!previous.has(path)) writeSync(notes, `${path}\n`);
      return replace(path, chunks);
    },
    removeAllBut(kept) {
      const stale = [...new Set([...previous, ...startedBefore])].filter(
        (path) => !Object.hasOwn(kept, path),
      );
      for (const path of stale) removeFile(folder, path);
      return stale.length;
    },
    finish(buildDocument) {
      replace("build.json", [new TextEncoder().encode(buildDocument)]);
      closeSync(notes);
      rmSync(work, { recursive: true, force: true });
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

function sameBytes(a: string, b: string): boolean {
  return readFileSync(a).equals(readFileSync(b));
}

function removeFile(folder: string, path: string): void {
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

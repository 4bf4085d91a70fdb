import { copyFileSync, linkSync, mkdirSync, readFileSync, statSync, utimesSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { hashInFeed } from "../../documents/feeds/paths.ts";
import { isHashedAsset } from "../../documents/file-headers.ts";
import { type RelativePath, relativePath } from "../../documents/relative-path.ts";
import type { FileBytes, Publication, PublicFile } from "../../documents/site-store.ts";
import { failure } from "../../errors.ts";
import { isSiblingOf, siblingEncodings, writeSibling } from "../../journal/siblings.ts";
import { readIfPresent } from "../../system/files.ts";
import type { RootFolder } from "../../system/root-folder.ts";
import { sha256 } from "../../trust/metadata.ts";
import { placeCopy } from "./copies.ts";
import { numberTaken } from "./object-taken.ts";

/** Folders that a build is assembled from. */
export interface Placing {
  publication: Publication;
  /** The new build's folder. */
  target: RootFolder;
  /** The live build's folder; undefined before the first publish. */
  old: RootFolder | undefined;
  /** Folder of the site, with its artifacts. */
  artifacts: RootFolder;
  /** Output folder of the build. */
  source: RootFolder;
  /** Receives the paths that must be synced to disk before the build goes live. */
  written: string[];
}

/**
 * Places a file and its compressed siblings. Unchanged files are hard-linked, which keeps their time and
 * saves disk space.
 * @throws RelcatError object-taken, build-changed
 */
export async function placeFile(placing: Placing, file: PublicFile): Promise<void> {
  if (file.from !== undefined)
    return placeCopy(placing.artifacts, placing.target, { ...file, from: file.from });
  const { publication, target, old, written } = placing;
  const path = relativePath(file.path);
  const [to, source, live] = [target(path), placing.source(path), old?.(path)];
  const before = live === undefined ? undefined : readIfPresent(live);
  const isUnchanged = before !== undefined && sha256(before) === file.sha256;
  // A file changed by hand since its publish is rewritten.
  if (before && !isUnchanged && file.isImmutable && !wasPublished(publication, file)) throw numberTaken(to);
  if (live !== undefined && isUnchanged) linkTo(live, to);
  else {
    // A copy with its time, so that a later build in the source folder cannot change the published file.
    copyTo(source, to);
    written.push(to);
  }
  const bytes = isUnchanged ? before : readFileSync(to);
  requireBytes(bytes, file, source);
  await placeSiblings(placing, path, bytes, isUnchanged);
}

const wasPublished = ({ published }: Publication, { path, sha256: expected }: PublicFile) =>
  published !== undefined &&
  Object.hasOwn(published.files, path) &&
  published.files[path]?.sha256 === expected;

/** Reuses a sibling only if it decompresses to the file's bytes; otherwise compresses again. */
async function placeSiblings(
  { target, old, source, written }: Placing,
  path: RelativePath,
  bytes: Uint8Array,
  isUnchanged: boolean,
): Promise<void> {
  for (const encoding of siblingEncodings(path)) {
    const name = relativePath(`${path}.${encoding}`);
    const to = target(name);
    const live = isUnchanged ? old?.(name) : undefined;
    const kept = live === undefined ? undefined : readIfPresent(live);
    if (live !== undefined && kept && isSiblingOf(kept, encoding, bytes)) {
      linkTo(live, to);
      continue;
    }
    const made = readIfPresent(source(name));
    if (!kept && !made) continue;
    if (made && isSiblingOf(made, encoding, bytes)) copyTo(source(name), to, target(path));
    else {
      const [folder, file] = [dirname(target(path)), basename(path)];
      const sibling = { path: file, encoding, size: bytes.length };
      await writeSibling(folder, join(folder, ".relcat-tmp-sibling"), sibling);
    }
    written.push(to);
  }
}

/** Places web server configuration next to the build. @throws RelcatError build-changed */
export function placeHosting({ publication, source, written }: Placing, target: RootFolder): void {
  for (const file of publication.hosting) {
    const from = source(relativePath(file.path));
    const to = target(relativePath(file.path.slice("hosting/".length)));
    requireBytes(readIfPresent(from), file, from);
    copyTo(from, to);
    requireBytes(readFileSync(to), file, from);
    written.push(to);
  }
}

function requireBytes(bytes: Uint8Array | undefined, file: FileBytes, source: string): void {
  if (bytes && sha256(bytes) === file.sha256) return;
  throw failure(
    "build-changed",
    `${source} is not what the build made`,
    "Build and sign again: relcat build --released, then relcat sign",
  );
}

/** @param dated file whose time the copy gets; default: the source */
function copyTo(source: string, to: string, dated = source): void {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(source, to);
  const { atime, mtime } = statSync(dated);
  utimesSync(to, atime, mtime);
}

/**
 * Verifies a file that no build lists: metadata by its version, everything else by the hash in its path. Storage
 * could name any other file as unreferenced.
 * @param read reads a file of the live build
 */
export function isAsNamed(path: string, read: (path: string) => Uint8Array | undefined): boolean {
  const bytes = read(path);
  if (!bytes) return false;
  if (/^metadata\/\d+\.[^/]+\.json$/.test(path)) return true;
  const [, hash] = /^targets\/(?:.+\/)?([0-9a-f]{64})\.[^/]+$/.exec(path) ?? [];
  const [, short] = isHashedAsset(path) ? (/\.([0-9a-f]{8})\.[a-z]+$/.exec(path) ?? []) : [];
  const feed = hashInFeed(path);
  const parts = feed?.of.map((part) => (part === path ? bytes : (read(part) ?? new Uint8Array())));
  const expected = feed?.sha256 ?? hash ?? short;
  return expected !== undefined && sha256(parts ? Buffer.concat(parts) : bytes).startsWith(expected);
}

export function linkTo(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  linkSync(from, to);
}

import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { failure } from "../../../shared/errors.ts";
import { hashInFeed } from "../../documents/feeds/paths.ts";
import { isHashedAsset } from "../../documents/file-headers.ts";
import { type RelativePath, relativePath } from "../../documents/relative-path.ts";
import { fileIn } from "../../documents/site-state.ts";
import type { FileBytes, Publication, PublicFile } from "../../documents/site-store.ts";
import { isSiblingOf, siblingEncodings, writeSibling } from "../../site/stores/siblings.ts";
import { copyWithTime, linkOrCopy, readIfPresent } from "../../system/files.ts";
import type { RootFolder } from "../../system/root-folder.ts";
import { sha256 } from "../../trust/metadata.ts";
import { placeCopy } from "./copies.ts";
import { numberTaken } from "./object-taken.ts";

export interface Placing {
  publication: Publication;
  target: RootFolder;
  /** The live build's folder; undefined before the first publish. */
  old: RootFolder | undefined;
  /** Folder of the site, with its artifacts. */
  artifacts: RootFolder;
  source: RootFolder;
  /** Receives the paths that must be synced to disk before the build goes live. */
  written: string[];
}

/** Unchanged files are hard-linked if possible, to save disk space. @throws RelcatError object-taken, build-changed */
export async function placeFile(placing: Placing, file: PublicFile): Promise<void> {
  const { publication, target, old, written } = placing;
  if (file.from !== undefined) {
    const copy = await placeCopy(placing.artifacts, target, { ...file, from: file.from });
    if (copy !== undefined) written.push(copy);
    return;
  }
  const path = relativePath(file.path);
  const [to, source, live] = [target(path), placing.source(path), old?.(path)];
  const before = live === undefined ? undefined : readIfPresent(live);
  const isUnchanged = before !== undefined && sha256(before) === file.sha256;
  // A file changed by hand since its publish is rewritten.
  const isPublished = fileIn(publication.published, file.path)?.sha256 === file.sha256;
  if (before && !isUnchanged && file.isImmutable && !isPublished) throw numberTaken(to);
  if (live !== undefined && isUnchanged) placeAgain(placing, live, to);
  else {
    // A copy with its time, so that a later build in the source folder cannot change the published file.
    copyWithTime(source, to);
    written.push(to);
  }
  const bytes = isUnchanged ? before : readFileSync(to);
  requireBytes(bytes, file, source);
  await placeSiblings(placing, path, bytes, isUnchanged);
}

/** Reuses a sibling only if it decompresses to the file's bytes; otherwise compresses again. */
async function placeSiblings(placing: Placing, path: RelativePath, bytes: Uint8Array, isUnchanged: boolean) {
  const { target, old, source, written } = placing;
  for (const encoding of siblingEncodings(path)) {
    const name = relativePath(`${path}.${encoding}`);
    const to = target(name);
    const live = isUnchanged ? old?.(name) : undefined;
    const kept = live === undefined ? undefined : readIfPresent(live);
    if (live !== undefined && kept && isSiblingOf(kept, encoding, bytes)) {
      placeAgain(placing, live, to);
      continue;
    }
    const made = readIfPresent(source(name));
    if (!kept && !made) continue;
    if (made && isSiblingOf(made, encoding, bytes)) copyWithTime(source(name), to, target(path));
    else {
      const [folder, file] = [dirname(target(path)), basename(path)];
      await writeSibling(folder, join(folder, ".relcat-tmp-sibling"), { path: file, encoding });
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
    copyWithTime(from, to);
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

/** Storage could name any file as unreferenced: metadata must have a version, and others their hash in the path. */
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

/** Places a file of the live build, which is on disk already. */
export function placeAgain({ written }: Pick<Placing, "written">, live: string, to: string): void {
  if (linkOrCopy(live, to)) written.push(to);
}

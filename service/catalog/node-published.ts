import { createHash } from "node:crypto";
import { lstatSync, readFileSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { hashInFeed } from "../../pipeline/documents/feeds/paths.ts";
import { isRelativePath, type RelativePath } from "../../pipeline/documents/relative-path.ts";
import type { BuildDocument } from "../../pipeline/documents/site.ts";

/** Data that publishing stores next to a live build: `SITE/builds/NAME`, the target of `SITE/current`. */
export interface Published {
  /** Public files with their hashes, including signatures. */
  files: BuildDocument["files"];
  /** Real path of the artifacts' folder; undefined: the build has no link to it. */
  artifacts: string | undefined;
}

const ownLink = "../../files";

/**
 * Reads the site's index of a published build.
 * @param root real path of the build
 * @param id of the build
 * @returns undefined if the folder is not a published build
 * @throws SyntaxError for an index that is unreadable or of another build
 */
export function readPublished(root: string, id: string): Published | undefined {
  const folder = dirname(root);
  if (basename(folder) !== "builds") return undefined;
  // biome-ignore lint/plugin: the name of the served folder.
  const file = join(dirname(folder), "state", `${basename(root)}.json`);
  const bytes = readIfPresent(file);
  if (!bytes) return undefined;
  const index = JSON.parse(bytes);
  if (index?.build !== id || typeof index.files !== "object")
    throw new SyntaxError(`${file} is not the index of this build`);
  return { files: { ...earlierIndexes(root, index.leaving), ...index.files }, artifacts: artifactsOf(root) };
}

/** Indexes of earlier builds, for clients of package feeds that have read an earlier pointer. */
function earlierIndexes(root: string, leaving: object = {}): BuildDocument["files"] {
  const found = Object.keys(leaving).flatMap((path) => {
    const file = isRelativePath(path) ? earlierIndex(root, path) : undefined;
    return file ? [[path, file]] : [];
  });
  return Object.fromEntries(found);
}

/** No publish lists such a file, so the hash in its path must be its own. */
function earlierIndex(root: string, path: RelativePath): BuildDocument["files"][string] | undefined {
  const named = hashInFeed(path);
  // biome-ignore lint/plugin: every answer is compared with the hash in the path, also if a link led there.
  const place = (part: string) => join(root, part);
  const size = statSync(place(path), { throwIfNoEntry: false })?.size;
  if (!named || size === undefined) return undefined;
  if (named.of.length === 1) return { sha256: named.sha256, size };
  const parts = named.of.map((part) => readIfPresent(place(part)) ?? "");
  const [own = ""] = parts.filter((_, index) => named.of[index] === path);
  return sha256(parts.join("")) === named.sha256 ? { sha256: sha256(own), size } : undefined;
}

function readIfPresent(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Only the link created by publishing may leave the build, and only to its own site's artifacts. */
function artifactsOf(root: string): string | undefined {
  const link = join(root, "files");
  if (!lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink()) return undefined;
  const isOwn = readlinkSync(link) === ownLink;
  const folder = join(root, ownLink);
  return isOwn && lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()
    ? realpathSync(folder)
    : undefined;
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

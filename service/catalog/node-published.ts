import { lstatSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
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
  return { files: index.files, artifacts: artifactsOf(root) };
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

import { lstatSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { BuildDocument } from "../../pipeline/documents/site.ts";

/** What publishing put beside a build that it made live: `SITE/builds/NAME`, which `SITE/current` leads to. */
export interface Published {
  /** Public files with their hashes: the build's, and those that signing added. */
  files: BuildDocument["files"];
  /** Real path of the folder of the site's artifacts; undefined where the build has no link of relcat's to it. */
  artifacts: string | undefined;
}

const ownLink = "../../files";

/**
 * Reads the site's index of a published build.
 * @param root real path of the build
 * @param id of the build
 * @returns undefined where the folder is no published build
 * @throws SyntaxError for an index that cannot be read, or is of another build
 */
export function readPublished(root: string, id: string): Published | undefined {
  const folder = dirname(root);
  if (basename(folder) !== "builds") return undefined;
  // biome-ignore lint/plugin: the name of the folder that is served.
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

/** Only the link that publishing makes leads out of the build, and only to the artifacts of the same site. */
function artifactsOf(root: string): string | undefined {
  const link = join(root, "files");
  if (!lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink()) return undefined;
  const isOwn = readlinkSync(link) === ownLink;
  const folder = join(root, ownLink);
  return isOwn && lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()
    ? realpathSync(folder)
    : undefined;
}

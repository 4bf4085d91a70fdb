import { readdirSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { accessFailure } from "../../system/access-failure.ts";
import { exists } from "../../system/files.ts";
import { liveFolder } from "./site-reader.ts";

/**
 * Reads the `hosting/` files of a site in a folder, either in the site itself or, for a publish target, next
 * to the live build.
 * @param place a folder, with or without the prefix dir:
 * @returns files by path in build.json; undefined if there are none
 * @throws RelcatError file-access
 */
export function readHosting(place: string): Map<string, Uint8Array> | undefined {
  const folder = hostingFolder(liveFolder(place.replace(/^dir:/, "")));
  if (folder === undefined) return undefined;
  try {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      // biome-ignore lint/plugin: these names come from listing the folder itself.
      .map((entry) => join(entry.parentPath, entry.name));
    return new Map(
      entries.sort().map((file) => [`hosting/${file.slice(folder.length + 1)}`, readFileSync(file)]),
    );
  } catch (error) {
    throw accessFailure(`cannot read ${folder}`, error);
  }
}

function hostingFolder(live: string): string | undefined {
  const inside = join(live, "hosting");
  if (exists(inside)) return inside;
  const build = realpathSync(live);
  const site = dirname(dirname(build));
  const hosting = join(site, "hosting");
  const isLive = basename(dirname(build)) === "builds" && exists(join(site, "current"));
  return isLive && realpathSync(join(site, "current")) === build && exists(hosting) ? hosting : undefined;
}

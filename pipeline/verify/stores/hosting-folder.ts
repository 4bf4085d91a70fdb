import { readdirSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { accessFailure } from "../../system/access-failure.ts";
import { exists } from "../../system/files.ts";
import { liveFolder } from "./site-reader.ts";

/**
 * Files of `hosting/` by path in build.json, if there are any. A publish target has them next to the live build.
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

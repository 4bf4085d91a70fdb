import { readdirSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { accessFailure } from "../../system/access-failure.ts";
import { exists } from "../../system/files.ts";
import { liveFolder } from "./site-reader.ts";

/**
 * What web servers are told of a site in a folder: the files of `hosting/`, in the site itself or, of a folder that is
 * published to, beside the live build.
 * @param place a folder, with or without dir: before it
 * @returns files by their path in build.json; undefined where none can be seen
 * @throws RelcatError file-access
 */
export function readHosting(place: string): Map<string, Uint8Array> | undefined {
  const folder = hostingFolder(liveFolder(place.replace(/^dir:/, "")));
  if (folder === undefined) return undefined;
  try {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      // biome-ignore lint/plugin: the folder itself lists these names.
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
  const beside = join(site, "hosting");
  const isLive = basename(dirname(build)) === "builds" && exists(join(site, "current"));
  return isLive && realpathSync(join(site, "current")) === build && exists(beside) ? beside : undefined;
}

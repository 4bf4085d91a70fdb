import { readdirSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { BuildDocument } from "../documents/site.ts";
import { accessFailure } from "../system/access-failure.ts";
import { exists } from "../system/files.ts";
import { sha256 } from "../trust/metadata.ts";
import { isHosting } from "../trust/site-files.ts";
import type { Finding } from "./finding.ts";
import { liveFolder, type SiteReader } from "./stores/site-reader.ts";

/** Web servers read every file in `hosting/`, so each must match the signed build.json. */
export function hostingFindings({ place, isRemote }: SiteReader, { files }: BuildDocument): Finding[] {
  const there = isRemote ? undefined : readHosting(place);
  if (!there) return [];
  const listed = Object.keys(files).filter(isHosting);
  return [...new Set([...listed, ...there.keys()])].sort().flatMap((path) => {
    const bytes = there.get(path);
    if (!bytes) return [{ path, what: "is missing" }];
    if (!Object.hasOwn(files, path)) return [{ path, what: "is in no build: web servers would read it" }];
    return sha256(bytes) === files[path]?.sha256 ? [] : [{ path, what: "is not what was signed" }];
  });
}

/**
 * Reads the `hosting/` files of a site in a folder, either in the site itself or, for a publish target, next
 * to the live build.
 * @param place a folder, with or without the prefix dir:
 * @returns files by path in build.json; undefined if there are none
 * @throws RelcatError file-access
 */
function readHosting(place: string): Map<string, Uint8Array> | undefined {
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

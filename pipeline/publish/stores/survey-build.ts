import { lstatSync, readdirSync, readlinkSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { relativePath } from "../../documents/relative-path.ts";
import type { SiteIndex } from "../../documents/site-state.ts";
import type { Damage, FileBytes, SurveyRequest } from "../../documents/site-store.ts";
import { isSiblingOf, siblingEncodings } from "../../site/stores/siblings.ts";
import { exists, readIfPresent } from "../../system/files.ts";
import { artifactsLink, type RootFolder, rootFolder } from "../../system/root-folder.ts";
import { sha256 } from "../../trust/metadata.ts";

/**
 * Compares the live build of a folder with its publish: by existence and size, or by bytes.
 * @param links targets of `current` and `hosting`
 * @param index of the build that `current` leads to
 */
export function surveyBuild(
  folder: string,
  links: Readonly<Record<"current" | "hosting", string | undefined>>,
  { files, leaving }: Pick<SiteIndex, "files" | "leaving">,
  { newest, hosting, isRead }: SurveyRequest,
): { files: SiteIndex["files"]; damage: Damage[] } {
  // The link was switched only after the build was complete, so nothing can be half-written.
  if (newest === undefined) return { files, damage: [] };
  const site = rootFolder(folder);
  const expected = site(relativePath(`builds/${newest}`));
  const expectedHosting = site(relativePath(`builds/${newest}.hosting`));
  const damage = [
    ...linkDamage("current", links.current, expected),
    ...(hosting?.length ? linkDamage("hosting", links.hosting, expectedHosting) : []),
  ];
  const build = rootFolder(links.current ?? expected);
  const found: SiteIndex["files"] = {};
  for (const [path, file] of Object.entries(files)) {
    const faults = faultsOf(build(relativePath(path)), path, file, isRead);
    if (!faults.some(({ fault }) => fault === missing))
      found[path] = faults.length === 0 ? file : { ...file, sha256: "0".repeat(64), headers: "unknown" };
    damage.push(...faults);
    if (isRead && faults.length === 0) damage.push(...siblingFaults(build, path));
  }
  const configuration = rootFolder(expectedHosting);
  for (const file of hosting ?? []) {
    const path = relativePath(file.path.slice("hosting/".length));
    damage.push(...faultsOf(configuration(path), file.path, file, isRead));
  }
  if (!linksToArtifacts(expected))
    damage.push({ path: artifactsLink.name, fault: "was no link to the artifacts" });
  if (isRead) {
    const published = [...Object.keys(files), ...Object.keys(leaving), artifactsLink.name];
    damage.push(...foreignFiles(links.current ?? expected, "", published));
    const configured = hosting?.map(({ path }) => path);
    if (configured?.length) damage.push(...foreignFiles(expectedHosting, "hosting/", configured));
  }
  return { files: found, damage };
}

/** Web servers follow links, so a link to another folder would publish its files. */
function linksToArtifacts(build: string): boolean {
  const link = join(build, "files");
  const isLink = lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isLink && readlinkSync(link) === artifactsLink.target;
}

/** Files that no publish wrote: a web server serves them, and includes any file of its configuration's folder. */
function foreignFiles(folder: string, prefix: string, published: readonly string[]): Damage[] {
  const own = new Set(published.flatMap((path) => [path, ...siblingsOf(path)]));
  const paths = exists(folder) ? [...pathsBelow(folder, prefix)] : [];
  const foreign = paths.filter((path) => !own.has(path)).sort();
  return foreign.map((path) => ({ path, fault: "was not published" }));
}

/** It does not follow links, unlike the recursive listing of node:fs. */
function* pathsBelow(folder: string, prefix: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = `${prefix}${entry.name}`;
    // biome-ignore lint/plugin: a name from the listing of the folder.
    if (entry.isDirectory()) yield* pathsBelow(join(folder, entry.name), `${path}/`);
    else yield path;
  }
}

const siblingsOf = (path: string) => siblingEncodings(path).map((encoding) => `${path}.${encoding}`);

const missing = "was missing";

function linkDamage(path: string, target: string | undefined, expected: string): Damage[] {
  if (target === undefined) return [{ path, fault: missing }];
  const isThere = statSync(target, { throwIfNoEntry: false })?.isDirectory() === true;
  if (target === expected && isThere) return [];
  return [{ path, fault: `was a link to ${basename(target)}${isThere ? "" : ", which does not exist"}` }];
}

function faultsOf(
  place: string,
  path: string,
  { size, sha256: expected }: Omit<FileBytes, "path">,
  isRead: boolean,
) {
  const stat = statSync(place, { throwIfNoEntry: false });
  if (!stat?.isFile()) return [{ path, fault: missing }];
  if (stat.size !== size) return [{ path, fault: `had ${stat.size} bytes, expected ${size}` }];
  if (!isRead) return [];
  const bytes = readIfPresent(place);
  if (!bytes) return [{ path, fault: missing }];
  return sha256(bytes) === expected ? [] : [{ path, fault: "had other bytes" }];
}

function siblingFaults(build: RootFolder, path: string): Damage[] {
  const bytes = readIfPresent(build(relativePath(path))) ?? new Uint8Array();
  return siblingEncodings(path).flatMap((encoding) => {
    const sibling = relativePath(`${path}.${encoding}`);
    const compressed = readIfPresent(build(sibling));
    if (!compressed || isSiblingOf(compressed, encoding, bytes)) return [];
    return [{ path: sibling, fault: `was not ${path}, compressed` }];
  });
}

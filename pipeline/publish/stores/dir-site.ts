import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { basename, join } from "node:path";
import { syncToDisk } from "../../../shared/disk.ts";
import { failure, RelcatError } from "../../../shared/errors.ts";
import { headersDigest } from "../../documents/file-headers.ts";
import { lease, type PublishTurn } from "../../documents/publish-turn.ts";
import { relativePath } from "../../documents/relative-path.ts";
import {
  isPublishName,
  publishName,
  type SiteIndex,
  siteIndexSchema,
  siteStateSchema,
} from "../../documents/site-state.ts";
import type {
  Damage,
  FileBytes,
  KeptFile,
  Publication,
  SiteStore,
  SurveyRequest,
} from "../../documents/site-store.ts";
import { isSiblingOf, siblingEncodings } from "../../site/stores/siblings.ts";
import { accessFailure } from "../../system/access-failure.ts";
import { exists, readIfPresent, replaceDurably } from "../../system/files.ts";
import { withLock } from "../../system/lock.ts";
import { artifactsLink, type RootFolder, rootFolder } from "../../system/root-folder.ts";
import { sha256 } from "../../trust/metadata.ts";
import { parsedAs } from "../../trust/parsed-state.ts";
import { metadataIn } from "../../trust/stores/metadata-source.ts";
import { isAsNamed, type Placing, placeAgain, placeFile, placeHosting } from "./place-build.ts";
import { makeAllReadable, makeWayReadable } from "./readable.ts";

/** Document root of the web server: a symbolic link to the live build. */
const publicLink = "current";
/** Link to the live build's web server configuration, which is not served. */
const hostingLink = "hosting";
const stateFile = "current.json";
type SiteLink = typeof publicLink | typeof hostingLink;

const newText = (document: object) => new TextEncoder().encode(`${JSON.stringify(document)}\n`);

/**
 * A site in a folder: `builds/NAME/` for each publish, `current` links to the live one, and `files/` holds
 * the artifacts, linked from every build. Not served: `current.json`, `state/`, and `hosting`, a link to the
 * live build's web server configuration.
 */
export function dirSite(folder: string, pid: number): SiteStore {
  const at = (path: string) => placeIn(folder, path);
  const live = () => metadataIn(liveFolder(folder) ?? join(folder, publicLink));
  const indexFile = (name: string) => at(`state/${name}.json`);
  const readIndex = async (name: string) => {
    const bytes = readIfPresent(indexFile(name));
    return bytes && parsedAs(siteIndexSchema, () => bytes, indexFile(name));
  };

  const readState = () => {
    const bytes = readIfPresent(at(stateFile));
    if (!bytes) return undefined;
    return { state: parsedAs(siteStateSchema, () => bytes, at(stateFile)), tag: sha256(bytes) };
  };
  const locked = <T>(work: () => T) => withLock(folder, pid, () => {}, work);

  return {
    place: `dir:${folder}`,
    requests: () => 0,
    clockOffset: () => undefined,
    readState: async () => readState(),
    writeState: (state, tag) =>
      locked(() => {
        const before = readIfPresent(at(stateFile));
        if ((before && sha256(before)) !== tag) return "changed" as const;
        const bytes = newText(state);
        replaceDurably(at(stateFile), bytes);
        return sha256(bytes);
      }),
    readIndex,
    async survey(request) {
      const current = liveFolder(folder);
      const index = current === undefined ? undefined : await readIndex(basename(current));
      const links = { [publicLink]: current, [hostingLink]: liveFolder(folder, hostingLink) };
      return surveyBuild(folder, links, index ?? { files: {}, leaving: {} }, request);
    },
    read: async (path) => live().read(path),
    head: async (path) => {
      const stat = statSync(at(path), { throwIfNoEntry: false });
      return stat?.isFile() ? { size: stat.size, sha256: undefined } : undefined;
    },
    metadataNames: async () => live().names(),
    async publish(publication, turn) {
      const name = publishName(publication.build, turn.run);
      const target = at(`builds/${name}`);
      const hosting = at(`builds/${name}.${hostingLink}`);
      const old = liveFolder(folder);
      liveFolder(folder, hostingLink);
      await locked(() => {
        turn.requireOurs(readState()?.tag);
        for (const path of [target, hosting]) rmSync(path, { recursive: true, force: true });
      });
      const folders = {
        target: rootFolder(target),
        old: old === undefined ? undefined : rootFolder(old),
        source: rootFolder(publication.folder),
        artifacts: rootFolder(folder),
      };
      await placeBuild({ publication, ...folders, written: [] }, { target, hosting }, turn);
      mkdirSync(at("files"), { recursive: true });
      makeWayReadable(folder, [at("builds"), at("files")]);
      await turn.step("index");
      replaceDurably(indexFile(name), newText(indexOf(publication)));
      await turn.renew("now");
      await turn.step("flip");
      await locked(() => {
        turn.requireOurs(readState()?.tag);
        flip(folder, publicLink, name);
        if (exists(hosting)) flip(folder, hostingLink, `${name}.${hostingLink}`);
      });
      return { files: name, bundles: [] };
    },
    async openKept(name) {
      const index = await readIndex(name);
      const [build, hosting] = [at(`builds/${name}`), at(`builds/${name}.${hostingLink}`)];
      if (!index || !existsSync(build)) return undefined;
      return { files: index.files, read: (wanted) => readKept({ build, hosting }, wanted) };
    },
    async prune(turn) {
      await turn.step("prune");
      return locked(() => {
        const stored = readState();
        turn.requireOurs(stored?.tag);
        const kept = (stored?.state.history ?? []).map(({ files }) => files);
        const links = [liveFolder(folder), liveFolder(folder, hostingLink)].map((link) =>
          basename(link ?? ""),
        );
        const names = new Set([...kept, ...links.map(withoutHosting)]);
        // Uses the same clock as the builds.
        const before = statSync(at(stateFile)).mtimeMs - lease;
        const old = publishesIn(folder).filter((name) => !names.has(name) && ageOf(folder, name) <= before);
        for (const name of old) {
          for (const path of ownPaths(folder, name)) rmSync(path, { recursive: true, force: true });
        }
        return old.length;
      });
    },
  };
}

const withoutHosting = (name: string) => name.replace(/[.]hosting$/, "");

function publishesIn(folder: string): string[] {
  const names = (path: string) => (exists(placeIn(folder, path)) ? readdirSync(placeIn(folder, path)) : []);
  const all = [
    ...names("builds").map(withoutHosting),
    ...names("state").flatMap((name) => (name.endsWith(".json") ? name.slice(0, -".json".length) : [])),
  ];
  return [...new Set(all)].filter(isPublishName);
}

/** Time of the last write to a publish, in milliseconds since 1970. */
function ageOf(folder: string, name: string): number {
  const times = ownPaths(folder, name).map(
    (path) => lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0,
  );
  return Math.max(...times);
}

/** All paths of a publish. A path that is a link is removed without following it. */
function ownPaths(folder: string, name: string): string[] {
  const [builds, state] = [placeIn(folder, "builds"), placeIn(folder, "state")];
  // biome-ignore lint/plugin: isPublishName has validated the name.
  return [join(builds, name), join(builds, `${name}.${hostingLink}`), join(state, `${name}.json`)];
}

const indexOf = ({ build, files, leaving }: Publication): SiteIndex => ({
  schema_version: 1,
  build,
  files: Object.fromEntries(
    files.map(({ path, sha256, size, headers }) => [path, { sha256, size, headers: headersDigest(headers) }]),
  ),
  leaving: { ...leaving },
});

/** Assembles a build in its own folder, which is not yet served. */
async function placeBuild(
  placing: Placing,
  { target, hosting }: Readonly<Record<"target" | "hosting", string>>,
  turn: PublishTurn,
): Promise<void> {
  const { publication, written } = placing;
  try {
    for (const [index, file] of publication.files.entries()) {
      if (index % 500 === 0) await turn.renew();
      await turn.step("place");
      await placeFile(placing, file);
      publication.onFile();
    }
    placeLeaving(placing);
    placeHosting(placing, rootFolder(hosting));
    linkToArtifacts(target);
    for (const made of [target, hosting]) if (existsSync(made)) makeAllReadable(made);
    // Synced before the link is switched, so that a power failure cannot leave empty files.
    for (const path of written) syncToDisk(path);
  } catch (error) {
    if (error instanceof RelcatError) throw error;
    throw accessFailure(`cannot write ${target}`, error);
  }
}

/** The first symbolic link of a site, which it cannot do without. */
function linkToArtifacts(target: string): void {
  try {
    symlinkSync(artifactsLink.target, join(target, "files"));
  } catch (error) {
    const hint =
      "Put the site on a file system with symbolic links, or in a bucket; exFAT and FAT have none.";
    throw accessFailure(`cannot make a symbolic link in ${target}`, error, hint);
  }
}

/** Keeps files of the live build for clients that know it. */
function placeLeaving(placing: Placing): void {
  const { publication, old, target } = placing;
  if (!old) return;
  const read = (path: string) => readIfPresent(old(relativePath(path)));
  for (const path of Object.keys(publication.leaving).map(relativePath))
    if (isAsNamed(path, read)) placeAgain(placing, old(path), target(path));
}

/** Files of a build, and web server configuration from the folder next to it. */
async function* readKept(folders: Readonly<Record<"build" | "hosting", string>>, wanted: Iterable<KeptFile>) {
  const [own, hosting] = [rootFolder(folders.build), rootFolder(folders.hosting)];
  for (const { path, size } of wanted) {
    const inside = path.startsWith(`${hostingLink}/`) ? path.slice(hostingLink.length + 1) : undefined;
    const file = inside === undefined ? own(relativePath(path)) : hosting(relativePath(inside));
    const bytes = readIfPresent(file);
    if (bytes && (size === undefined || size === bytes.length)) yield { path, bytes };
  }
}

/** @throws RelcatError site-tampered for a link that leads out of the site's folder */
const placeIn = (folder: string, path: string): string => rootFolder(folder)(relativePath(path));

/** Target of the link; undefined before the first publish. @throws RelcatError folder-not-ours, site-tampered */
function liveFolder(folder: string, name: SiteLink = publicLink): string | undefined {
  // biome-ignore lint/plugin: one of two constants; the link's target is checked below.
  const link = join(folder, name);
  const stat = lstatSync(link, { throwIfNoEntry: false });
  if (!stat) return undefined;
  const target = stat.isSymbolicLink() ? readlinkSync(link) : "";
  if (/^builds\/[^/]+$/.test(target)) return placeIn(folder, target);
  throw failure(
    "folder-not-ours",
    `${link} is ${target === "" ? "no link" : `a link to ${target}`}, expected the one that relcat flips from build to build`,
    "Give the site a folder of its own.",
  );
}

/** Atomic rename: if the link were removed first, readers would get errors. */
function flip(folder: string, name: SiteLink, build: string): void {
  // biome-ignore lint/plugin: one of two constants; a rename replaces a link without following it.
  const [link, temporary] = [join(folder, name), join(folder, `.relcat-tmp-${name}`)];
  try {
    rmSync(temporary, { force: true });
    symlinkSync(`builds/${build}`, temporary);
    renameSync(temporary, link);
  } catch (error) {
    throw accessFailure(`cannot make ${link} lead to ${build}`, error);
  }
}

/** Compares the live build by existence and size, or by bytes. @param index of the build that `current` leads to */
function surveyBuild(
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

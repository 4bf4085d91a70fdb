import { existsSync, lstatSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { digestOf } from "../system/files.ts";
import type { BuildCall } from "./build-entry.ts";
import { cacheIn } from "./cache.ts";
import { isRecent, isRecentlyChanged, lookIn, lookOf } from "./file-stats.ts";
import type { MadeFiles } from "./made-files.ts";

/** A folder and its entries: a name is a file's, with a slash at its end that of a folder, whose listing follows. */
export type Listing = readonly [folder: string, ...names: string[]];

/** Every file that a build may read, as it looked before the build read it. */
export interface Inputs {
  /** As `listingsIn` reads them: a string for each name would take several times as much. */
  listings: string;
  /** Of the folders and files in the order of the listings, four numbers of each. */
  looks: Float64Array;
  /**
   * Those that may have changed since without their looks showing it: digests of files; of folders, which end with
   * a slash, nothing.
   */
  racy: Racy;
}

export type Racy = Record<string, string>;

/**
 * The inputs as they look before a build reads them.
 * @returns undefined where nothing can be told by it: without a releases folder or a cache, and where links lead elsewhere
 */
export function lookAtInputs(call: BuildCall): Inputs | undefined {
  if (!existsSync(call.folder)) return undefined;
  const cache = cacheOf(call);
  if (!cache) return undefined;
  // From before anything is looked at: what changes later has a later time.
  const taken = cache.clock();
  const looking: Looking = { listings: [], looks: [], racy: {}, taken };
  const folders = [call.folder, join(call.own, "templates"), join(call.own, "schemas")];
  if (!folders.every((folder) => lookBelow(folder, looking))) return undefined;
  const { listings, looks, racy } = looking;
  return { listings: listings.join("\0\0"), looks: Float64Array.from(looks), racy };
}

interface Looking {
  /** Each a folder and its names, a NUL between two: no name has one, and none is empty. */
  listings: string[];
  looks: number[];
  racy: Racy;
  taken: number;
}

/** @returns false where there is a link */
function lookBelow(folder: string, into: Looking): boolean {
  const look = lookOf(statSync(folder));
  const names = entriesOf(folder);
  if (!names) return false;
  into.looks.push(...look);
  if (isRecent(look, into.taken)) into.racy[`${folder}/`] = "";
  const listing = [folder];
  for (const name of names)
    if (name.endsWith("/") || lookAtFile(`${folder}/${name}`, into)) listing.push(name);
  into.listings.push(listing.join("\0"));
  return names.every((name) => !name.endsWith("/") || lookBelow(`${folder}/${name.slice(0, -1)}`, into));
}

/** @returns false when it is there no more */
function lookAtFile(path: string, { looks, racy, taken }: Looking): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return false;
  const look = lookOf(stat);
  looks.push(...look);
  // Before the build reads it: bytes that change between the two are not those that were built.
  if (isRecent(look, taken)) racy[path] = digestOf(path).sha256;
  return true;
}

/**
 * Names of what lies in a folder, in an order that is always the same, hidden ones left out, a slash after folders'.
 * @returns undefined where there is a link: what it leads to is not looked at
 */
function entriesOf(folder: string): string[] | undefined {
  const entries = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => !name.startsWith("."));
  if (entries.some((entry) => entry.isSymbolicLink())) return undefined;
  // Folders count too: an empty one may be a fault.
  return entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort();
}

/** Everything that a build made. */
export interface Outputs {
  /** Every file, and the folders that hold folders, in which a link may take a folder's place. */
  paths: Iterable<Uint8Array>;
  /** Of the paths, four numbers of each. */
  looks: Float64Array;
  /** Digests of the files that may have changed since without their looks showing it. */
  racy: Racy;
}

/** @param made with the looks that the files had when they were made: what changed them since shows */
export function lookAtOutputs(call: BuildCall, out: string, made: MadeFiles): Outputs {
  const taken = cacheOf(call)?.clock() ?? 0;
  const files = made.looks();
  const racy: Racy = {};
  for (const [row, path] of made.paths.entries())
    if (isRecentlyChanged(lookIn(files, row), taken)) racy[join(out, path)] = made.digest(row);
  // A slash at its end: the site's folder itself may be a link that its owner made.
  const folders = [...foldersWithFolders(made.paths)].map((folder) =>
    join(out, folder === "." ? "/" : folder),
  );
  const looks = new Float64Array(files.length + 4 * folders.length);
  looks.set(files);
  looks.set(
    folders.flatMap((folder) => lookOf(lstatSync(folder))),
    files.length,
  );
  return { paths: encoded(out, made.paths, folders), looks, racy };
}

/** In pieces: at 250,000 records the whole is 15 MB. */
function* encoded(out: string, files: readonly string[], folders: readonly string[]): Generator<Uint8Array> {
  const some = 1000;
  for (let at = 0; at < files.length; at += some)
    yield ended(files.slice(at, at + some).map((path) => join(out, path)));
  yield ended(folders);
}

const ended = (paths: readonly string[]) => Buffer.from(paths.map((path) => `${path}\0`).join(""));

/** Of folders that hold files alone the files tell enough, and there is one for each record. */
function foldersWithFolders(paths: readonly string[]): Set<string> {
  const found = new Set<string>();
  for (const path of paths)
    for (let folder = dirname(dirname(path)); !found.has(folder); folder = dirname(folder)) found.add(folder);
  return found;
}

/**
 * Compares what does not show by its looks whether it changed: files by their digests, folders by their entries.
 * @param paths keys of `racy`, and folders that look otherwise than they did
 * @returns those that have to be compared the next time too; undefined when one is another than it was
 */
export function compared(
  call: BuildCall,
  paths: Iterable<string>,
  racy: Racy,
  listings: Iterable<Listing>,
): Racy | undefined {
  // From before anything is compared: what changes later has a later time.
  const taken = cacheOf(call)?.clock() ?? 0;
  const entries = new Map<string, string>();
  for (const [folder, ...names] of listings) entries.set(`${folder}/`, names.join("\0"));
  const later: Racy = {};
  for (const path of paths) {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (!stat) return undefined;
    const isSame = path.endsWith("/")
      ? entriesOf(path)?.join("\0") === entries.get(path)
      : digestOf(path).sha256 === racy[path];
    if (!isSame) return undefined;
    if (isRecentlyChanged(lookOf(stat), taken)) later[path] = racy[path] ?? "";
  }
  return later;
}

const cacheOf = ({ cache, pid, clock, onCacheFailure }: BuildCall) =>
  cacheIn(cache, pid, clock, onCacheFailure);

/** Keeps an entry of a call, where anything may be kept. */
export const keepEntry = (call: BuildCall, name: string, entry: Iterable<Uint8Array>): void =>
  cacheOf(call)?.putPieces(name, entry);

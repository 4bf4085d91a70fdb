import { createHash, hash } from "node:crypto";
import { lstatSync } from "node:fs";
import { dirname, join } from "node:path";
import { failure } from "../../shared/errors.ts";
import { isRelativePath } from "../documents/relative-path.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type AuthoredFiles, filesIn } from "../project/authored-files.ts";
import type { ReleaseFiles } from "../project/discover.ts";
import { pathsOfRelease } from "../project/parse.ts";
import type { OutlinedRelease } from "../records/normalize.ts";
import { type ReadRelease, withPlaces } from "../records/read-release.ts";
import { digestOf as digestOfFile } from "../system/files.ts";
import { realFolders } from "../system/real-folders.ts";
import { type Cache, cacheIn, type OnCacheFailure } from "./cache.ts";
import { digestOf } from "./digest.ts";
import {
  isRecentlyChanged,
  isSameStatData,
  type MadeFile,
  type MadeGroup,
  readStatData,
  type StatData,
  statDataOf,
} from "./file-stats.ts";
import { type Inputs, inputFinder, takeDigests } from "./inputs.ts";
import { headOf, journalLines, journalName, linesOf, parseJournal } from "./journal-file.ts";
import { hasSlices, type SliceStore } from "./stored-slices.ts";
import type { BuildCall, Remembering } from "./unchanged-build.ts";

interface RememberedRelease {
  /** Digest of everything that its files and slices are generated from. */
  key: string;
  /** True if artifacts of the release had no ledger line, so that its key includes the next free id. */
  hasNewIds: boolean;
  read: ReadRelease<OutlinedRelease>;
}

interface NextRelease {
  files: ReleaseFiles;
  ledger: Ledger;
  /** Id for the next artifact without a ledger line. */
  nextId: number;
  /** True if the release is among the newest, which are in the feeds. */
  inFeeds: boolean;
  /** Name of the group of its files. */
  group: string;
}

/** Name of the group of build.json, which is in no other group. */
const otherFiles = "";

/** One build stores it for the next. Nothing in it is trusted without a comparison with the actual files. */
export type Journal = NonNullable<ReturnType<typeof openJournal>>;

/** @returns undefined if the cache is not writable; the build then works without a journal */
export function openJournal(
  { folder, out, clock }: Pick<BuildCall, "folder" | "out" | "clock">,
  pid: number,
  { cache: at, call, program, inputs }: Remembering,
  onCacheFailure: OnCacheFailure,
) {
  const cache = cacheIn(at, pid, clock, onCacheFailure);
  if (!cache) return undefined;
  const slices: SliceStore = cache;
  const name = journalName(at, out);
  const outlinesName = `outlines-${name}`;
  const before = readJournal(cache.get(name), program, inputs, onCacheFailure);
  const groups = new Map(before?.groups.map((group) => [group.name, group]));
  const siblings = new Map(
    before?.groups.flatMap((group) => group.siblings).map((file) => [file.path, file]),
  );
  const isUntouched = untouchedFiles(out, before?.head.recordedAt ?? 0);
  const findInput = inputFinder(inputs);
  const files = filesIn(folder);
  const outlines = readOutlines(before && cache.get(outlinesName));
  const noted = cache.begin(outlinesName);
  const note = (version: string, line: string) => noted.add(Buffer.from(`${version} ${line}\n`));
  let basis = "";
  const keyOf = (next: NextRelease, digests: readonly string[], hasNewIds: boolean) =>
    releaseKey(basis, next, digests, hasNewIds);
  const group = (groupName: string, key: string) => {
    const found = groups.get(groupName);
    return found?.key === key && found.files.every(isUntouched) ? found : undefined;
  };
  const read = async (release: ReleaseFiles) => {
    const paths = pathsOfRelease(release);
    const contents = await files.readAll(paths);
    const digests = contents.map((bytes, index) => {
      const sha256 = hash("sha256", bytes);
      const input = findInput(`${folder}/${paths[index]}`);
      if (input) input.sha256 = sha256;
      return sha256;
    });
    return { contents, digests };
  };
  const digestsOf = async (release: ReleaseFiles) => {
    const paths = pathsOfRelease(release);
    const known = paths.flatMap((path) => findInput(`${folder}/${path}`)?.sha256 ?? []);
    return known.length === paths.length ? known : (await read(release)).digests;
  };
  return {
    /** Stores slices for the end of this build and for the next build. */
    slices,
    /** @param made everything that all releases depend on */
    begin(made: unknown) {
      basis = digestOf(program, made);
    },
    /** @returns undefined if the release, or one of its files in the site, has changed since the last build */
    async release(next: NextRelease) {
      const { version } = next.files;
      const line = outlines.get(version);
      if (line === undefined) return undefined;
      const digests = await digestsOf(next.files);
      const { key, hasNewIds, read }: RememberedRelease = JSON.parse(line);
      if (key !== keyOf(next, digests, hasNewIds) || !hasSlices(cache, key)) return undefined;
      const kept = group(next.group, key);
      if (!kept) return undefined;
      note(version, line);
      withPlaces(read.release.artifacts, folder, files);
      return { key, read, group: kept };
    },
    /** The bytes of a release's files, and a digest of everything that its outputs are generated from. */
    async read(next: NextRelease) {
      const { contents, digests } = await read(next.files);
      return { contents, keyOf: (hasNewIds: boolean) => keyOf(next, digests, hasNewIds) };
    },
    /** @returns undefined if the files need to be generated again, or if someone changed one of them */
    group,
    /** A compressed sibling; undefined: it is missing, or someone changed it. */
    sibling(path: string) {
      const file = siblings.get(path);
      return file && isUntouched(file) ? file : undefined;
    },
    noteRelease: (release: RememberedRelease) => note(release.read.release.version, JSON.stringify(release)),
    /** Called when all files are in place. @param report of the command, for a later build that finds nothing changed */
    save(made: { groups: readonly MadeGroup[]; buildDocument: MadeFile }, report: unknown) {
      noted.keep();
      const all = [...made.groups, { name: otherFiles, key: "", files: [made.buildDocument], siblings: [] }];
      const head = { call, program, recordedAt: cache.clock(), report: report ?? null };
      const folders = foldersWithFolders(out, all);
      cache.putPieces(name, journalLines({ head, inputs, folders, groups: all }));
      cache.prune();
    },
    /** Called if an entry could not be used; the next build then ignores the journal. */
    discard: () => cache.remove(name),
    /** Must be called once, even after a failure. */
    close: () => noted.end(),
  };
}

/** Reads the journal of the last build, and takes over the digests of inputs that have not changed since. */
function readJournal(
  bytes: Uint8Array | undefined,
  program: string,
  inputs: Inputs,
  onCacheFailure: OnCacheFailure,
) {
  if (!bytes) return undefined;
  try {
    if (headOf(bytes).program !== program) return undefined;
    const journal = parseJournal(bytes);
    takeDigests(inputs, journal.inputs);
    return { ...journal, groups: [...journal.groups] };
  } catch (error) {
    onCacheFailure(`an entry of the cache cannot be used (${error})`);
    return undefined;
  }
}

/** Outlines of the releases as JSON, by version. */
function readOutlines(bytes: Uint8Array = new Uint8Array()): Map<string, string> {
  const outlines = new Map<string, string>();
  for (const line of linesOf(bytes)) {
    const space = line.indexOf(" ");
    outlines.set(line.slice(0, space), line.slice(space + 1));
  }
  return outlines;
}

/** Folders that contain folders. Others, such as that of each record, need no entry, because their files have one. */
function foldersWithFolders(out: string, groups: readonly MadeGroup[]): (readonly [string, StatData])[] {
  const found = new Set<string>();
  for (const { files } of groups)
    for (const { path } of files)
      for (let folder = dirname(dirname(path)); !found.has(folder); folder = dirname(folder))
        found.add(folder);
  // The slash resolves a link, because the owner may have made the site's folder a link.
  return [...found].map((folder) => {
    const path = folder === "." ? "/" : folder;
    // biome-ignore lint/plugin: a folder of files that the build made.
    return [path, statDataOf(lstatSync(join(out, path)))] as const;
  });
}

/**
 * @param basis digest of program, configuration, templates, schemas and selection
 * @param digests of the release's files
 * @param hasNewIds false: all artifacts have a ledger line
 */
function releaseKey(
  basis: string,
  { files: own, ledger, nextId, inFeeds }: NextRelease,
  digests: readonly string[],
  hasNewIds: boolean,
): string {
  const { version } = own;
  const files = pathsOfRelease(own).map((path, index) => [path, digests[index]]);
  const newIds = hasNewIds ? nextId : null;
  const entries = ledger.ofVersion(version);
  // The page of a withdrawn record names its replacement, which may be in another release.
  const replacements = entries.map(({ retraction }) => {
    const id = retraction?.replaced_by ?? undefined;
    const add = id === undefined ? undefined : ledger.byId.get(id)?.add;
    return add && [add.id, add.version, add.name];
  });
  // The page of a release has the history of each record, of which an entry has only the end.
  const changes = entries.map(({ add }) => ledger.changesOf(add.id));
  const channels = [...ledger.channels.byName].map(([name, members]) => [name, members.get(version)]);
  const parts = [basis, version, files, entries, replacements, changes, channels, newIds, inFeeds];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

/** Tests whether a file is as an earlier build left it. @param recordedAt time of its inspection, in ms since 1970 */
export function untouchedFiles(out: string, recordedAt: number): (file: MadeFile) => boolean {
  const folders = realFolders(out);
  return ({ path, sha256, statData }) => {
    // The cache may be shared, so another writer could name any file here.
    if (!isRelativePath(path) || !folders.holds(path)) return false;
    // Its text was checked, and no folder above it is a link.
    const file = `${out}/${path}`;
    const now = readStatData(file);
    if (!now || !isSameStatData(now, statData)) return false;
    return !isRecentlyChanged(statData, recordedAt) || digestOfFile(file).sha256 === sha256;
  };
}

/** For a build that neither uses nor stores anything. @param work a temporary folder, created when it is needed */
export function noJournal(files: AuthoredFiles, work: string, pid: number): Journal {
  let store: Cache | undefined;
  const slices = () => {
    store ??= cacheIn(join(work, "slices"), pid, 0, (reason) => {
      throw failure("file-access", reason, "Check the permissions of the site's folder, and the free space.");
    });
    if (!store) throw new Error(`nothing can be written in ${work}`);
    return store;
  };
  const ignore = () => undefined;
  return {
    slices: {
      get: (key) => slices().get(key),
      put: (key, bytes) => slices().put(key, bytes),
      has: (key) => slices().has(key),
    },
    begin: ignore,
    release: async () => undefined,
    read: async (next) => ({
      contents: await files.readAll(pathsOfRelease(next.files)),
      // The version is enough, because no other build compares this key.
      keyOf: () => next.files.version,
    }),
    group: ignore,
    sibling: ignore,
    noteRelease: ignore,
    save: ignore,
    discard: ignore,
    close: ignore,
  };
}

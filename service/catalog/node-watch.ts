import { lstatSync, readFileSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { readFile, realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { hashInFeed } from "../../pipeline/documents/feeds/paths.ts";
import { isRelativePath, type RelativePath } from "../../pipeline/documents/relative-path.ts";
import type { BuildDocument } from "../../pipeline/documents/site.ts";
import type { Encoding } from "../http/negotiate.ts";
import { fileName, readVerified, releaseMemory, SiteUnfinished, sha256 } from "./node-files.ts";
import { listIn } from "./package-list.ts";
import { basePath, type CatalogSite, type PackageList, places } from "./site.ts";

export type WatchedSite = Awaited<ReturnType<typeof watchSite>>;

const interval = 500;

/**
 * Opens a site and watches its folder: a finished new build replaces the old one completely, an unfinished
 * one is ignored.
 * @param onChange called for each new build, and with errors
 */
export async function watchSite(
  folder: string,
  onChange: (change: { build: string } | { error: unknown }) => void,
) {
  let site = await openFolderSite(folder);
  releaseMemoryAfter(site);
  let refused = "";
  let running: Promise<void> | undefined;
  const check = async () => {
    const mark = tryMark(folder);
    if (mark === undefined || mark === site.mark || mark === refused) return;
    try {
      site = await openFolderSite(folder);
      releaseMemoryAfter(site);
      onChange({ build: site.id });
    } catch (error) {
      // A build is in progress; the next check finds it finished.
      if (error instanceof SiteUnfinished) return;
      refused = mark;
      onChange({ error });
    }
  };
  const refresh = (): Promise<void> => {
    running ??= check().finally(() => {
      running = undefined;
    });
    return running;
  };
  const timer = setInterval(() => void refresh(), interval);
  timer.unref();
  return { current: () => site, refresh, stop: () => clearInterval(timer) };
}

/** Bytes of build.json: about 2,000 files. A smaller site leaves little garbage when it is read. */
const largeBuild = 256 * 1024;

function releaseMemoryAfter({ files }: FolderSite): void {
  if ((files["build.json"]?.size ?? 0) > largeBuild) releaseMemory();
}

function tryMark(folder: string): string | undefined {
  try {
    return markOf(folder);
  } catch {
    return undefined; // Between two builds the file may be missing; the cached site stays.
  }
}

/** A site in a folder, with frequent files cached in memory. */
export interface FolderSite extends CatalogSite {
  packages: PackageList;
  /** Changes when the folder holds another build. */
  mark: string;
  /** Real path of a published site's artifacts; undefined: none. */
  artifacts: string | undefined;
}

/**
 * Opens a build. Links are resolved once, so that switching `current` does not affect this site.
 * @throws SiteUnfinished while a build is writing there; ENOENT without a build.json
 */
export async function openFolderSite(folder: string): Promise<FolderSite> {
  const root = await realpath(folder);
  const mark = markOf(folder);
  const bytes = await readFile(join(root, "build.json"));
  const build = readBuild(bytes);
  const id = sha256(bytes);
  const { files } = build;
  files["build.json"] = { sha256: id, size: bytes.length };
  const published = readPublished(root, id);
  Object.assign(files, published ? published.files : readSignedFiles(root, id));
  const memory = fileMemory(root, files);
  for (const encoding of ["br", "zstd", "gzip"] as const) {
    await memory.hold(places.newestFirst, encoding);
    await memory.hold(places.list, encoding);
  }
  const packages = await listIn({ files, read: (path) => memory.hold(path, undefined) }, places.list);
  if (!packages) throw new SiteUnfinished(places.list);
  return {
    build,
    id,
    files,
    base: basePath(build.base_url),
    mark,
    artifacts: published?.artifacts,
    packages,
    list: async () => packages,
    read: memory.read,
  };
}

const maxRecentBytes = 8 * 1024 * 1024;
const maxRecentFileBytes = 256 * 1024;

/** Cache of a build's files: permanent entries, and small files requested recently. */
function fileMemory(root: string, files: BuildDocument["files"]) {
  const held = new Map<string, Uint8Array | undefined>();
  const recent = new Map<string, Promise<Uint8Array | undefined>>();
  let recentBytes = 0;

  /** Clears the whole cache instead of tracking usage; frequent files return quickly. */
  function keep(name: string, size: number): void {
    if (size > maxRecentFileBytes) return void recent.delete(name);
    recentBytes += size + 1024;
    if (recentBytes <= maxRecentBytes) return;
    recent.clear();
    recentBytes = 0;
  }

  return {
    async hold(path: string, encoding: Encoding | undefined): Promise<Uint8Array | undefined> {
      const bytes = await readVerified(root, files, path, encoding);
      held.set(fileName(path, encoding), bytes);
      return bytes;
    },
    /** Concurrent requests for a file share one read. */
    read(path: string, encoding: Encoding | undefined): Promise<Uint8Array | undefined> {
      const name = fileName(path, encoding);
      if (held.has(name)) return Promise.resolve(held.get(name));
      const known = recent.get(name);
      if (known) return known;
      const reading = readVerified(root, files, path, encoding);
      recent.set(name, reading);
      reading.then(
        (bytes) => keep(name, bytes?.length ?? 0),
        () => recent.delete(name),
      );
      return reading;
    },
  };
}

/** Files that `relcat sign` added to this build; empty for another or no signature. */
function readSignedFiles(root: string, build: string): BuildDocument["files"] {
  const text = readIfPresent(join(root, signedList));
  if (text === undefined) return {};
  const signed = JSON.parse(text);
  if (signed?.build !== build || typeof signed.files !== "object") return {};
  refuseHostilePaths(signedList, signed.files);
  return signed.files;
}

/** Listed files are served, so a path out of the folder would expose other files. */
function refuseHostilePaths(document: string, files: BuildDocument["files"]): void {
  const hostile = Object.keys(files).find((path) => !isRelativePath(path));
  if (hostile !== undefined)
    throw new SyntaxError(
      `${document} names ${JSON.stringify(hostile)}, which is not a path inside the site`,
    );
}

const signedList = "metadata/signed.json";

/** A cheap fingerprint that changes with the build or its signatures. */
function markOf(folder: string): string {
  const { ino, size, mtimeMs, ctimeMs } = statSync(join(folder, "build.json"));
  const signed = statSync(join(folder, signedList), { throwIfNoEntry: false });
  // Includes the path, because republishing with new signatures switches the link but keeps build.json.
  return `${realpathSync(folder)} ${ino} ${size} ${mtimeMs} ${ctimeMs} ${signed?.ino} ${signed?.mtimeMs}`;
}

function readBuild(bytes: Uint8Array): BuildDocument {
  const build = JSON.parse(new TextDecoder().decode(bytes));
  if (
    typeof build?.base_url !== "string" ||
    typeof build?.files !== "object" ||
    !Array.isArray(build?.provisional)
  ) {
    throw new SyntaxError("build.json is not that of a catalog");
  }
  refuseHostilePaths("build.json", build.files);
  return build;
}

const ownLink = "../../files";

/**
 * Reads the index that publishing stores next to a live build: `SITE/builds/NAME`, the target of `SITE/current`.
 * @param root real path of the build
 * @param id of the build
 * @returns undefined if the folder is not a published build
 * @throws SyntaxError for an index that is unreadable or of another build
 */
function readPublished(root: string, id: string): Pick<FolderSite, "files" | "artifacts"> | undefined {
  const folder = dirname(root);
  if (basename(folder) !== "builds") return undefined;
  // biome-ignore lint/plugin: the name of the served folder.
  const file = join(dirname(folder), "state", `${basename(root)}.json`);
  const bytes = readIfPresent(file);
  if (!bytes) return undefined;
  const index = JSON.parse(bytes);
  if (index?.build !== id || typeof index.files !== "object")
    throw new SyntaxError(`${file} is not the index of this build`);
  return { files: { ...earlierIndexes(root, index.leaving), ...index.files }, artifacts: artifactsOf(root) };
}

/** Indexes of earlier builds, for clients of package feeds that have read an earlier pointer. */
function earlierIndexes(root: string, leaving: object = {}): BuildDocument["files"] {
  const found = Object.keys(leaving).flatMap((path) => {
    const file = isRelativePath(path) ? earlierIndex(root, path) : undefined;
    return file ? [[path, file]] : [];
  });
  return Object.fromEntries(found);
}

/** No publish lists such a file, so the hash in its path must be its own. */
function earlierIndex(root: string, path: RelativePath): BuildDocument["files"][string] | undefined {
  const named = hashInFeed(path);
  // biome-ignore lint/plugin: every answer is compared with the hash in the path, also if a link led there.
  const place = (part: string) => join(root, part);
  const size = statSync(place(path), { throwIfNoEntry: false })?.size;
  if (!named || size === undefined) return undefined;
  if (named.of.length === 1) return { sha256: named.sha256, size };
  const parts = named.of.map((part) => readIfPresent(place(part)) ?? "");
  const [own = ""] = parts.filter((_, index) => named.of[index] === path);
  return sha256(parts.join("")) === named.sha256 ? { sha256: sha256(own), size } : undefined;
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

import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { failure } from "../../../shared/errors.ts";
import type { OutputFile, OutputGroup } from "../../documents/published.ts";
import { isRelativePath, relativePath } from "../../documents/relative-path.ts";
import { type BuildDocument, buildSchema } from "../../documents/site.ts";
import { type MadeFile, type MadeGroup, noStatData, readStatData } from "../../journal/file-stats.ts";
import { accessFailure } from "../../system/access-failure.ts";
import { digestOf, readIfPresent } from "../../system/files.ts";
import { lockFile } from "../../system/lock.ts";
import { realFolders } from "../../system/real-folders.ts";
import { artifactsLink, type RootFolder, rootFolder } from "../../system/root-folder.ts";
import { workFolder } from "./foreign-folder.ts";
import { encoder, hasSiblings, placeEncoded, type SiblingOptions } from "./precompress.ts";
import { type RenderedFile, type RenderedGroup, rendering } from "./render-files.ts";
import { removeSiblings } from "./siblings.ts";

/** List of new files, written before the first of them exists. */
const pathList = "journal";

export type SiteFolder = ReturnType<typeof openSiteFolder>;

export interface Placed extends Counts {
  removed: number;
  groups: MadeGroup[];
  buildDocument: MadeFile;
}

/** Opens a site's folder for one build. @param now milliseconds since 1970 */
export function openSiteFolder(folder: string, now: number, siblings: SiblingOptions) {
  const isNew = !existsSync(folder);
  const work = rootFolder(folder)(relativePath(workFolder));
  const previous = previousFiles(folder);
  const startedBefore = unfinishedFiles(work);
  try {
    mkdirSync(folder, { recursive: true });
    if (!existsSync(work)) mkdirSync(work, { mode: 0o700 });
  } catch (error) {
    throw accessFailure(`cannot write ${folder}`, error);
  }
  clear(work);
  // biome-ignore lint/plugin: a constant; earlier versions kept their lock there.
  rmSync(join(folder, lockFile), { force: true });
  const encoding = encoder(work);
  const render = rendering(folder, work, now, siblings, encoding);
  const rendered: RenderedGroup[] = [];
  let state: "rendering" | "placing" | "finished" = "rendering";
  return {
    work,
    async render(group: OutputGroup) {
      rendered.push(await render.group(group));
    },
    /** Keeps an unchanged group of an earlier build. */
    async keep(group: MadeGroup) {
      rendered.push(await render.kept(group));
    },
    /**
     * Places files in the order in which they were rendered, then removes those that this build no longer generates.
     * @param buildDocument generates build.json from all placed files
     */
    async place(buildDocument: (files: readonly MadeFile[]) => OutputFile): Promise<Placed> {
      await encoding.finish();
      notePaths(work, rendered, previous);
      state = "placing";
      const place = placing(folder, siblings);
      const groups: MadeGroup[] = [];
      // Taken off the list, so that the memory of each group is free when its files are in place.
      rendered.reverse();
      for (let group = rendered.pop(); group; group = rendered.pop()) groups.push(place.group(group));
      const files = groups.flatMap((group) => group.files);
      for (const path of startedBefore) previous.add(path);
      for (const { path } of files) previous.delete(path);
      // Files of earlier builds are removed last, when nothing links to them any more.
      const at = rootFolder(folder);
      for (const path of previous) removeFile(folder, at, path);
      const document = place.alone(render.file(buildDocument(files)));
      rmSync(work, { recursive: true, force: true });
      state = "finished";
      return { ...place.counts, removed: previous.size, groups, buildDocument: document };
    },
    /** Must be called once, even after a failure; removes all temporary files. */
    async close() {
      await encoding.stop();
      if (state === "finished") return;
      clear(work);
      // Until a build has finished, only the list of paths shows which files in place belong to relcat.
      if (state === "placing" || (state === "rendering" && startedBefore.length > 0)) return;
      rmSync(work, { recursive: true, force: true });
      if (isNew) rmdirSync(folder);
    },
  };
}

function clear(work: string): void {
  for (const name of readdirSync(work)) {
    // biome-ignore lint/plugin: a name from listing the folder.
    if (name !== pathList) rmSync(join(work, name), { recursive: true, force: true });
  }
}

/**
 * If this build is killed, the next one recognizes the files as relcat's own. On a full disk, writeSync would write a
 * part of the paths without an error.
 */
function notePaths(work: string, groups: readonly RenderedGroup[], previous: ReadonlySet<string>): void {
  const list = openSync(join(work, pathList), "a");
  try {
    // Keeps the paths noted by an earlier build, whose last line may be incomplete.
    writeFileSync(list, "\n");
    for (const { files } of groups) {
      const unknown = files.filter(({ path }) => !previous.has(path));
      if (unknown.length > 0) writeFileSync(list, unknown.map(({ path }) => `${path}\n`).join(""));
    }
  } finally {
    closeSync(list);
  }
}

function previousFiles(folder: string): Set<string> {
  const bytes = readIfPresent(join(folder, "build.json"));
  if (!bytes) return new Set();
  try {
    // Paths outside the folder are ignored, because build.json may be forged; this build replaces it anyway.
    return new Set(filesOf(JSON.parse(new TextDecoder().decode(bytes))).filter(isOfBuild));
  } catch (error) {
    throw failure(
      "folder-not-ours",
      `${folder}/build.json is not a build of relcat's`,
      "Give another folder with --out, or remove this one.",
      undefined,
      error,
    );
  }
}

/** Validates file by file: the whole would need twice the memory. @throws if it is not a build document */
function filesOf(document: BuildDocument): string[] {
  const { files } = document;
  const isTable = typeof files === "object" && files !== null && !Array.isArray(files);
  buildSchema.parse({ ...document, ...(isTable && { files: {} }) });
  const file = buildSchema.shape.files.valueType;
  const paths = Object.keys(files);
  for (const path of paths) file.parse(files[path]);
  return paths;
}

function unfinishedFiles(work: string): string[] {
  const bytes = readIfPresent(join(work, pathList));
  const lines = bytes ? new TextDecoder().decode(bytes).split("\n").slice(0, -1) : [];
  return lines.filter(isOfBuild);
}

/** A list may be forged. A published build has a link to the artifacts of its site, which no build makes. */
const isOfBuild = (path: string): boolean =>
  isRelativePath(path) && !path.startsWith(`${artifactsLink.name}/`);

function removeFile(folder: string, at: RootFolder, path: string): void {
  const file = at(relativePath(path));
  removeSiblings(folder, path);
  rmSync(file, { force: true });
  for (let parent = dirname(path); parent !== "."; parent = dirname(parent)) {
    try {
      rmdirSync(at(relativePath(parent)));
    } catch {
      return; // Not empty, or already removed; in both cases there is nothing to do.
    }
  }
}

interface Counts {
  written: number;
  unchanged: number;
  bytes: number;
}

/** Moves rendered files into place, each whole or not at all. */
function placing(folder: string, { encodings }: SiblingOptions) {
  const counts = { written: 0, unchanged: 0, bytes: 0 };
  const folders = realFolders(folder);
  // A folder made by this build has no files to remove.
  const made = new Set<string>();
  const move = (path: string, temporary: string): void => {
    // biome-ignore lint/plugin: a path of this build, which its emitters made.
    const target = join(folder, path);
    try {
      if (folders.make(path)) made.add(dirname(path));
      // Removed first, so that no server sends old compressed bytes for a new file.
      if (!made.has(dirname(path))) removeSiblings(folder, path);
      renameSync(temporary, target);
    } catch (error) {
      throw accessFailure(`cannot write ${target}`, error);
    }
  };
  const placeSiblings = (file: RenderedFile): MadeFile[] => {
    const { path } = file;
    removeSiblings(folder, path, encodings);
    for (const sibling of file.siblings) placeEncoded(folder, path, sibling);
    return Array.from(
      encodings,
      (encoding) => file.siblingsInPlace.get(encoding) ?? noted(folder, `${path}.${encoding}`),
    );
  };
  const place = (file: RenderedFile): MadeFile => {
    const { path, sha256, size, temporary, statData } = file;
    if (temporary === undefined) counts.unchanged++;
    else {
      move(path, temporary);
      counts.written++;
    }
    counts.bytes += size;
    // biome-ignore lint/plugin: a path of this build, which its emitters made.
    return { path, sha256, size, statData: statData ?? readStatData(join(folder, path)) ?? noStatData };
  };
  return {
    counts,
    /** Places a file that gets no siblings. */
    alone: place,
    group({ name, key, files }: RenderedGroup): MadeGroup {
      const siblings: MadeFile[] = [];
      const made = files.map((file) => {
        const known = place(file);
        if (hasSiblings(file)) siblings.push(...placeSiblings(file));
        return known;
      });
      return { name, key, files: made, siblings };
    },
  };
}

/** Metadata is read before the content, so that a later change is noticed. */
function noted(folder: string, path: string): MadeFile {
  // biome-ignore lint/plugin: a path of this build, which its emitters made.
  const file = join(folder, path);
  const statData = readStatData(file) ?? noStatData;
  const { sha256, size } = digestOf(file);
  return { path, sha256, size, statData };
}

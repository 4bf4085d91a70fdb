import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmdirSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { failure } from "../../../shared/errors.ts";
import type { OutputFile, OutputGroup } from "../../documents/published.ts";
import { isRelativePath, type RelativePath, relativePath } from "../../documents/relative-path.ts";
import { type BuildDocument, buildSchema } from "../../documents/site.ts";
import type { MadeFile, MadeGroup } from "../../journal/file-stats.ts";
import { accessFailure } from "../../system/access-failure.ts";
import { readIfPresent } from "../../system/files.ts";
import { lockFile } from "../../system/lock.ts";
import { type RootFolder, rootFolder } from "../../system/root-folder.ts";
import { workFolder } from "./foreign-folder.ts";
import { type Counts, placing } from "./place-files.ts";
import { encoder, type SiblingOptions } from "./precompress.ts";
import { type RenderedGroup, rendering } from "./render-files.ts";
import { removeSiblings } from "./siblings.ts";

/** List of new files, written before the first of them exists. */
const pathList = "journal";

/** A site's folder, opened for one build. */
export interface SiteFolder {
  /** Folder for temporary files of the build. */
  work: string;
  /** Renders a group's files into the temporary folder. */
  render(group: OutputGroup): Promise<void>;
  /** Keeps an unchanged group of an earlier build. */
  keep(group: MadeGroup): Promise<void>;
  /**
   * Moves all files into place in the order in which they were rendered, then removes files that this build
   * no longer generates.
   * @param buildDocument generates build.json from all placed files
   */
  place(buildDocument: (files: readonly MadeFile[]) => OutputFile): Promise<Placed>;
  /** Must be called once, even after a failure; removes all temporary files. */
  close(): Promise<void>;
}

export interface Placed extends Counts {
  removed: number;
  groups: MadeGroup[];
  siblings: MadeFile[];
  buildDocument: MadeFile;
}

/** @param now milliseconds since 1970 */
export function openSiteFolder(folder: string, now: number, siblings: SiblingOptions): SiteFolder {
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
    async render(group) {
      rendered.push(await render.group(group));
    },
    async keep(group) {
      rendered.push(await render.kept(group));
    },
    async place(buildDocument) {
      await encoding.finish();
      notePaths(work, rendered, previous);
      state = "placing";
      const place = placing(folder, siblings);
      const groups = rendered.map((group) => place.group(group));
      const files = groups.flatMap((group) => group.files);
      // Removed last, when nothing links to them any more.
      const stale = previous;
      for (const path of startedBefore) stale.add(path);
      for (const { path } of files) stale.delete(path);
      removeFiles(folder, stale);
      const document = place.alone(render.file(buildDocument(files)));
      rmSync(work, { recursive: true, force: true });
      state = "finished";
      return {
        ...place.counts,
        removed: stale.size,
        groups,
        siblings: place.siblings,
        buildDocument: document,
      };
    },
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

/** If this build is killed, the next one recognizes the files as relcat's own. */
function notePaths(work: string, groups: readonly RenderedGroup[], previous: ReadonlySet<string>): void {
  const list = openSync(join(work, pathList), "a");
  try {
    // Keeps the paths noted by an earlier build, whose last line may be incomplete.
    writeSync(list, "\n");
    for (const { files } of groups) {
      const unknown = files.filter(({ path }) => !previous.has(path));
      if (unknown.length > 0) writeSync(list, unknown.map(({ path }) => `${path}\n`).join(""));
    }
  } finally {
    closeSync(list);
  }
}

function removeFiles(folder: string, paths: Iterable<string>): void {
  const at = rootFolder(folder);
  for (const path of paths) removeFile(folder, at, relativePath(path));
}

function previousFiles(folder: string): Set<string> {
  const bytes = readIfPresent(join(folder, "build.json"));
  if (!bytes) return new Set();
  try {
    // Paths outside the folder are ignored, because build.json may be forged; this build replaces it anyway.
    return new Set(filesOf(JSON.parse(new TextDecoder().decode(bytes))).filter(isRelativePath));
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

/**
 * Validates file by file, because validating the whole would need twice the memory. @throws if it is not a
 * build document
 */
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
  return lines.filter(isRelativePath);
}

function removeFile(folder: string, at: RootFolder, path: RelativePath): void {
  const file = at(path);
  removeSiblings(folder, path);
  rmSync(file, { force: true });
  for (let parent = dirname(path); parent !== "."; parent = dirname(parent)) {
    try {
      rmdirSync(at(parent as RelativePath));
    } catch {
      return; // Not empty, or already removed; in both cases there is nothing to do.
    }
  }
}

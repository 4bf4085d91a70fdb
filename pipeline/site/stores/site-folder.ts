import { closeSync, mkdirSync, openSync, readdirSync, rmdirSync, rmSync, statSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Encoding } from "../../documents/hosting.ts";
import type { OutputFile } from "../../documents/published.ts";
import { isRelativePath, type RelativePath, relativePath } from "../../documents/relative-path.ts";
import { type BuildDocument, buildSchema } from "../../documents/site.ts";
import { failure } from "../../errors.ts";
import { lookAt, noLook } from "../../journal/file-stats.ts";
import { type Fragments, gzipOf } from "../../journal/gzip-fragments.ts";
import type { MadeFile } from "../../journal/output-table.ts";
import { type Precompression, precompression, type Untouched } from "../../journal/precompress.ts";
import { removeSiblings } from "../../journal/siblings.ts";
import { accessFailure } from "../../system/access-failure.ts";
import { isMissing, readIfPresent } from "../../system/files.ts";
import { lockFile } from "../../system/lock.ts";
import { realPlace } from "../../system/real-place.ts";
import { type RootFolder, rootFolder } from "../../system/root-folder.ts";
import { type Counts, placing } from "./place-files.ts";

/** Files on their way, and the list of those that no build.json names yet. Gone after every finished build. */
const workFolder = ".relcat-tmp";
const journal = "journal";

/** A folder that has one of these is relcat's: finished, unfinished, or of a version that had its lock there. */
const marks = ["build.json", workFolder, lockFile];

/** A folder that holds a built site, opened for the next build. */
export interface SiteFolder {
  /** A group of files. */
  put(files: Iterable<OutputFile>): MadeFile[];
  /** Files that lie there as an earlier build made them. */
  leave(files: readonly MadeFile[]): void;
  /** Once, after everything else has its place. */
  removeAllBut(kept: Iterable<string>): number;
  /** What writes the compressed siblings that are missing; they are in no list and no count. */
  compressing(
    encodings: ReadonlySet<Encoding>,
    fragments: Fragments | undefined,
    untouched: Untouched,
  ): Precompression;
  finish(buildDocument: OutputFile): MadeFile;
  counts: Counts;
}

/**
 * Refuses a folder with other people's files in it: a build removes what it made before, nothing else.
 * @param source the releases folder, which relcat locks too: that alone makes no site of it
 * @throws RelcatError folder-not-ours
 */
export function refuseForeignFolder(folder: string, source: string): void {
  const [out, authored] = [realPlace(folder), realPlace(source)];
  if (`${out}/`.startsWith(`${authored}/`) || `${authored}/`.startsWith(`${out}/`)) {
    const relation = out === authored ? "is" : out.startsWith(authored) ? "is in" : "holds";
    throw failure(
      "folder-not-ours",
      `${folder} ${relation} the releases folder, expected a folder for the site alone`,
      "Give another folder with --out, such as dist.",
    );
  }
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === false) {
    throw failure(
      "folder-not-ours",
      `${folder} is a file, expected a folder`,
      "Give another folder with --out.",
    );
  }
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (error) {
    if (isMissing(error)) return;
    throw accessFailure(`cannot read ${folder}`, error);
  }
  const ours = names.length === 0 || marks.some((mark) => names.includes(mark));
  if (ours) return;
  throw failure(
    "folder-not-ours",
    `${folder} holds files but no build.json, expected an absent or empty folder, or an earlier build`,
    "Give another folder with --out, or empty this one.",
  );
}

/** @param now milliseconds since 1970 */
export function openSiteFolder(folder: string, now: number): SiteFolder {
  const work = rootFolder(folder)(relativePath(workFolder));
  const previous = previousFiles(folder);
  const startedBefore = unfinishedFiles(work);
  mkdirSync(work, { recursive: true });
  for (const name of readdirSync(work)) {
    // biome-ignore lint/plugin: a name that the folder itself has.
    if (name !== journal) rmSync(join(work, name), { recursive: true, force: true });
  }
  // biome-ignore lint/plugin: a constant; earlier versions had their lock there.
  rmSync(join(folder, lockFile), { force: true });
  // What an earlier build noted stays; its last line may be cut short.
  const notes = openSync(join(work, journal), "a");
  writeSync(notes, "\n");
  const parts = new Map<string, NonNullable<OutputFile["parts"]>>();
  const counts = { written: 0, unchanged: 0, bytes: 0 };
  const count = ({ written, unchanged, bytes }: Counts) => {
    counts.written += written;
    counts.unchanged += unchanged;
    counts.bytes += bytes;
  };
  // One for each group: what it remembers of the group's files goes with it.
  const placingHere = () => placing(folder, join(work, "file"), now);
  const put = (place: ReturnType<typeof placing>, file: OutputFile): MadeFile => {
    relativePath(file.path); // Whatever it was made of: a forged cache entry must not lead outside.
    const known = place.put(file);
    // biome-ignore lint/plugin: the build made this path.
    return { path: file.path, ...known, look: lookAt(join(folder, file.path)) ?? noLook };
  };

  return {
    counts,
    put(files) {
      const place = placingHere();
      const made = Array.from(files, (file) => {
        // Noted before it exists: should this build be killed, the next one knows the file as relcat's own.
        if (!previous.has(file.path)) writeSync(notes, `${file.path}\n`);
        const made = put(place, file);
        if (file.parts) parts.set(made.sha256, file.parts);
        return made;
      });
      count(place.counts);
      return made;
    },
    leave(files) {
      const unknown = files.filter(({ path }) => !previous.has(path));
      writeSync(notes, unknown.map(({ path }) => `${path}\n`).join(""));
      counts.unchanged += files.length;
      for (const { size } of files) counts.bytes += size;
    },
    removeAllBut(kept) {
      // Not a copy: there may be hundreds of thousands.
      const stale = previous;
      for (const path of startedBefore) stale.add(path);
      for (const path of kept) stale.delete(path);
      const at = rootFolder(folder);
      for (const path of stale) removeFile(folder, at, relativePath(path));
      return stale.size;
    },
    compressing(encodings, fragments, untouched) {
      const inParts = (sha256: string) => {
        const made = parts.get(sha256);
        return made && fragments && gzipOf(made(), fragments);
      };
      return precompression(folder, work, { encodings, untouched, inParts });
    },
    finish(buildDocument) {
      const place = placingHere();
      const made = put(place, buildDocument);
      count(place.counts);
      closeSync(notes);
      rmSync(work, { recursive: true, force: true });
      return made;
    },
  };
}

function previousFiles(folder: string): Set<string> {
  const bytes = readIfPresent(join(folder, "build.json"));
  if (!bytes) return new Set();
  try {
    // Nothing outside is removed, whatever build.json says; the document itself is replaced by this build.
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

/** Checks file by file: as a whole, all files would be there twice for a moment. @throws when it is no build document */
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
  const bytes = readIfPresent(join(work, journal));
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
      return; // Not empty, or gone already: either way it is not ours to remove.
    }
  }
}

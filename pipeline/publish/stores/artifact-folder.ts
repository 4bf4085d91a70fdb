import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, rmSync, statSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ArtifactPlace, UploadHeaders } from "../../documents/object-store.ts";
import { relativePath } from "../../documents/relative-path.ts";
import { RelcatError } from "../../errors.ts";
import { accessFailure } from "../../system/access-failure.ts";
import { withFile } from "../../system/file-reader.ts";
import { renameToFree, syncToDisk } from "../../system/files.ts";
import { hashFile } from "../../system/hash-file.ts";
import { pathInfo } from "../../system/input-files.ts";
import { rootFolder } from "../../system/root-folder.ts";
import { objectTaken } from "./object-taken.ts";
import { makeReadable, makeWayReadable } from "./readable.ts";

const chunkSize = 1024 * 1024;
const temporary = ".relcat-upload-";
/** Older temporary files belong to processes that have ended. */
const longestCopy = 24 * 3_600_000;

/** Artifacts in a folder, for instance a web server's. */
export function artifactFolder(folder: string): ArtifactPlace {
  const at = (key: string) => rootFolder(folder)(relativePath(key));
  const compare: ArtifactPlace["compare"] = async (key, file) => {
    const { kind, size } = pathInfo(at(key));
    if (kind === "missing") return "absent";
    if (kind !== "file" || size !== file.size) return "other";
    return (await settledHash(at(key))) === file.sha256 ? "same" : "other";
  };
  return {
    place: `dir:${folder}`,
    compare,
    async uploadFile(key, path, file) {
      const target = at(key);
      const before = await compare(key, file);
      if (before === "same") return "present";
      if (before === "other") throw objectTaken(target);
      // biome-ignore lint/plugin: relcat generates this name.
      const copy = join(dirname(target), `${temporary}${randomBytes(8).toString("hex")}`);
      try {
        mkdirSync(dirname(target), { recursive: true });
        removeLeftOver(dirname(target));
        await copyDurably(path, copy, file);
        makeReadable(copy);
        makeWayReadable(folder, foldersOf(key).map(at));
        renameToFree(copy, target);
        syncToDisk(dirname(target));
        return "uploaded";
      } catch (error) {
        const { code, syscall } = error as NodeJS.ErrnoException;
        if (code !== "EEXIST") throw syscall ? accessFailure(`cannot write ${target}`, error) : error;
        if ((await compare(key, file)) === "same") return "present";
        throw objectTaken(target);
      } finally {
        rmSync(copy, { force: true });
      }
    },
  };
}

/** Folders of a key, the outermost first. */
const foldersOf = (key: string): string[] =>
  key
    .split("/")
    .slice(0, -1)
    .map((_, index, names) => names.slice(0, index + 1).join("/"));

/**
 * A concurrent upload removes its temporary name after linking, which changes the file's times but not its
 * bytes.
 */
async function settledHash(path: string): Promise<string> {
  try {
    return (await hashFile(path)).sha256;
  } catch (error) {
    if (!(error instanceof RelcatError && error.code === "file-changed")) throw error;
    return (await hashFile(path)).sha256;
  }
}

async function copyDurably(from: string, to: string, file: UploadHeaders): Promise<void> {
  const target = openSync(to, "wx");
  try {
    await withFile(from, file, async (reader) => {
      const buffer = Buffer.allocUnsafeSlow(chunkSize);
      let done = 0;
      for (let part = await reader.next(buffer); part.length > 0; part = await reader.next(buffer)) {
        for (let at = 0; at < part.length; ) at += writeSync(target, part, at);
        done += part.length;
        file.onProgress?.(done);
      }
      reader.finish();
    });
    fsyncSync(target);
  } finally {
    closeSync(target);
  }
}

function removeLeftOver(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(temporary)) continue;
    // biome-ignore lint/plugin: a name from the listing of the folder.
    const leftOver = join(folder, name);
    const stats = statSync(leftOver, { throwIfNoEntry: false });
    if (stats && Date.now() - stats.mtimeMs > longestCopy) rmSync(leftOver, { force: true });
  }
}

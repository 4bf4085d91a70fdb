import { createHash, randomBytes } from "node:crypto";
import { closeSync, fsyncSync, mkdirSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { renameToFree, syncToDisk } from "../../../shared/disk.ts";
import { RelcatError } from "../../../shared/errors.ts";
import { type ArtifactPlace, abandonedAfter, type UploadHeaders } from "../../documents/object-store.ts";
import { relativePath } from "../../documents/relative-path.ts";
import { accessFailure } from "../../system/access-failure.ts";
import { withFile } from "../../system/file-reader.ts";
import { hashFile } from "../../system/file-source.ts";
import { pathInfo } from "../../system/input-files.ts";
import { rootFolder } from "../../system/root-folder.ts";
import { objectTaken } from "./object-taken.ts";
import { makeReadable, makeWayReadable } from "./readable.ts";

const chunkSize = 1024 * 1024;
const temporary = ".relcat-upload-";

/** Temporary files of one name begin alike, so that the next upload of that name removes what is left of them. */
const temporaryOf = (name: string): string =>
  `${temporary}${createHash("sha256").update(name).digest("hex").slice(0, 16)}-`;

export function artifactFolder(folder: string): ArtifactPlace {
  const at = (key: string) => rootFolder(folder)(relativePath(key));
  const compare: ArtifactPlace["compare"] = async (key, file) => {
    const { kind, size } = pathInfo(at(key));
    if (kind === "missing") return "absent";
    if (kind !== "file" || size !== file.size) return "other";
    return (await settledHash(at(key))) === file.sha256 ? "same" : "other";
  };
  const removeLeftovers: ArtifactPlace["removeLeftovers"] = async (keys) => {
    const { default: glob } = await import("fast-glob");
    const complete = keys.map((key) => key.replace(/[^/]*$/, temporaryOf));
    // Folders of others, such as lost+found, are skipped.
    const walking = { cwd: folder, dot: true, followSymbolicLinks: false, suppressErrors: true };
    for (const leftover of glob.sync(`files/**/${temporary}*`, walking)) {
      const stats = statSync(at(leftover), { throwIfNoEntry: false });
      const isOld = stats && Date.now() - stats.mtimeMs > abandonedAfter;
      if (isOld || complete.some((own) => leftover.startsWith(own))) rmSync(at(leftover), { force: true });
    }
  };
  return {
    place: `dir:${folder}`,
    compare,
    removeLeftovers,
    async uploadFile(key, path, file) {
      const target = at(key);
      const before = await compare(key, file);
      if (before === "same") return "present";
      if (before === "other") throw objectTaken(target);
      // biome-ignore lint/plugin: relcat generates this name.
      const copy = join(dirname(target), `${temporaryOf(basename(target))}${randomBytes(8).toString("hex")}`);
      try {
        mkdirSync(dirname(target), { recursive: true });
        await copyDurably(path, copy, file);
        makeReadable(copy);
        makeWayReadable(folder, foldersOf(key).map(at));
        renameToFree(copy, target);
        syncToDisk(dirname(target));
        return "uploaded";
      } catch (error) {
        const { code, syscall } = error as NodeJS.ErrnoException;
        // A concurrent upload of the same name came first: it took the name, or removed our temporary file.
        const now = code === "EEXIST" || code === "ENOENT" ? await compare(key, file) : "absent";
        if (now === "same") return "present";
        if (now === "other") throw objectTaken(target);
        if (code === "ENOSPC") await removeLeftovers([key]); // The next try may need their space.
        throw syscall ? accessFailure(`cannot write ${target}`, error) : error;
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

/** A concurrent upload removes its temporary name after linking, which changes times of the file but not its bytes. */
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

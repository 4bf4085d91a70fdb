import { createHash, type Hash, hash } from "node:crypto";
import { constants, rmSync, statSync } from "node:fs";
import { type FileHandle, mkdir, open } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { setTimeout as pauseFor } from "node:timers/promises";
import { renameToFree } from "../../../shared/disk.ts";
import { failure, RelcatError } from "../../../shared/errors.ts";
import { accessFailure, refuseSpecial } from "../access-failure.ts";
import { hashFile } from "../file-source.ts";
import { exists } from "../files.ts";
import { type ArtifactStream, openArtifact } from "./download-stream.ts";

interface FileDownload {
  /** URL, or the path of a file to copy. */
  place: string;
  file: string;
  sha256: string;
  /** null: unknown. */
  size: number | null;
  /** Size limit for files of unknown size, in bytes. */
  maxBytes: number;
  onBytes: (done: number) => void;
  pause?: ((milliseconds: number) => Promise<unknown>) | undefined;
}

const attempts = 4;
const firstPause = 500;

/**
 * Downloads a file, resuming from FILE.part. The file gets its name only after length and SHA-256 were
 * verified, so a wrong file never has the right name.
 * @throws RelcatError file-exists, site-tampered, artifact-missing, network, file-access, lock-held
 */
export async function downloadTo(
  request: FileDownload,
): Promise<{ result: "downloaded" | "present"; size: number }> {
  const { file, sha256, pause = pauseFor } = request;
  if (exists(file)) return presentFile(file, sha256);
  const progress: Progress = { etag: undefined, isFromBefore: exists(partOf(file)) };
  for (let attempt = 1; ; ) {
    try {
      const size = await fetchPart(request, progress);
      if (size !== undefined) return { result: "downloaded", size };
    } catch (error) {
      if (!(error instanceof RelcatError) || error.code !== "network" || attempt >= attempts) throw error;
      await pause(firstPause * 2 ** (attempt++ - 1));
    }
  }
}

interface Progress {
  /** ETag of the bytes in the part file. */
  etag: string | undefined;
  /** True if the part file is from an earlier run, so that its ETag is unknown. */
  isFromBefore: boolean;
}

/** Next to the file, with a short name if its own leaves no room for the ending. */
function partOf(file: string): string {
  const name = basename(file);
  if (Buffer.byteLength(name) <= 250) return `${file}.part`;
  return `${dirname(file)}/${hash("sha256", name).slice(0, 32)}.part`;
}

async function presentFile(file: string, sha256: string): Promise<{ result: "present"; size: number }> {
  const there = await hashFile(file);
  if (there.sha256 === sha256) return { result: "present", size: there.size };
  throw failure(
    "file-exists",
    `${file} already exists, with other bytes`,
    "Nothing was overwritten: move it away, or give another name with --out.",
  );
}

/** @returns undefined if the earlier run's bytes were useless and the whole file must be downloaded */
async function fetchPart(request: FileDownload, progress: Progress): Promise<number | undefined> {
  const part = await openPart(partOf(request.file));
  try {
    await fill(part, request, progress);
    if (part.hash.digest("hex") === request.sha256 && (request.size ?? part.size) === part.size) {
      await part.handle.sync();
      await takeName(part, request.file);
      return part.size;
    }
  } finally {
    await part.handle.close();
  }
  rmSync(partOf(request.file), { force: true });
  if (!progress.isFromBefore) throw wrongBytes(request, part.size);
  Object.assign(progress, { isFromBefore: false, etag: undefined });
  return undefined;
}

interface Part {
  handle: FileHandle;
  hash: Hash;
  size: number;
}

const { O_RDWR, O_CREAT, O_NOFOLLOW = 0 } = constants;

async function openPart(path: string): Promise<Part> {
  try {
    await mkdir(dirname(path), { recursive: true });
    refuseSpecial(path);
    const handle = await open(path, O_RDWR | O_CREAT | O_NOFOLLOW);
    const hash = createHash("sha256");
    let size = 0;
    const buffer = Buffer.allocUnsafe(512 * 1024);
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, size);
      if (bytesRead === 0) return { handle, hash, size };
      hash.update(buffer.subarray(0, bytesRead));
      size += bytesRead;
    }
  } catch (error) {
    throw accessFailure(`cannot write ${path}`, error);
  }
}

async function fill(part: Part, request: FileDownload, progress: Progress): Promise<void> {
  const { file, size: wanted, maxBytes, onBytes } = request;
  const limit = wanted ?? maxBytes;
  if (part.size > limit) await restart(part, file);
  if (part.size > 0 && part.size === wanted) return;
  const stream = await openStream(request, part, progress);
  try {
    progress.etag = stream.etag;
    if (stream.length !== undefined && part.size + stream.length > limit)
      throw tooMuch(request, part.size + stream.length, limit);
    for await (const chunk of stream.chunks) {
      if (part.size + chunk.length > limit) throw tooMuch(request, part.size + chunk.length, limit);
      await writeWhole(part, chunk).catch((error: unknown) => {
        throw accessFailure(`cannot write ${partOf(file)}`, error);
      });
      part.hash.update(chunk);
      part.size += chunk.length;
      onBytes(part.size);
    }
  } finally {
    stream.end();
  }
}

/** A disk that becomes full takes a part of the bytes, and refuses only the next write. */
async function writeWhole({ handle, size }: Part, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; )
    at += (await handle.write(bytes, at, bytes.length - at, size + at)).bytesWritten;
}

/** Continues at the end of the part if the server supports ranges; otherwise starts again. */
async function openStream(request: FileDownload, part: Part, progress: Progress): Promise<ArtifactStream> {
  const { place, file } = request;
  let stream = await openArtifact(place, part.size, progress.etag);
  if (stream.status === 416) {
    stream.end();
    await restart(part, file);
    stream = await openArtifact(place);
  } else if (stream.status === 200 && part.size > 0) await restart(part, file);
  if (part.size === 0) progress.isFromBefore = false;
  if (stream.status === 200 || stream.status === 206) return stream;
  stream.end();
  throw failure(
    "artifact-missing",
    `${place} answered ${stream.status}`,
    "The catalog lists it, but it is not there: inform its publisher.",
  );
}

/** Begins a new file, because another download may be writing to the old one. */
async function restart(part: Part, file: string): Promise<void> {
  await part.handle.close();
  rmSync(partOf(file), { force: true });
  Object.assign(part, await openPart(partOf(file)));
}

/** Fails if a file with that name exists by now, or if another download has begun the part again. */
async function takeName({ handle }: Part, file: string): Promise<void> {
  const part = statSync(partOf(file), { throwIfNoEntry: false });
  if (part?.ino !== (await handle.stat()).ino)
    throw failure(
      "lock-held",
      `${partOf(file)} was replaced by another program while it was downloaded`,
      "If another relcat downloads the same file, wait for it. Then run the command again.",
    );
  try {
    renameToFree(partOf(file), file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST")
      throw failure("file-exists", `${file} already exists`, `The downloaded file is ${partOf(file)}.`);
    throw accessFailure(`cannot write ${file}`, error);
  }
}

function tooMuch({ place, file }: FileDownload, size: number, limit: number): RelcatError {
  rmSync(partOf(file), { force: true });
  return failure(
    "site-tampered",
    `${place} has ${size} bytes or more, expected at most ${limit}`,
    "Nothing of it was kept; inform its publisher.",
  );
}

const wrongBytes = ({ place, sha256, size }: FileDownload, got: number) =>
  failure(
    "site-tampered",
    size !== null && size !== got
      ? `${place} has ${got} bytes, expected ${size}`
      : `${place} is not the file that was signed: its SHA-256 is not ${sha256}`,
    "Nothing of it was kept; inform its publisher.",
  );

import {
  closeSync,
  createReadStream,
  openSync,
  type ReadStream,
  readSync,
  realpathSync,
  statSync,
} from "node:fs";
import { posix } from "node:path";
import { failure } from "../../shared/errors.ts";
import { accessFailure, accessing, isDescriptor, refuseSpecial, specialKind } from "./access-failure.ts";
import { isMissing } from "./files.ts";
import { undecodable, undecodableName } from "./folders.ts";

export interface PathInfo {
  /** A stream is open already, such as standard input, and can be read only once. Special files are never read. */
  kind: "folder" | "file" | "stream" | "named pipe" | "socket" | "device" | "missing";
  /** With all symbolic links resolved, such as the store path behind `result`. */
  realPath: string;
  size: number;
}

const specialKinds = { PIPE: "named pipe", SOCKET: "socket", DEVICE: "device" } as const;

/** @throws RelcatError file-access if the path cannot be read */
export function pathInfo(path: string): PathInfo {
  try {
    const stats = statSync(path);
    const special = specialKind(stats);
    const kind = stats.isDirectory() ? "folder" : "file";
    if (!special) return { kind, realPath: realpathSync(path), size: stats.size };
    return { kind: isDescriptor(path) ? "stream" : specialKinds[special], realPath: path, size: stats.size };
  } catch (error) {
    const undecoded = undecodable(path);
    if (undecoded !== undefined) throw undecodableName(undecoded);
    // A name that is too long for its folder cannot be that of a file there.
    if (isMissing(error) || (error as NodeJS.ErrnoException).code === "ENAMETOOLONG")
      return { kind: "missing", realPath: path, size: 0 };
    throw accessFailure(`cannot read ${path}`, error);
  }
}

/** The first bytes of a file, fewer if it is shorter. */
export const readHead = (path: string, length: number): Uint8Array =>
  accessing(`cannot read ${path}`, () => {
    refuseSpecial(path);
    const descriptor = openSync(path, "r");
    try {
      const bytes = new Uint8Array(length);
      return bytes.subarray(0, readSync(descriptor, bytes, 0, length, 0));
    } finally {
      closeSync(descriptor);
    }
  });

/** @throws RelcatError usage for non-web addresses, which are not file names either */
export function refuseScheme(source: string): void {
  const [, scheme] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(source) ?? [];
  if (scheme === undefined || /^https?$/i.test(scheme)) return;
  throw failure(
    "usage",
    `${source} cannot be read: ${scheme} addresses are not supported`,
    "Give an https address, or a file.",
  );
}

/** Reads a file named by the user, or standard input for "-". @throws RelcatError file-access, file-size */
export async function readInput(source: string, limit: number): Promise<Uint8Array> {
  refuseScheme(source);
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    if (source !== "-") refuseSpecial(source);
    const stream: ReadStream =
      source === "-" ? createReadStream("", { fd: 0, autoClose: false }) : createReadStream(source);
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      size += chunk.length;
      if (size > limit) break;
      chunks.push(chunk);
    }
  } catch (error) {
    throw accessFailure(source === "-" ? "cannot read standard input" : `cannot read ${source}`, error);
  }
  if (size > limit)
    throw failure("file-size", `${source} has more than ${limit} bytes`, "Is it the list of a catalog?");
  return Buffer.concat(chunks);
}

/** @throws RelcatError folder-missing */
export function requireArtifacts(folder: string): void {
  if (pathInfo(folder).kind === "folder") return;
  const hint = "Give the folder with the artifacts, as FILE or VERSION/FILE, with --artifacts.";
  throw failure("folder-missing", `there is no folder ${folder}`, hint);
}

/** Candidate paths of an artifact, likeliest first, because the folder may hold one release or several. */
export const artifactPaths = (folder: string, version: string, file: string): string[] => [
  posix.join(folder, version, file),
  posix.join(folder, file),
];

/** undefined: not in the folder. A pipe in its place is refused when it is read. */
export const artifactAtHand = (folder: string, version: string, file: string): string | undefined =>
  artifactPaths(folder, version, file).find((path) => !["missing", "folder"].includes(pathInfo(path).kind));

import { accessSync, constants, existsSync, lstatSync, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";
import { failure, type RelcatError } from "../../shared/errors.ts";

const nameAFile = "Remove it, or name a file.";

const reasons: Readonly<Record<string, readonly [reason: string, hint: string]>> = {
  ENOENT: ["there is no such file", "Check the path."],
  ENOTDIR: ["a part of the path is a file, not a folder", "Check the path."],
  EISDIR: ["it is a folder", "Name a file."],
  EACCES: ["it may not be VERB", "Check its permissions, and those of its folders."],
  EPERM: ["it may not be VERB", "Check its permissions, and those of its folders."],
  EROFS: ["the file system is read-only", "Choose another place."],
  ENOSPC: ["no space is left", "Free some, then run the command again."],
  EDQUOT: ["the quota of this user is used up", "Free some space, then run the command again."],
  ENAMETOOLONG: ["the name is too long", "Choose a shorter one."],
  ELOOP: ["its links form a cycle", "Repair or remove the link."],
  DANGLING: ["PATH is a link to something that is not there", "Repair or remove the link."],
  LINK: ["it is a link, expected a file", "Remove the link."],
  PIPE: ["it is a named pipe, expected a file", nameAFile],
  SOCKET: ["it is a socket, expected a file", nameAFile],
  DEVICE: ["it is a device, expected a file", nameAFile],
};

type Kinds = Pick<Stats, "isFIFO" | "isSocket" | "isBlockDevice" | "isCharacterDevice">;

/** Undefined for files and folders. */
export function specialKind(entry: Kinds): "PIPE" | "SOCKET" | "DEVICE" | undefined {
  if (entry.isFIFO()) return "PIPE";
  if (entry.isSocket()) return "SOCKET";
  return entry.isBlockDevice() || entry.isCharacterDevice() ? "DEVICE" : undefined;
}

/** True for what is open already, such as standard input and `<(command)` of a shell: opening it again does not wait. */
export const isDescriptor = (path: string): boolean =>
  /^\/(?:dev\/(?:stdin|fd\/\d+)|proc\/(?:self|\d+)\/fd\/\d+)$/.test(path);

/**
 * Call before a file is opened: opening a pipe waits for its writer, and a device may have no end.
 * @throws an error with a code, for accessFailure; nothing for a missing file
 */
export function refuseSpecial(path: string): void {
  const stats = isDescriptor(path) ? undefined : statSync(path, { throwIfNoEntry: false });
  const code = stats && specialKind(stats);
  if (code) throw Object.assign(new Error(code), { code, syscall: "open" });
}

/** @param message such as `cannot read FILE` @param advice replaces the usual hint */
export function accessFailure(message: string, error: unknown, advice?: string): RelcatError {
  const { code: name = String(error), path = "" } = cause(error as NodeJS.ErrnoException);
  const fallback = [undefined, "Check the path, its permissions and the free space."] as const;
  const [reason, hint] = reasons[name] ?? fallback;
  const verb = message.startsWith("cannot read") ? "read" : "written";
  const words =
    reason === undefined ? ` (${name})` : `: ${reason.replace("VERB", verb).replace("PATH", () => path)}`;
  return failure("file-access", message + words, advice ?? hint, undefined, error);
}

/** Runs a file operation. @throws RelcatError file-access, with this message */
export function accessing<T>(message: string, operation: () => T): T {
  try {
    return operation();
  } catch (error) {
    throw accessFailure(message, error);
  }
}

/** Node reports ENOENT for every folder that cannot be made, and ELOOP also for a link that may not be followed. */
function cause(error: NodeJS.ErrnoException): NodeJS.ErrnoException {
  const { code, path, syscall } = error;
  if (typeof path !== "string" || (code !== "ENOENT" && code !== "ELOOP")) return error;
  try {
    if (code === "ELOOP") return statSync(path) && { ...error, code: "LINK" };
    const nearest = nearestEntry(path);
    if (!existsSync(nearest)) return { ...error, code: "DANGLING", path: nearest };
    if (syscall === "mkdir") accessSync(nearest, constants.W_OK);
    return error;
  } catch (reason) {
    return reason as NodeJS.ErrnoException;
  }
}

/** The path or the nearest of its folders that exists, even as a dangling link. */
export const nearestEntry = (path: string): string =>
  lstatSync(path, { throwIfNoEntry: false }) || dirname(path) === path ? path : nearestEntry(dirname(path));

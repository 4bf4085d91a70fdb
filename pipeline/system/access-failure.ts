import { failure, type RelcatError } from "../errors.ts";

/** Explanation and hint for common error codes of the operating system. */
const reasons: Readonly<Record<string, readonly [reason: string, hint: string]>> = {
  ENOENT: ["there is no such file", "Check the path."],
  ENOTDIR: ["a part of the path is a file, not a folder", "Check the path."],
  EISDIR: ["it is a folder", "Name a file."],
  EACCES: ["it may not be VERB", "Check its permissions, and those of its folders."],
  EPERM: ["it may not be VERB", "Check its permissions, and those of its folders."],
  EROFS: ["the file system is read-only", "Choose another place."],
  ENOSPC: ["no space is left", "Free some, then run the command again."],
  ENAMETOOLONG: ["the name is too long", "Choose a shorter one."],
  ELOOP: ["its links form a cycle", "Repair or remove the link."],
};

/**
 * Describes a file-system error in a sentence and keeps it as the cause.
 * @param message such as `cannot read FILE`
 * @param advice replaces the usual hint
 */
export function accessFailure(message: string, error: unknown, advice?: string): RelcatError {
  const { code: name = String(error) } = error as NodeJS.ErrnoException;
  const fallback = [undefined, "Check the path, its permissions and the free space."] as const;
  const [reason, hint] = reasons[name] ?? fallback;
  const verb = message.startsWith("cannot read") ? "read" : "written";
  const words = reason === undefined ? ` (${name})` : `: ${reason.replace("VERB", verb)}`;
  return failure("file-access", message + words, advice ?? hint, undefined, error);
}

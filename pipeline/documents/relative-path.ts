import { z } from "zod";
import { failure } from "../../shared/errors.ts";
import { expects } from "../../shared/fields.ts";

/** In bytes of UTF-8: the longest key of S3, including the prefix of the site. */
export const maxPathBytes = 1024;

/** A validated relative path: it cannot leave its root, and every storage and file system accepts it. */
export type RelativePath = string & z.core.$brand<"RelativePath">;

/** Address of a folder in a bucket, the only other form of a path at a site. It is never joined to a folder. */
export const isFolderAddress = (path: string): boolean => path.endsWith("/");

/** Why an untrusted path is refused; undefined: it is a RelativePath. */
export function pathFault(path: string): string | undefined {
  if (path === "") return "is empty";
  if (path.startsWith("/")) return "is absolute";
  if (/[\\\p{Cc}\p{Cs}]/u.test(path)) return unfitCharacter(path);
  // Patterns instead of a split, because a site has hundreds of thousands of paths.
  if (/(?:^|\/)\.\.?(?:\/|$)/.test(path)) return 'has the segment "." or ".."';
  if (path.includes("//") || path.endsWith("/")) return "has an empty segment";
  return isTooLong(path) ? `has more than ${maxPathBytes} bytes` : undefined;
}

function unfitCharacter(path: string): string {
  if (path.includes("\\")) return "has a backslash";
  return path.includes("\0") ? "has a NUL character" : "has a control character or half of a surrogate pair";
}

/** Fast path: no UTF-16 unit takes more than three bytes. */
const isTooLong = (path: string): boolean =>
  path.length * 3 > maxPathBytes && new TextEncoder().encode(path).length > maxPathBytes;

export const isRelativePath = (path: string): path is RelativePath => pathFault(path) === undefined;

/** Last check before a path is used, after those of schemas. @throws RelcatError site-tampered */
export function relativePath(path: string): RelativePath {
  const fault = pathFault(path);
  if (fault === undefined) return path as RelativePath;
  throw failure(
    "site-tampered",
    `the path ${quoted(path)} ${fault}, expected a path that stays inside its folder`,
    "Nothing was read or written there. Find out which document has it, and who changed it.",
  );
}

/** Shortened for messages, because untrusted text may be long. */
const quoted = (path: string): string => JSON.stringify(path.length > 100 ? `${path.slice(0, 100)}…` : path);

/** Path of an address below another one; undefined if it is outside or no RelativePath. */
export function pathBelow(base: string, url: string): RelativePath | undefined {
  if (!url.startsWith(`${base}/`) || /[?#]/.test(url)) return undefined;
  const segments = url.slice(base.length + 1).split("/");
  try {
    const decoded = segments.map(decodeURIComponent);
    const path = decoded.join("/");
    // A decoded slash was written as %2F, which is a different file.
    return decoded.some((segment) => segment.includes("/")) || !isRelativePath(path) ? undefined : path;
  } catch {
    return undefined; // An invalid percent-encoding.
  }
}

const checked = (toRelative: (path: string) => string) =>
  z.string(expects("path-format", "a path")).superRefine((path, context) => {
    const fault = pathFault(toRelative(path));
    if (fault === undefined) return;
    context.addIssue({ code: "custom", message: `the path ${quoted(path)} ${fault}` });
  });

export const relativePathSchema = checked((path) => path);

/** In a bucket, the list is also stored at the address of its folder, with a trailing slash. */
export const publicPathSchema = checked((path) => path.replace(/(?<=[^/])\/$/, ""));

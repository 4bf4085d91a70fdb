/** Longest accepted request target, in bytes. */
export const maxTargetLength = 8192;

/**
 * Decoded path of a request below `base`; "bad" for malformed paths (encoded slashes, dot segments, empty
 * segments, control characters, invalid escapes), undefined outside of `base`.
 * @param target raw path and query
 */
export function readPath(target: string, base: string): string | "bad" | undefined {
  const raw = target.split("?", 1)[0] ?? "";
  if (target.length > maxTargetLength || !raw.startsWith("/")) return "bad";
  if (/%(?:2f|5c|00)|\\/i.test(raw) || raw.includes("//")) return "bad";
  let path: string;
  try {
    path = decodeURIComponent(raw);
  } catch {
    return "bad";
  }
  if (/[\p{Cc}\u2028\u2029]/u.test(path) || /(^|\/)\.{1,2}(\/|$)/.test(path)) return "bad";
  if (base === "") return path;
  return path === base ? "" : path.startsWith(`${base}/`) ? path.slice(base.length) : undefined;
}

/** Longest request target that is looked at, in bytes of its raw form. */
export const longestTarget = 8192;

/**
 * The path of a request below `base`, decoded; "bad" for what no honest client sends (encoded slashes, dot
 * segments, empty segments, control characters, broken escapes), undefined for what lies outside of `base`.
 * @param target path and query as they were sent
 */
export function readPath(target: string, base: string): string | "bad" | undefined {
  const raw = target.split("?", 1)[0] ?? "";
  if (target.length > longestTarget || !raw.startsWith("/")) return "bad";
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

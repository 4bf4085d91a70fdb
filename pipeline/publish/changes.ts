import { type FeedPath, feedPath, isImmutableInFeed } from "../documents/feeds/paths.ts";
import { headersDigest } from "../documents/file-headers.ts";
import { fileIn, type SiteIndex, timestampOf } from "../documents/site-state.ts";
import type { Changes, PublicFile } from "../documents/site-store.ts";
import { timestampPath } from "../trust/site-files.ts";

type Live = SiteIndex | undefined;

/** @param owned paths that relcat published; other files are never removed */
export function changesBetween(
  live: Live,
  files: readonly PublicFile[],
  owned: ReadonlySet<string>,
): Changes {
  const changed = files.filter((file) => {
    const before = fileIn(live, file.path);
    return before?.sha256 !== file.sha256 || before.headers !== headersDigest(file.headers);
  });
  const paths = new Set(files.map(({ path }) => path));
  const mutable = changed
    .filter(({ path, isImmutable }) => !isImmutable && path !== timestampPath)
    .map((file) => ({ file, order: [isAdded(live, file.path) ? 0 : 1, ...rank(file.path)] }))
    .sort((a, b) => compare(a.order, b.order) || (a.file.path < b.file.path ? -1 : 1));
  const waves = Map.groupBy(mutable, ({ order }) => order.join(" "));
  return {
    immutable: changed.filter(({ isImmutable }) => isImmutable),
    mutable: [...waves.values()].map((wave) => wave.map(({ file }) => file)),
    removed: Object.keys(live?.files ?? {})
      .filter((path) => owned.has(path) && !paths.has(path) && !isKept(path))
      .sort((a, b) => compare(rank(b), rank(a)) || (a < b ? -1 : 1)),
    last: changed.find(({ path }) => path === timestampPath),
  };
}

/** A feed's new pointer waits for its changed copies. Nothing else depends on a new file's absence. */
const isAdded = (live: Live, path: string) => !fileIn(live, path) && !feedPath(path);

/** Kept for a while, because current readers still need it. */
export const isKept = (path: string): boolean =>
  /^(metadata|targets|assets)\//.test(path) || isImmutableInFeed(path);

/** Linked files are written first. Programs read from the list to records, people from the start page to others. */
function rank(path: string): readonly [number, number] {
  if (path === "build.json") return [9, 0];
  const feed = feedPath(path);
  if (feed) return [5, feedRanks[feed.role]];
  // It names pages, and therefore follows them.
  if (path === "sitemap.xml") return [8, 0];
  const isPage = path.endsWith(".html");
  // All other pages link to release pages, so these come first, deepest first.
  if (isPage && /^releases\/\d/.test(path)) return [6, -path.split("/").length];
  if (isPage) return [path === "index.html" ? 8 : 7, -path.split("/").length];
  if (/^api\/v1\/package\/\d+\//.test(path)) return [0, 0];
  if (/^api\/v1\/release\/\d/.test(path)) return [1, 0];
  if (path.startsWith("releases/")) return [2, 0];
  if (/^api\/v1\/package\/(index\.json)?$/.test(path)) return [5, 0];
  if (/(^|\/)(latest|feed|index|versions|channel)\b/.test(path)) return [4, 0];
  return [3, 0];
}

/** After the records that a feed names, and before the pages that name the feed. */
const feedRanks: Readonly<Record<FeedPath["role"], number>> = { immutable: 1, copy: 2, pointer: 3 };

function compare(a: readonly number[], b: readonly number[]): number {
  for (const [index, number] of a.entries()) {
    const difference = number - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/**
 * Signed files, assets and indexes without references, with the time since which they have none.
 * @param isOver whether a file unreferenced since then may be removed
 */
export function leavingFiles(
  owned: Iterable<string>,
  files: readonly PublicFile[],
  before: Readonly<Record<string, string>>,
  { now, isOver }: { now: number; isOver: (since: string) => boolean },
): { leaving: Record<string, string>; left: Record<string, string> } {
  const paths = new Set(files.map(({ path }) => path));
  const at = timestampOf(now);
  const dated = [...new Set([...owned, ...Object.keys(before)])]
    .filter((path) => isKept(path) && !paths.has(path))
    .sort()
    .map((path) => [path, (Object.hasOwn(before, path) ? before[path] : undefined) ?? at] as const);
  return {
    leaving: Object.fromEntries(dated.filter(([, since]) => !isOver(since))),
    left: Object.fromEntries(dated.filter(([, since]) => isOver(since))),
  };
}

/** @param days longest time that a reader may take */
export const endsAfter =
  (days: number, now: number) =>
  (since: string): boolean =>
    now - Date.parse(since) >= days * 86_400_000;

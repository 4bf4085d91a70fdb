import type { Plan } from "../documents/plan.ts";
import type { FeedIndex, Snapshot } from "./snapshot.ts";

/** Indexes of package feeds that gain or lose packages. A list contains no information about feeds. */
export function compareFeeds(before: Snapshot, after: Snapshot): Plan["feeds"] {
  if (!before.feeds || !after.feeds) return [];
  const old = new Map(before.feeds.map((index) => [keyOf(index), index]));
  const now = new Map(after.feeds.map((index) => [keyOf(index), index]));
  return [...new Map([...old, ...now])]
    .map(([key, { feed, index }]) => ({
      feed,
      index,
      added: rowsOf(after, without(now.get(key), old.get(key))),
      removed: rowsOf(before, without(old.get(key), now.get(key))),
    }))
    .filter(({ added, removed }) => added.length + removed.length > 0)
    .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

const keyOf = ({ feed, index }: Pick<FeedIndex, "feed" | "index">): string => `${feed} ${index}`;

const without = (some: FeedIndex | undefined, others: FeedIndex | undefined): number[] =>
  [...(some?.ids ?? [])].filter((id) => !others?.ids.has(id)).sort((a, b) => a - b);

const rowsOf = ({ listed }: Snapshot, ids: readonly number[]) =>
  ids.flatMap((id) => listed.get(id)?.row ?? []);

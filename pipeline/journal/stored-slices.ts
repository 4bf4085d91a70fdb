import type { FeedParts, ReleaseFacts, ReleaseSlices, RepositoryOffer } from "../documents/published.ts";
import type { Cache } from "./cache.ts";

/** Stores slices of releases until the end of the build, so that they use little memory. */
export type SliceStore = Pick<Cache, "get" | "put" | "has">;

/** Entries of a release. Each is read and verified as a whole, so values that are read together share one. */
const entriesOf = (key: string) => ({
  records: `records-${key}`,
  search: `search-${key}`,
  facts: `facts-${key}`,
  pages: `pages-${key}`,
});

export const hasSlices = (store: SliceStore, key: string): boolean =>
  Object.values(entriesOf(key)).every((entry) => store.has(entry));

/** @param key digest of everything that the slices are generated from */
export function storeSlices(store: SliceStore, key: string, slices: ReleaseSlices): void {
  const entries = entriesOf(key);
  const put = (entry: string, lines: readonly string[]) => store.put(entry, encoder.encode(lines.join("\n")));
  const asJson = (parts: readonly unknown[]) => parts.map((part) => JSON.stringify(part));
  put(entries.records, slices.records());
  put(entries.search, asJson([slices.search()]));
  put(entries.facts, asJson([slices.facts(), slices.feeds(), slices.offers(), slices.notes()]));
  put(entries.pages, asJson([slices.rows(), slices.browsable()]));
}

/** Bytes of entries that stay in memory, because several pages in a row show the newest releases. */
const memoryLimit = 4 << 20;

/** Reads slices of releases from their entries, and keeps those that were read last. */
export function sliceReader(store: SliceStore): (key: string, count: number) => ReleaseSlices {
  const recent = new Map<string, ReturnType<typeof read>>();
  let held = 0;
  const linesOf = (entry: string): string[] => {
    const found = recent.get(entry);
    const { lines, size } = found ?? read(store, entry);
    recent.delete(entry);
    recent.set(entry, { lines, size });
    if (!found) held += size;
    for (const [oldest, { size }] of recent) {
      if (held <= memoryLimit) break;
      recent.delete(oldest);
      held -= size;
    }
    return lines;
  };
  const part = <T>(entry: string, line: number): T => JSON.parse(linesOf(entry)[line] ?? "");
  return (key, count) => {
    const entries = entriesOf(key);
    const whole = <T>(list: readonly T[]): readonly T[] => {
      if (list.length !== count) throw slicesLost(key);
      return list;
    };
    return {
      records: () => whole(count === 0 ? [] : linesOf(entries.records)),
      search: () => part(entries.search, 0),
      facts: () => part<ReleaseFacts>(entries.facts, 0),
      feeds: () => part<FeedParts>(entries.facts, 1),
      offers: () => whole(part<RepositoryOffer[][]>(entries.facts, 2)),
      notes: () => part<string>(entries.facts, 3),
      rows: () => whole(part<string[]>(entries.pages, 0)),
      browsable: () => whole(part<string[]>(entries.pages, 1)),
    };
  };
}

function read(store: SliceStore, entry: string) {
  const bytes = store.get(entry);
  if (!bytes) throw slicesLost(entry);
  return { lines: decoder.decode(bytes).split("\n"), size: bytes.length };
}

/** An entry of the cache could not be written, or someone changed or removed it during the build. */
const slicesLost = (entry: string) => new Error(`the entry ${entry} is missing or damaged`);

const [encoder, decoder] = [new TextEncoder(), new TextDecoder()];

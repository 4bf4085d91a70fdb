import type { FeedParts, ReleaseFacts, ReleaseSlices, RepositoryOffer } from "../documents/published.ts";

/** Stores slices of releases until the end of the build, so that they use no memory. */
export interface SliceStore {
  get(key: string): Uint8Array | undefined;
  put(key: string, bytes: Uint8Array): void;
  has(key: string): boolean;
}

const recordsEntry = (key: string) => `records-${key}`;
const pagesEntry = (key: string) => `pages-${key}`;
// Read for every release in every build that changes something; the others only where they are shown.
const searchEntry = (key: string) => `search-${key}`;

export const hasSlices = (store: SliceStore, key: string): boolean =>
  [recordsEntry, pagesEntry, searchEntry].every((entry) => store.has(entry(key)));

/** @param key digest of everything that the slices are generated from */
export function storeSlices(store: SliceStore, key: string, slices: ReleaseSlices): void {
  const pages = [
    slices.facts(),
    slices.rows(),
    slices.browsable(),
    slices.feeds(),
    slices.offers(),
    slices.notes(),
  ];
  store.put(recordsEntry(key), encoder.encode(slices.records().join("\n")));
  store.put(searchEntry(key), encoder.encode(JSON.stringify(slices.search())));
  store.put(pagesEntry(key), encoder.encode(pages.map((part) => JSON.stringify(part)).join("\n")));
}

/** @param count number of the release's packages */
export function storedSlices(store: SliceStore, key: string, count: number): ReleaseSlices {
  const linesOf = (entry: string): string[] => {
    const bytes = store.get(entry);
    if (!bytes) throw new SlicesLost(entry);
    return decoder.decode(bytes).split("\n");
  };
  const page = <T>(line: number): T => JSON.parse(linesOf(pagesEntry(key))[line] ?? "");
  const whole = <T>(list: readonly T[]): readonly T[] => {
    if (list.length !== count) throw new SlicesLost(key);
    return list;
  };
  return {
    records: () => whole(count === 0 ? [] : linesOf(recordsEntry(key))),
    rows: () => whole(page<string[]>(1)),
    browsable: () => whole(page<string[]>(2)),
    facts: () => page<ReleaseFacts>(0),
    feeds: () => page<FeedParts>(3),
    offers: () => whole(page<RepositoryOffer[][]>(4)),
    notes: () => page<string>(5),
    search: () => JSON.parse(linesOf(searchEntry(key))[0] ?? ""),
  };
}

/** An entry of the cache could not be written, or someone changed or removed it during the build. */
class SlicesLost extends Error {
  constructor(entry: string) {
    super(`the entry ${entry} is missing or damaged`);
  }
}

const [encoder, decoder] = [new TextEncoder(), new TextDecoder()];

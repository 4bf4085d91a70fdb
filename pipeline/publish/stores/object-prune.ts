import type { ObjectStore } from "../../documents/object-store.ts";
import { lease, type PublishTurn } from "../../documents/publish-turn.ts";
import { type HistoryEntry, type SiteIndex, siteStateSchema } from "../../documents/site-state.ts";
import { parsedAs } from "../../trust/parsed-state.ts";
import { bundleKey, indexKey, publishOf, stateKey } from "./object-keys.ts";

type ReadIndex = (name: string) => Promise<SiteIndex | undefined>;

/**
 * Removes books of publishes that are not in the history any more, and public files that have been leaving for long
 * enough. What is removed is decided by the state as it is now, and by the store's own clock.
 * @returns how many objects
 * @throws RelcatError site-taken
 */
export async function pruneObjects(
  { store, readIndex, turn }: { store: ObjectStore; readIndex: ReadIndex; turn: PublishTurn },
  isOver: (since: string) => boolean,
): Promise<number> {
  await turn.step("prune");
  const stored = await store.get(stateKey);
  turn.requireOurs(stored?.etag);
  if (!stored) return 0;
  const { history } = parsedAs(siteStateSchema, () => stored.bytes, `${store.place}/${stateKey}`);
  const books = new Set(
    history.flatMap(({ files, bundles }) => [indexKey(files), ...bundles.map(bundleKey)]),
  );
  const left = await leftFiles(history, readIndex, isOver);
  const old: string[] = [];
  for await (const { key, modified } of store.list(left.size > 0 ? "" : "state/")) {
    const isLeft = left.has(key) || (publishOf(key) !== undefined && !books.has(key));
    // Dated by the same clock as the state, which was written a moment ago.
    if (isLeft && modified <= stored.modified - lease) old.push(key);
  }
  const requireOurs = async () => turn.requireOurs((await store.get(stateKey))?.etag);
  await store.remove(old, async () => {
    await requireOurs();
    await turn.step("prune-remove");
  });
  // A publisher that was late with the last request must say so.
  if (old.length > 0) await requireOurs();
  return old.length;
}

/** Public files that the newest publish does not list, and that no kept one needs for going back to it. */
async function leftFiles(
  [newest, ...earlier]: readonly HistoryEntry[],
  readIndex: ReadIndex,
  isOver: (since: string) => boolean,
): Promise<Set<string>> {
  const current = newest && (await readIndex(newest.files));
  if (!current) return new Set();
  const left = new Set(
    Object.entries(current.leaving)
      .filter(([path, since]) => isOver(since) && !Object.hasOwn(current.files, path))
      .map(([path]) => path),
  );
  for (const { files } of left.size > 0 ? earlier : []) {
    const needed = Object.keys((await readIndex(files))?.files ?? {});
    for (const path of needed) if (isProof(path)) left.delete(path);
  }
  return left;
}

/** Documents are put back from bundles; what was signed is not made again. */
const isProof = (path: string) => /^(metadata|targets|assets)\//.test(path);

import type { ObjectStore } from "../../documents/object-store.ts";
import { lease, type PublishTurn } from "../../documents/publish-turn.ts";
import { type HistoryEntry, type SiteIndex, siteStateSchema } from "../../documents/site-state.ts";
import { parsedAs } from "../../trust/parsed-state.ts";
import { bundleKey, indexKey, publishOf, stateKey } from "./object-keys.ts";

type ReadIndex = (name: string) => Promise<SiteIndex | undefined>;

/**
 * Removes data of publishes that left the history, and public files without references for long enough. The
 * current state and the store's clock decide.
 * @returns number of objects
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
    // Uses the same clock as the state, which was just written.
    if (isLeft && modified <= stored.modified - lease) old.push(key);
  }
  const requireOurs = async () => turn.requireOurs((await store.get(stateKey))?.etag);
  await store.remove(old, async () => {
    await requireOurs();
    await turn.step("prune-remove");
  });
  // Another publisher may have taken over during a slow request.
  if (old.length > 0) await requireOurs();
  return old.length;
}

/** Public files that neither the newest publish nor any stored one needs. */
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

/** Documents can be restored from bundles; signatures cannot be created again. */
const isProof = (path: string) => /^(metadata|targets|assets)\//.test(path);

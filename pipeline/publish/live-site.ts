import { publishName, type SiteIndex, type SiteState } from "../documents/site-state.ts";
import type { Damage, FileBytes, SiteStore } from "../documents/site-store.ts";
import { readLiveChain } from "../trust/live-metadata.ts";
import type { SignedRoot } from "../trust/metadata.ts";
import { isSigned } from "../trust/site-files.ts";
import { isKept } from "./changes.ts";

/** A site as it is, compared with what was published. */
export interface LiveSite {
  /** What is there; undefined: nothing, and nothing ever was. */
  index: SiteIndex | undefined;
  /** What the last finished publish left; undefined where none was finished. */
  published: SiteIndex | undefined;
  /** Paths that relcat put there. */
  owned: ReadonlySet<string>;
  /** What is not as the last finished publish left it; empty for a site between two builds. */
  damage: Damage[];
}

/**
 * @param hosting what web servers read of the newest build; undefined where nobody here knows
 * @param isRead whether every file is read
 */
export async function lookAt(
  store: SiteStore,
  state: SiteState | undefined,
  { hosting, isRead }: { hosting: readonly FileBytes[] | undefined; isRead: boolean },
): Promise<LiveSite> {
  const last = state?.history[0];
  const published = last && (await store.readIndex(last.files));
  const isDone = state?.state === "done";
  const begun =
    !isDone && state?.build ? await store.readIndex(publishName(state.build, state.run)) : undefined;
  const known = [published, begun].flatMap((index) => index ?? []);
  const newest = isDone ? last?.files : undefined;
  const { files, damage } = await store.survey({ known, newest, hosting, isRead });
  if (newest !== undefined && !published) damage.push({ path: `state/${newest}`, fault: "was missing" });
  const leaving = Object.assign({}, ...known.map((index) => index.leaving)) as SiteIndex["leaving"];
  const owned = new Set([...known.flatMap((index) => Object.keys(index.files)), ...Object.keys(leaving)]);
  // Signed by a publisher that ended before it could say so: it goes as what was published would.
  for (const path of Object.keys(files)) if (state && isSigned(path)) owned.add(path);
  for (const path of Object.keys(leaving)) {
    if (newest !== undefined && !isKept(path) && Object.hasOwn(files, path))
      damage.push({ path, fault: "was left over from a publish that was stopped" });
  }
  if (!state && Object.keys(files).length === 0) return { index: undefined, published, owned, damage };
  const build = state?.build ?? "0".repeat(64);
  return { index: { schema_version: 1, build, files, leaving }, published, owned, damage };
}

/**
 * The live signatures that clients who know our newest root count, and the files of the live metadata that do not verify.
 * @param root undefined: nothing is signed
 */
export async function liveSignatures(
  store: SiteStore,
  root: SignedRoot | undefined,
): Promise<{ seen: { timestamp: Uint8Array; snapshot: Uint8Array } | undefined; unverified: string[] }> {
  if (!root) return { seen: undefined, unverified: [] };
  const { timestamp, snapshot, unverified } = await readLiveChain(store, root);
  const seen = timestamp && snapshot && { timestamp: timestamp.bytes, snapshot: snapshot.bytes };
  return { seen, unverified };
}

import { publishName, type SiteIndex, type SiteState } from "../documents/site-state.ts";
import type { SiteStore } from "../documents/site-store.ts";
import { readTimestamp } from "../trust/metadata.ts";
import { isSigned, timestampPath } from "./site-files.ts";

/** What is there, and which of it relcat put there. */
export async function liveIndex(
  store: SiteStore,
  state: SiteState | undefined,
): Promise<{ index: SiteIndex | undefined; owned: SiteIndex["files"] }> {
  const last = state?.history[0];
  const done = last && (await store.readIndex(last.files));
  if (state?.state === "done" && done) return { index: done, owned: done.files };
  const begun = state?.build && (await store.readIndex(publishName(state.build, state.run)));
  const known = [done, begun].flatMap((index) => index || []);
  const files = await store.survey(known);
  // Signed by somebody who was killed before they could say so: it goes as what they published would.
  const orphans = Object.fromEntries(Object.entries(files).filter(([path]) => state && isSigned(path)));
  const owned = Object.assign(orphans, ...known.map((index) => index.files)) as SiteIndex["files"];
  const leaving = Object.assign({}, ...known.map((index) => index.leaving)) as SiteIndex["leaving"];
  if (!state && Object.keys(files).length === 0) return { index: undefined, owned };
  return { index: { schema_version: 1, build: state?.build ?? "0".repeat(64), files, leaving }, owned };
}

/** What clients have seen of a site's signatures. */
export async function liveSignatures(
  store: SiteStore,
): Promise<{ timestamp: Uint8Array; snapshot: Uint8Array } | undefined> {
  const timestamp = await store.read(timestampPath);
  if (!timestamp) return undefined;
  const version = readTimestamp(timestamp).metadata.signed.snapshotMeta.version;
  const snapshot = await store.read(`metadata/${version}.snapshot.json`);
  return snapshot && { timestamp, snapshot };
}

import {
  readSnapshot,
  readTargets,
  readTimestamp,
  type SignedSnapshot,
  type SignedTargets,
  type SignedTimestamp,
} from "./metadata.ts";

/** What a site says now, and what numbers are taken there. */
export interface LiveMetadata {
  timestamp?: SignedTimestamp | undefined;
  snapshot?: SignedSnapshot | undefined;
  /** By role. */
  roles: ReadonlyMap<string, SignedTargets>;
  /** The highest version that exists, published or left over, by role. */
  highest: ReadonlyMap<string, number>;
}

export const nothingLive: LiveMetadata = { roles: new Map(), highest: new Map() };

/** A place that has signed metadata. */
export interface MetadataSource {
  read(path: string): Promise<Uint8Array | undefined>;
  /** Paths that exist below metadata/, live or left over. */
  names(): Promise<string[]>;
}

/** What a place says of itself, as its timestamp tells. It is not verified: its numbers count, and what is signed by our own key. */
export async function readLiveMetadata(source: MetadataSource): Promise<LiveMetadata> {
  const highest = new Map<string, number>();
  for (const name of await source.names()) {
    const [, version = "0", role] = /^metadata\/(\d+)\.(.+)\.json$/.exec(name) ?? [];
    if (role !== undefined) highest.set(role, Math.max(Number(version), highest.get(role) ?? 0));
  }
  const bytes = await source.read("metadata/timestamp.json");
  if (!bytes) return { roles: new Map(), highest };
  const timestamp = readTimestamp(bytes);
  const version = timestamp.metadata.signed.snapshotMeta.version;
  const stored = await source.read(`metadata/${version}.snapshot.json`);
  if (!stored) return { timestamp, roles: new Map(), highest };
  const snapshot = readSnapshot(stored);
  const roles = new Map<string, SignedTargets>();
  for (const [name, meta] of Object.entries(snapshot.metadata.signed.meta)) {
    const role = name.slice(0, -".json".length);
    const part = await source.read(`metadata/${meta.version}.${role}.json`);
    if (part) roles.set(role, readTargets(part));
  }
  return { timestamp, snapshot, roles, highest };
}

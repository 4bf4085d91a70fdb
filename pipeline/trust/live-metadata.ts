import type { Metadata, MetaFile, Root, Snapshot, Targets, Timestamp } from "@tufjs/models";
import {
  metadataPath,
  readSnapshot,
  readTargets,
  readTimestamp,
  type Signed,
  type SignedRoot,
  type SignedSnapshot,
  type SignedTargets,
  type SignedTimestamp,
  sha256,
} from "./metadata.ts";
import { isOnlineRole } from "./roles.ts";

/** Online metadata of a site that has a valid signature by a key in the newest local root. */
export interface LiveMetadata {
  timestamp?: SignedTimestamp | undefined;
  snapshot?: SignedSnapshot | undefined;
  /** By role. */
  roles: ReadonlyMap<string, SignedTargets>;
  /** Highest version in use, by role. */
  highest: ReadonlyMap<string, number>;
  /** Live files without a valid signature, by path; the next signing replaces them. */
  unverified: readonly string[];
}

export const nothingLive: LiveMetadata = { roles: new Map(), highest: new Map(), unverified: [] };

export interface MetadataSource {
  read(path: string): Promise<Uint8Array | undefined>;
  /** Paths below metadata/, including leftovers. */
  names(): Promise<string[]>;
  /** Milliseconds by which its clock is ahead of ours, after a read; undefined: it tells no time. */
  clockOffset?(): number | undefined;
  /** timestamp.json of earlier publishes, if they are kept. */
  earlierTimestamps?(): Promise<Uint8Array[]>;
}

/** Versions that unsigned file names may reserve: an interrupted publish leaves a few, an attacker could leave any. */
const leftOverBound = 1000;
/** File names beyond that bound that are opened per role to look for a valid signature. */
const maxOpenedNames = 20;

type Online = Timestamp | Snapshot | Targets;

/**
 * Reads a site's metadata, starting at its timestamp. Storage is not trusted: content and versions count only
 * with a valid signature. Expiry is ignored.
 * @param root newest root of `releases/trust/`
 */
export async function readLiveMetadata(source: MetadataSource, root: SignedRoot): Promise<LiveMetadata> {
  const names = await source.names();
  const { signedVersions, ...chain } = await readLiveChain(source, root);
  // A timestamp older than other signed metadata may be a replayed one.
  if (!chain.timestamp || (await newerThanLive(source, chain, root, names))) {
    const live = signedVersions.get("timestamp") ?? 0;
    signedVersions.set("timestamp", Math.max(live, await earlierTimestamp(source, root)));
  }
  const highest = await takenVersions(source, names, signedVersions, root);
  return { ...chain, highest };
}

/** The metadata that the live timestamp refers to, verified by hash and signature. */
export async function readLiveChain(source: Pick<MetadataSource, "read">, root: SignedRoot) {
  const roles = new Map<string, SignedTargets>();
  const unverified: string[] = [];
  /** Versions named under a valid signature, by role. */
  const signedVersions = new Map<string, number>();
  const load = async <T extends Online>(role: string, path: string, read: Reader<T>, meta?: MetaFile) => {
    const bytes = await source.read(path);
    const found = bytes && verified(bytes, read, root, role, meta);
    if (!found && (bytes || meta)) unverified.push(path);
    return found;
  };
  const timestamp = await load("timestamp", "metadata/timestamp.json", readTimestamp);
  if (!timestamp) return { roles, unverified, signedVersions };
  const { version, snapshotMeta } = timestamp.metadata.signed;
  signedVersions.set("timestamp", version).set("snapshot", snapshotMeta.version);
  const path = metadataPath("snapshot", snapshotMeta.version);
  const snapshot = await load("snapshot", path, readSnapshot, snapshotMeta);
  for (const [name, meta] of Object.entries(snapshot?.metadata.signed.meta ?? {})) {
    const role = name.slice(0, -".json".length);
    signedVersions.set(role, meta.version);
    const part = await load(role, metadataPath(role, meta.version), readTargets, meta);
    if (part) roles.set(role, part);
  }
  return { timestamp, snapshot, roles, unverified, signedVersions };
}

type Reader<T extends Online> = (bytes: Uint8Array) => Signed<T>;

/**
 * Online roles, including delegated ones, use the online key.
 * @param meta expected version, length and hash from the parent document
 * @returns undefined unless a key of the root signed it
 */
export function verified<T extends Online | Root>(
  bytes: Uint8Array,
  read: (bytes: Uint8Array) => Signed<T>,
  root: SignedRoot,
  role: string,
  meta?: MetaFile,
): Signed<T> | undefined {
  if (meta && (meta.hashes?.sha256 !== sha256(bytes) || meta.length !== bytes.length)) return undefined;
  try {
    const document = read(bytes);
    const { version } = document.metadata.signed;
    if (meta && meta.version !== version) return undefined;
    if (!Number.isSafeInteger(version) || version < 1) return undefined;
    const key = role === "root" || role === "targets" || role === "timestamp" ? role : "snapshot";
    root.metadata.verifyDelegate(key, document.metadata as Metadata<T>);
    return document;
  } catch {
    // Invalid metadata is treated like a wrong signature.
    return undefined;
  }
}

/** For a site whose own timestamp was destroyed. The gap skips later ones that may have been lost. */
async function earlierTimestamp(source: MetadataSource, root: SignedRoot): Promise<number> {
  const earlier = (await source.earlierTimestamps?.()) ?? [];
  const versions = earlier.map(
    (bytes) => verified(bytes, readTimestamp, root, "timestamp")?.metadata.signed.version ?? 0,
  );
  const newest = Math.max(0, ...versions);
  return newest === 0 ? 0 : newest + leftOverBound;
}

/** Finds the highest version of each role that is already in use, in signed metadata or a file name. */
async function takenVersions(
  source: MetadataSource,
  names: readonly string[],
  signedVersions: ReadonlyMap<string, number>,
  root: SignedRoot,
): Promise<Map<string, number>> {
  const highest = new Map(signedVersions);
  for (const [role, versions] of versionsByRole(names)) {
    const known = highest.get(role) ?? 0;
    const signed = Math.max(known, await highestSigned(source, role, versions, known + leftOverBound, root));
    const near = versions.filter((version) => version <= signed + leftOverBound);
    const usedVersions = new Set(versions);
    let top = Math.max(signed, ...near);
    while (usedVersions.has(top + 1)) top++;
    highest.set(role, top);
  }
  return highest;
}

/** Searches file names above a version for a valid signature, highest first. @returns 0 if there is none */
async function highestSigned(
  source: MetadataSource,
  role: string,
  versions: readonly number[],
  from: number,
  root: SignedRoot,
): Promise<number> {
  const beyond = versions.filter((version) => version > from).sort((a, b) => b - a);
  const read: Reader<Online> = role === "snapshot" ? readSnapshot : readTargets;
  for (const version of beyond.slice(0, maxOpenedNames)) {
    const bytes = await source.read(metadataPath(role, version));
    if (bytes && verified(bytes, read, root, role)?.metadata.signed.version === version) return version;
  }
  return 0;
}

/** Versions by role, from file names. Storage may contain names that belong to no role; they are ignored. */
function versionsByRole(names: readonly string[]): Map<string, number[]> {
  const found = names.flatMap((name) => {
    const [, digits = "", role = ""] = /^metadata\/([1-9]\d*)\.(.+)\.json$/.exec(name) ?? [];
    const version = Number(digits);
    return isOnlineRole(role) && Number.isSafeInteger(version) ? [{ role, version }] : [];
  });
  const roles = Map.groupBy(found, ({ role }) => role);
  return new Map([...roles].map(([role, own]) => [role, own.map(({ version }) => version)]));
}

/** @returns the first path of newer signed metadata, left by an unfinished publish or hidden by the storage */
export async function newerThanLive(
  source: MetadataSource,
  live: Pick<LiveMetadata, "roles" | "snapshot">,
  root: SignedRoot,
  names?: readonly string[],
): Promise<string | undefined> {
  const known = new Map([...live.roles].map(([role, { metadata }]) => [role, metadata.signed.version]));
  if (live.snapshot) known.set("snapshot", live.snapshot.metadata.signed.version);
  for (const [role, versions] of versionsByRole(names ?? (await source.names()))) {
    const version = await highestSigned(source, role, versions, known.get(role) ?? 0, root);
    if (version > 0) return metadataPath(role, version);
  }
  return undefined;
}

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

/** Online metadata of a site, as far as a valid signature of a key in our newest root proves it. */
export interface LiveMetadata {
  timestamp?: SignedTimestamp | undefined;
  snapshot?: SignedSnapshot | undefined;
  /** By role. */
  roles: ReadonlyMap<string, SignedTargets>;
  /** The highest version number that is taken, by role. */
  highest: ReadonlyMap<string, number>;
  /** Live files that do not verify, by path: the next signing replaces them. */
  unverified: readonly string[];
}

export const nothingLive: LiveMetadata = { roles: new Map(), highest: new Map(), unverified: [] };

/** A place that has signed metadata. */
export interface MetadataSource {
  read(path: string): Promise<Uint8Array | undefined>;
  /** Paths that exist below metadata/, live or left over. */
  names(): Promise<string[]>;
  /** timestamp.json of earlier publishes, as far as the place keeps them. */
  earlierTimestamps?(): Promise<Uint8Array[]>;
}

/** Numbers that a file name alone can take: an interrupted publish leaves a few, an attacker any. */
const leftOverBound = 1000;
/** File names beyond the bound that are opened to look for a valid signature, per role. */
const maxOpenedNames = 20;

type Online = Timestamp | Snapshot | Targets;

/**
 * Reads the metadata of a site, from its timestamp on. Storage proves nothing: content and version numbers count
 * only under a valid signature. Expiry is ignored.
 * @param root newest root of `releases/trust/`
 */
export async function readLiveMetadata(source: MetadataSource, root: SignedRoot): Promise<LiveMetadata> {
  const names = await source.names();
  const { signedVersions, ...chain } = await readLiveChain(source, root);
  // A timestamp that leads to less than what is signed may be an earlier one that was put back.
  if (!chain.timestamp || (await newerSigned(source, names, chain, root)) !== undefined) {
    const live = signedVersions.get("timestamp") ?? 0;
    signedVersions.set("timestamp", Math.max(live, await earlierTimestamp(source, root)));
  }
  const highest = await takenVersions(source, names, signedVersions, root);
  return { ...chain, highest };
}

/** What the live timestamp leads to, each file under its hash and its signature. */
export async function readLiveChain(source: Pick<MetadataSource, "read">, root: SignedRoot) {
  const roles = new Map<string, SignedTargets>();
  const unverified: string[] = [];
  /** Version numbers that a valid signature names, by role. */
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
 * Metadata that a key of the root signed. Every online role, delegated ones too, has the online key.
 * @param meta version, length and hash that the signed document above it names
 * @returns undefined for anything else, whatever it is
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
    // Not metadata, or not signed by that key: which of them makes no difference.
    return undefined;
  }
}

/**
 * A number above those of earlier timestamps, for a site whose own one was destroyed. How many came after them
 * is unknown; the gap skips them.
 */
async function earlierTimestamp(source: MetadataSource, root: SignedRoot): Promise<number> {
  const earlier = (await source.earlierTimestamps?.()) ?? [];
  const versions = earlier.map(
    (bytes) => verified(bytes, readTimestamp, root, "timestamp")?.metadata.signed.version ?? 0,
  );
  const newest = Math.max(0, ...versions);
  return newest === 0 ? 0 : newest + leftOverBound;
}

/** The highest number of each role that a signature names or that a file name has taken. */
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
    const taken = new Set(versions);
    let top = Math.max(signed, ...near);
    while (taken.has(top + 1)) top++;
    highest.set(role, top);
  }
  return highest;
}

/** Looks for a valid signature among file names beyond a number, highest first. @returns 0 where there is none */
async function highestSigned(
  source: MetadataSource,
  role: string,
  versions: readonly number[],
  from: number,
  root: SignedRoot,
): Promise<number> {
  const beyond = versions.filter((version) => version > from).sort((a, b) => b - a);
  for (const version of beyond.slice(0, maxOpenedNames))
    if (await isSignedVersion(source, role, version, root)) return version;
  return 0;
}

async function isSignedVersion(source: MetadataSource, role: string, version: number, root: SignedRoot) {
  const bytes = await source.read(metadataPath(role, version));
  if (!bytes) return false;
  const read: Reader<Online> = role === "snapshot" ? readSnapshot : readTargets;
  return verified(bytes, read, root, role)?.metadata.signed.version === version;
}

/** Numbers of the online roles that have files of their own. Storage may hold names that no role has: they do not count. */
function versionsByRole(names: readonly string[]): Map<string, number[]> {
  const found = names.flatMap((name) => {
    const [, digits = "", role = ""] = /^metadata\/([1-9]\d*)\.(.+)\.json$/.exec(name) ?? [];
    const version = Number(digits);
    return isOnlineRole(role) && Number.isSafeInteger(version) ? [{ role, version }] : [];
  });
  const roles = Map.groupBy(found, ({ role }) => role);
  return new Map([...roles].map(([role, own]) => [role, own.map(({ version }) => version)]));
}

/**
 * Online metadata that is signed and newer than what is live: a later publish that storage hides, or one that
 * did not finish.
 * @returns the path of the first
 */
export const newerThanLive = async (
  source: MetadataSource,
  live: LiveMetadata,
  root: SignedRoot,
): Promise<string | undefined> => newerSigned(source, await source.names(), live, root);

async function newerSigned(
  source: MetadataSource,
  names: readonly string[],
  live: Pick<LiveMetadata, "roles" | "snapshot">,
  root: SignedRoot,
): Promise<string | undefined> {
  const known = new Map([...live.roles].map(([role, { metadata }]) => [role, metadata.signed.version]));
  if (live.snapshot) known.set("snapshot", live.snapshot.metadata.signed.version);
  for (const [role, versions] of versionsByRole(names)) {
    const version = await highestSigned(source, role, versions, known.get(role) ?? 0, root);
    if (version > 0) return metadataPath(role, version);
  }
  return undefined;
}

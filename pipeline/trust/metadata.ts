import { createHash } from "node:crypto";
import { canonicalize } from "@tufjs/canonical-json";
import { Metadata, MetadataKind, MetaFile, Root, Snapshot, Targets, Timestamp } from "@tufjs/models";
import { type Signer, tufKey, tufSignature } from "./keys.ts";
import { dateOf, day, expiryOf, pathsOf, type Signing, signingOffline } from "./roles.ts";

const specVersion = "1.0.31";

type Role = Root | Targets | Snapshot | Timestamp;

/** A signed document with the exact bytes that are hashed, stored and served. */
export interface Signed<T extends Role> {
  metadata: Metadata<T>;
  bytes: Uint8Array;
}

export interface AnySigned {
  metadata: { signed: { version: number; expires: string }; signatures: Readonly<Record<string, unknown>> };
  bytes: Uint8Array;
}

export type SignedRoot = Signed<Root>;
export type SignedTargets = Signed<Targets>;
export type SignedSnapshot = Signed<Snapshot>;
export type SignedTimestamp = Signed<Timestamp>;

/** Reads a role. @throws Error of @tufjs/models for other content */
const reader =
  <T extends Role>(fromJson: (json: ReturnType<Role["toJSON"]>) => Metadata<T>) =>
  (bytes: Uint8Array): Signed<T> => ({
    metadata: fromJson(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes))),
    bytes,
  });

export const readRoot = reader((json) => Metadata.fromJSON(MetadataKind.Root, json));
export const readTargets = reader((json) => Metadata.fromJSON(MetadataKind.Targets, json));
export const readSnapshot = reader((json) => Metadata.fromJSON(MetadataKind.Snapshot, json));
export const readTimestamp = reader((json) => Metadata.fromJSON(MetadataKind.Timestamp, json));

/** @param before existing signatures to keep */
export async function signed<T extends Role>(
  content: T,
  signers: readonly Signer[],
  before: Metadata<T> = new Metadata<T>(content),
): Promise<Signed<T>> {
  const message = Buffer.from(canonicalize(content.toJSON()));
  const signatures = { ...before.signatures };
  for (const signer of signers) signatures[signer.id] = tufSignature(signer.id, await signer.sign(message));
  const metadata = new Metadata(content, signatures);
  return { metadata, bytes: new TextEncoder().encode(`${JSON.stringify(metadata.toJSON())}\n`) };
}

export interface RootKeys {
  root: { keys: readonly Uint8Array[]; threshold: number };
  targets: Uint8Array;
  online: Uint8Array;
}

/** Keys of all top-level roles (TUF 1.0, 4.3). @param now milliseconds since 1970 */
export function rootContent(version: number, { root, targets, online }: RootKeys, now: number): Root {
  const all = [...root.keys, targets, online].map(tufKey);
  const role = (keys: readonly Uint8Array[], threshold = 1) => ({
    keyids: keys.map((key) => tufKey(key).keyID),
    threshold,
  });
  return Root.fromJSON({
    _type: "root",
    spec_version: specVersion,
    version,
    expires: expiryOf("root", signingOffline(now)),
    consistent_snapshot: true,
    keys: Object.fromEntries(all.map((key) => [key.keyID, key.toJSON()])),
    roles: {
      root: role(root.keys, root.threshold),
      targets: role([targets]),
      snapshot: role([online]),
      timestamp: role([online]),
    },
  });
}

/** Delegations for the catalog and for each year's releases. */
export function targetsContent(version: number, online: Uint8Array, years: readonly string[], now: number) {
  const names = ["catalog", ...years.map((year) => `releases-${year}`)];
  return roleContent("targets", version, { names }, online, signingOffline(now));
}

/** Content of a role, without version and expiry: files, and the roles that it delegates to. */
export interface RoleContent {
  targets?: readonly Target[];
  names?: readonly string[];
}

export interface Target {
  path: string;
  size: number;
  sha256: string;
}

export function roleContent(
  role: string,
  version: number,
  { targets = [], names = [] }: RoleContent,
  online: Uint8Array,
  signing: Signing,
): Targets {
  return Targets.fromJSON({
    _type: "targets",
    spec_version: specVersion,
    version,
    expires: expiryOf(role, signing),
    targets: Object.fromEntries(
      targets.map(({ path, size, sha256 }) => [path, { length: size, hashes: { sha256 } }]),
    ),
    ...(names.length > 0 && { delegations: delegations(online, names) }),
  });
}

function delegations(online: Uint8Array, names: readonly string[]) {
  const key = tufKey(online);
  const role = (name: string) => ({
    name,
    paths: pathsOf(name),
    terminating: true,
    keyids: [key.keyID],
    threshold: 1,
  });
  return { keys: { [key.keyID]: key.toJSON() }, roles: names.map(role) };
}

/** @param parts targets and all delegated roles */
export const snapshotContent = (
  version: number,
  parts: ReadonlyMap<string, SignedTargets>,
  signing: Signing,
): Snapshot =>
  new Snapshot({
    version,
    specVersion,
    expires: expiryOf("snapshot", signing),
    unrecognizedFields: { [dateMembers.signed]: dateOf(signing.now) },
    meta: Object.fromEntries(
      [...parts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([role, part]) => [`${role}.json`, metaFile(part)]),
    ),
  });

/** Custom members, which TUF 1.0 allows (section 4) and other clients ignore. */
const dateMembers = { signed: "x-relcat-signed", before: "x-relcat-signed-before" } as const;

/** @param current the timestamp that it replaces */
export function timestampContent(
  version: number,
  snapshot: SignedSnapshot,
  signing: Signing,
  current?: Timestamp,
): Timestamp {
  const earlier = current ? [signingDate(current), signingDate(current, "before")] : [];
  const before = earlier.find((time) => time !== undefined && time <= signing.now - day);
  return new Timestamp({
    version,
    specVersion,
    expires: expiryOf("timestamp", signing),
    snapshotMeta: metaFile(snapshot),
    unrecognizedFields: {
      [dateMembers.signed]: dateOf(signing.now),
      ...(before !== undefined && { [dateMembers.before]: dateOf(before) }),
    },
  });
}

/** In milliseconds since 1970; undefined if not recorded. @param which "before": of one signed on an earlier day */
export function signingDate(
  { unrecognizedFields }: Timestamp | Snapshot,
  which: keyof typeof dateMembers = "signed",
): number | undefined {
  const date = unrecognizedFields[dateMembers[which]];
  const time = typeof date === "string" ? Date.parse(date) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

export function hasSigned(keys: Root["keys"] | undefined, id: string, document: Metadata<Role>): boolean {
  try {
    keys?.[id]?.verifySignature(document);
    return keys?.[id] !== undefined;
  } catch {
    return false;
  }
}

const metaFile = ({ metadata, bytes }: AnySigned): MetaFile =>
  new MetaFile({ version: metadata.signed.version, length: bytes.length, hashes: { sha256: sha256(bytes) } });

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

export const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** Role names come from a snapshot, so they are percent-encoded to stay in the folder (TUF 1.0, 4.4). */
export const metadataPath = (role: string, version: number): string =>
  `metadata/${version}.${encodeURIComponent(role.toWellFormed())}.json`;

/** The path contains the hash, so that old and new versions exist side by side (TUF 1.0, 6.2). */
export function targetName(path: string, hash: string): string {
  const slash = path.lastIndexOf("/") + 1;
  return `targets/${path.slice(0, slash)}${hash}.${path.slice(slash)}`;
}

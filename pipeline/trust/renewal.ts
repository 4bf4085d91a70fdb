import type { Root } from "@tufjs/models";
import { rootKeys, type TrustProfile } from "../documents/trust.ts";
import type { Signer } from "./keys.ts";
import {
  hasSigned,
  type RootKeys,
  rootContent,
  type SignedRoot,
  type SignedTargets,
  signed,
  targetsContent,
} from "./metadata.ts";
import { isDue, signingOffline } from "./roles.ts";
import type { StoredTrust } from "./stores/trust-folder.ts";

type OfflineTrust = Omit<StoredTrust, "roots">;

/** Changes to write: absent parts stay as they are; `pending` null removes the pending root. */
export interface TrustChange {
  root?: SignedRoot;
  targets?: SignedTargets;
  pending?: SignedRoot | null;
  /** Signatures that are still missing: number of root keys, and whether the targets key is needed. */
  missing: { root: number; targets: boolean };
}

/** Years from the first release to the last one, and to two years ahead. @param releases years such as 2025 */
export function yearsOf(releases: readonly number[], now: number): string[] {
  const year = new Date(now).getUTCFullYear();
  const [first, last] = [Math.min(year, ...releases), Math.max(year + 2, ...releases)];
  return Array.from({ length: last - first + 1 }, (_, index) =>
    String((first + index) % 100).padStart(2, "0"),
  );
}

/** Creates the first root and targets. @param signers the profile's root keys, then the targets key */
export async function beginTrust(
  profile: Exclude<TrustProfile, "none">,
  { roots, targets, online }: { roots: readonly Signer[]; targets: Signer; online: Uint8Array },
  years: readonly string[],
  now: number,
): Promise<{ root: SignedRoot; targets: SignedTargets }> {
  const { threshold } = rootKeys[profile];
  const keys: RootKeys = {
    root: { keys: roots.map((key) => key.publicKey), threshold },
    targets: targets.publicKey,
    online,
  };
  return {
    root: await signed(rootContent(1, keys, now), roots),
    targets: await signed(targetsContent(1, online, years, now), [targets]),
  };
}

export function keysOf(root: Root): RootKeys {
  const bytes = (id: string | undefined) => Buffer.from(root.keys[id ?? ""]?.keyVal.public ?? "", "hex");
  const { root: top, targets, timestamp } = root.roles;
  return {
    root: { keys: (top?.keyIDs ?? []).map(bytes), threshold: top?.threshold ?? 1 },
    targets: bytes(targets?.keyIDs[0]),
    online: bytes(timestamp?.keyIDs[0]),
  };
}

interface Signing {
  signers: readonly Signer[];
  /** With releases, such as "26". */
  years: readonly string[];
  /** Milliseconds since 1970. */
  now: number;
}

/** Creates a root with other keys and signs it with the available ones. @param keys the new keys */
export async function changeKeys(trust: OfflineTrust, keys: RootKeys, by: Signing): Promise<TrustChange> {
  const version = trust.root.metadata.signed.version + 1;
  return signPending(trust, await signed(rootContent(version, keys, by.now), []), by);
}

/** Signs pending documents, or renews those past half of their lifetime. @returns empty if there was nothing to sign */
export function signOffline(trust: OfflineTrust, by: Signing): Promise<TrustChange> {
  const { signed: root } = trust.root.metadata;
  if (trust.pending) return signPending(trust, trust.pending, by);
  if (isDue("root", root.expires, signingOffline(by.now))) return changeKeys(trust, keysOf(root), by);
  return signTargets(trust, root, by);
}

async function signPending(trust: OfflineTrust, pending: SignedRoot, by: Signing): Promise<TrustChange> {
  const before = trust.root.metadata.signed;
  const content = pending.metadata.signed;
  const wanted = new Set([...roleIds(before), ...roleIds(content)]);
  const signers = by.signers.filter(({ id }) => wanted.has(id));
  const root = await signed(content, signers, pending.metadata);
  const lacks = (of: Root) => {
    const ids = roleIds(of).filter((id) => hasSigned(of.keys, id, root.metadata));
    return Math.max(0, (of.roles.root?.threshold ?? 1) - ids.length);
  };
  const missing = Math.max(lacks(before), lacks(content));
  // The holder of the targets key need not wait for those of root keys.
  const targets = await signTargets(trust, missing > 0 ? before : content, by);
  if (missing > 0) return { ...targets, pending: root, missing: { root: missing, targets: false } };
  return { ...targets, root, pending: null };
}

const roleIds = (root: Root): string[] => root.roles.root?.keyIDs ?? [];

/** Renews the delegations for a new key, more years, or before they expire. */
async function signTargets(trust: OfflineTrust, root: Root, by: Signing): Promise<TrustChange> {
  const { signers, years, now } = by;
  const { signed: content } = trust.targets.metadata;
  const { online } = keysOf(root);
  const [targetsKey = ""] = root.roles.targets?.keyIDs ?? [];
  const [onlineKey = ""] = root.roles.timestamp?.keyIDs ?? [];
  const delegated = content.delegations;
  const isGood =
    hasSigned(root.keys, targetsKey, trust.targets.metadata) &&
    Object.hasOwn(delegated?.keys ?? {}, onlineKey) &&
    years.every((year) => Object.hasOwn(delegated?.roles ?? {}, `releases-${year}`)) &&
    !isDue("targets", content.expires, signingOffline(now));
  if (isGood) return { missing: { root: 0, targets: false } };
  const signer = signers.find(({ id }) => id === targetsKey);
  if (!signer) return { missing: { root: 0, targets: true } };
  const known = Object.keys(delegated?.roles ?? {}).flatMap(
    (role) => /^releases-(\d\d)$/.exec(role)?.[1] ?? [],
  );
  const all = [...new Set([...known, ...years])].sort();
  const targets = await signed(targetsContent(content.version + 1, online, all, now), [signer]);
  return { targets, missing: { root: 0, targets: false } };
}

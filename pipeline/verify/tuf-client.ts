import { createHash } from "node:crypto";
import { type Metadata, Root, type Snapshot, type TargetFile, Targets, type Timestamp } from "@tufjs/models";
import { failure, RelcatError } from "../../shared/errors.ts";
import {
  hasSigned,
  readRoot,
  readSnapshot,
  readTargets,
  readTimestamp,
  type SignedRoot,
  type SignedSnapshot,
  type SignedTargets,
  type SignedTimestamp,
  signingDate,
  targetName,
} from "../trust/metadata.ts";
import { type Answer, addressOf, type SiteReader } from "./stores/site-reader.ts";
import { openMemory } from "./stores/trust-state.ts";
import { tampered, tufProblem } from "./tuf-refusals.ts";
import { followWorkflow } from "./tuf-workflow.ts";

/** A site whose metadata was verified, starting from a pinned root. */
export interface TrustedSite {
  site: SiteReader;
  root: SignedRoot;
  timestamp: SignedTimestamp;
  snapshot: SignedSnapshot;
  /** Metadata files that were downloaded now, by path; remembered ones are not downloaded again. */
  answered: ReadonlyMap<string, Uint8Array>;
  headers: Answer["headers"];
  /** undefined if the role has no delegation. @throws RelcatError site-tampered, site-expired */
  role(name: string): Promise<SignedTargets | undefined>;
  /** Description by the responsible role; undefined if no role is responsible. */
  describe(path: string): Promise<TargetFile | undefined>;
  /** Verified bytes; undefined if no role is responsible. @throws RelcatError site-tampered */
  target(path: string): Promise<Uint8Array | undefined>;
}

/** Large enough for the list of a very large catalog. */
const maxTargetBytes = 1024 * 1024 * 1024;

/**
 * Verified metadata is stored at once, even if a later step fails, as TUF 1.0.34 requires.
 * @param root bytes of the root that the user trusts @param state folder with the trust state of earlier runs
 * @throws RelcatError site-tampered, site-stale, site-expired, clock, network, each naming the role
 */
export async function openTrustedSite(
  site: SiteReader,
  root: Uint8Array,
  state: string,
): Promise<TrustedSite> {
  const memory = openMemory(state);
  let asked = "metadata/root.json";
  const answered = new Map<string, Uint8Array>();
  let headers: Answer["headers"] = {};
  const ask = async (path: string, role: string, limit: number) => {
    asked = path;
    const answer = await site.read(path, limit);
    if (answer.status !== 200) return undefined;
    answered.set(path, answer.bytes);
    headers = { ...headers, ...answer.headers };
    refuseUnfit(site, role, answer.bytes);
    return answer.bytes;
  };
  const translated = async <T>(doing: () => Promise<T>) => {
    try {
      return await doing();
    } catch (error) {
      throw error instanceof RelcatError ? error : tufProblem(site, asked, error);
    }
  };
  const workflow = await translated(() => followWorkflow(root, memory, ask));
  const bytesOf = (role: string) => workflow.bytes.get(role) ?? new Uint8Array();
  const timestamp = readTimestamp(bytesOf("timestamp"));
  refuseClock(site, timestamp);
  const describe = async (path: string) => {
    const role = await translated(() => workflow.find(path));
    const target = role?.signed.targets[path];
    if (target) refuseHashes(site, target);
    return target;
  };
  return {
    site,
    answered,
    headers,
    root: readRoot(bytesOf("root")),
    timestamp,
    snapshot: readSnapshot(bytesOf("snapshot")),
    describe,
    async role(name) {
      if (name !== "targets") await describe(pathInside(name));
      const bytes = workflow.bytes.get(name);
      return bytes && readTargets(bytes);
    },
    async target(path) {
      const known = await describe(path);
      if (!known) return undefined;
      const { consistentSnapshot } = workflow.store.root.signed;
      const [hash = ""] = Object.values(known.hashes);
      return readTarget(site, consistentSnapshot ? targetName(path, hash) : `targets/${path}`, known);
    },
  };
}

/** Asking for a path of the role or of one below it makes the client load the role. */
const pathInside = (role: string): string =>
  role === "catalog"
    ? "catalog/index.json"
    : `releases/${role.slice("releases-".length).padEnd(5, ".00")}.000/release.json`;

/** Collision-resistant algorithms that this program supports. */
const algorithms = ["sha256", "sha384", "sha512"];

function refuseHashes(site: SiteReader, { path, hashes }: TargetFile): void {
  if (!algorithms.some((algorithm) => Object.hasOwn(hashes, algorithm)))
    throw tampered(site, path, `has no hash of ${algorithms.join(", ")} in the signed metadata`);
  // The hash becomes part of a file name.
  if (!Object.values(hashes).every((hash) => /^[0-9a-f]+$/.test(hash)))
    throw tampered(site, path, "has a hash that is not in hexadecimal digits");
}

/** Compares all hashes that are present. */
async function readTarget(site: SiteReader, stored: string, { hashes, length }: TargetFile) {
  const address = site.isRemote ? addressOf(stored) : stored;
  const { status, bytes } = await site.read(address, Math.min(length, maxTargetBytes));
  if (status !== 200) throw tampered(site, stored, `is missing (${status})`);
  const isRight = algorithms.every((algorithm) => {
    const expected = Object.hasOwn(hashes, algorithm) ? hashes[algorithm] : undefined;
    return expected === undefined || createHash(algorithm).update(bytes).digest("hex") === expected;
  });
  if (bytes.length !== length || !isRight) throw tampered(site, stored, "is not what was signed");
  return bytes;
}

type AnyContent = Root | Timestamp | Snapshot | Targets;

const readers = new Map<string, (bytes: Uint8Array) => { metadata: { signed: AnyContent } }>([
  ["root", readRoot],
  ["timestamp", readTimestamp],
  ["snapshot", readSnapshot],
]);

/** Rejects metadata that no client should accept, even if it is signed. @throws RelcatError site-tampered */
function refuseUnfit(site: SiteReader, role: string, bytes: Uint8Array): void {
  const { signed } = (readers.get(role) ?? readTargets)(bytes).metadata;
  if (!Number.isSafeInteger(signed.version) || signed.version < 1)
    throw tampered(site, "metadata", `has the version ${signed.version}, expected a whole number from 1 on`);
  refuseDoubledKeys(site, role, signed);
}

/** Allowed clock error in milliseconds: a wrong time zone can cause up to a day. */
const maxBehindMilliseconds = 24 * 3_600_000;

/** With a slow clock nothing expires. A timestamp's expiry says nothing about the clock, but its signing date does. */
function refuseClock(site: SiteReader, { metadata }: SignedTimestamp): void {
  const signedAt = signingDate(metadata.signed);
  if (signedAt === undefined || signedAt <= Date.now() + maxBehindMilliseconds) return;
  throw failure(
    "clock",
    `${site.place}: the timestamp was signed on ${new Date(signedAt).toISOString()}, which is in the future by your clock`,
    "Set the clock: a wrong one makes it impossible to tell whether a signature has expired. If it is right, that of the publisher was ahead: relcat publish SITE --refresh signs again.",
  );
}

/** A key listed under two ids would count twice towards a threshold. */
function refuseDoubledKeys(site: SiteReader, role: string, content: AnyContent): void {
  const { keys, roles } = keysAndRoles(content);
  for (const [name, { keyIDs }] of Object.entries(roles ?? {})) {
    const values = keyIDs.flatMap((id) => keys?.[id]?.keyVal.public ?? []);
    const distinct = new Set(values.map((value) => value.replace(/\s/g, "").toLowerCase()));
    if (distinct.size === values.length) continue;
    throw tampered(site, "metadata", `(role ${role}) gives ${name} the same key under two names`);
  }
}

function keysAndRoles(content: AnyContent): {
  keys?: Root["keys"];
  roles?: Readonly<Record<string, { keyIDs: string[] }>> | undefined;
} {
  if (content instanceof Targets) return content.delegations ?? {};
  return content instanceof Root ? content : {};
}

/** Ids of keys with valid signatures on a role's metadata. */
export function signersOf(delegator: Metadata<Root> | Metadata<Targets>, name: string, role: SignedTargets) {
  const { keys, roles } = keysAndRoles(delegator.signed);
  return (roles?.[name]?.keyIDs ?? []).filter((id) => hasSigned(keys, id, role.metadata));
}

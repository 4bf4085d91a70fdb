import {
  metadataPath,
  readSnapshot,
  readTargets,
  type SignedSnapshot,
  sha256,
  signingDate,
  targetName,
} from "../trust/metadata.ts";
import { rolesOfRelease } from "../trust/roles.ts";
import type { SignedDocuments } from "./documents.ts";
import type { Finding, Listed } from "./finding.ts";
import type { TrustedSite } from "./tuf-client.ts";

interface Staleness {
  findings: Finding[];
  /** Number of builds that the oldest stale file is behind; undefined: nothing is stale. */
  behind: number | undefined;
  /** Time at which a newer build replaced it, in milliseconds since 1970. */
  since: number;
}

/** Bytes of an earlier signed build come from a cache; those of a later one are published before its timestamp. */
export async function findStale(
  trusted: TrustedSite,
  { build, owners }: Pick<SignedDocuments, "build" | "owners">,
  findings: readonly Finding[],
): Promise<Staleness> {
  let signed = signingTime(trusted.snapshot);
  const asBefore = findings.filter(({ instead }) => instead !== undefined);
  if (asBefore.length === 0) return { findings: [...findings], behind: undefined, since: signed };
  const stale = new Map<Finding, string>();
  /** @returns whether findings have the bytes of the other build */
  const mark = async (other: OtherBuild, what: string): Promise<boolean> => {
    const before = stale.size;
    for (const finding of asBefore) {
      const path = finding.path.replace(/\/$/, "/index.json");
      if (stale.has(finding) || (await other.hashOf(path, owners.get(path))) !== finding.instead) continue;
      stale.set(finding, what);
    }
    return stale.size > before;
  };
  let behind = 0;
  let since = Number.POSITIVE_INFINITY;
  let number = 0;
  for await (const later of laterBuilds(trusted)) {
    number++;
    if (await mark(later, "is from a later signing, which metadata/timestamp.json does not lead to yet")) {
      behind = number;
      since = Math.min(since, later.signedAt);
    }
    if (stale.size === asBefore.length) break;
  }
  const fromLater = stale.size;
  let [distance, last] = [0, build];
  for await (const earlier of earlierBuilds(trusted)) {
    if (earlier.build !== last) distance++;
    last = earlier.build;
    // Signing again without changes does not make files stale.
    if (distance === 0) signed = Math.min(signed, earlier.signedAt);
    const age =
      distance === 0
        ? "from an earlier signing"
        : `${distance} ${distance === 1 ? "build" : "builds"} behind`;
    if (await mark(earlier, `is what a stale edge serves: ${age}`)) behind = Math.max(behind, distance);
    if (stale.size === asBefore.length && distance > 0) break;
  }
  return {
    findings: findings.map((finding) => {
      const what = stale.get(finding);
      return what === undefined ? finding : { ...finding, what, stale: true };
    }),
    behind: stale.size === 0 ? undefined : behind,
    since: stale.size > fromLater ? Math.min(since, signed) : since,
  };
}

/** An earlier or later signed build whose metadata is still available. */
interface OtherBuild {
  build: string;
  /** Milliseconds since 1970. */
  signedAt: number;
  /** SHA-256 of a file in that build. @param version release of the file, if it has one */
  hashOf(path: string, version: string | undefined): Promise<string | undefined>;
}

/** Snapshots to look back; numbers may be skipped. */
const maxBack = 50;
const maxGap = 10;
/** Snapshots that may be uploaded before the timestamp that refers to them. */
const maxAhead = 10;

const maxSnapshotBytes = 2_000_000;

/** Newest first. */
async function* earlierBuilds(trusted: TrustedSite): AsyncGenerator<OtherBuild> {
  const newest = trusted.snapshot.metadata.signed.version - 1;
  let missing = 0;
  for (let version = newest; version > 0 && version > newest - maxBack && missing < maxGap; version--) {
    const build = await readOther(trusted, version);
    missing = build ? 0 : missing + 1;
    if (build) yield build;
  }
}

/** Builds that are being published, with a timestamp that still refers to an earlier one. Oldest first. */
async function* laterBuilds(trusted: TrustedSite): AsyncGenerator<OtherBuild> {
  const live = trusted.snapshot.metadata.signed.version;
  for (let version = live + 1; version <= live + maxAhead; version++) {
    const build = await readOther(trusted, version);
    if (build) yield build;
  }
}

async function readOther(trusted: TrustedSite, version: number): Promise<OtherBuild | undefined> {
  const snapshot = await readSigned(trusted, version);
  if (!snapshot) return undefined;
  const lists = new Map<string, Promise<Listed>>();
  const listOf = (role: string, path: string) => {
    const known = lists.get(path) ?? readList(trusted, snapshot, role, path);
    lists.set(path, known);
    return known;
  };
  const build = (await listOf("catalog", "catalog/files.json"))["build.json"]?.sha256;
  if (build === undefined) return undefined;
  return {
    build,
    signedAt: signingTime(snapshot),
    async hashOf(path, release) {
      const list = release
        ? await listOf(rolesOfRelease(release).month, `releases/${release}/files.json`)
        : await listOf("catalog", "catalog/files.json");
      return list[path]?.sha256;
    },
  };
}

/** Older snapshots have no signing time, and expire after this time. */
const oldLifetime = 14 * 86_400_000;

const signingTime = ({ metadata: { signed } }: SignedSnapshot): number =>
  signingDate(signed) ?? Date.parse(signed.expires) - oldLifetime;

/** Accepts only current keys: a replaced key must not decide what was published in the past. */
async function readSigned(trusted: TrustedSite, version: number): Promise<SignedSnapshot | undefined> {
  const { status, bytes } = await trusted.site.read(metadataPath("snapshot", version), maxSnapshotBytes);
  if (status !== 200) return undefined;
  try {
    const snapshot = readSnapshot(bytes);
    trusted.root.metadata.verifyDelegate("snapshot", snapshot.metadata);
    return snapshot.metadata.signed.version === version ? snapshot : undefined;
  } catch {
    return undefined;
  }
}

/** Snapshot and role contain hashes, so one signature covers the list as well. Empty if the list is gone. */
async function readList(
  { site }: TrustedSite,
  snapshot: SignedSnapshot,
  role: string,
  path: string,
): Promise<Listed> {
  const meta = snapshot.metadata.signed.meta[`${role}.json`];
  const expected = meta?.hashes?.sha256;
  if (!meta || expected === undefined) return {};
  const part = await site.read(metadataPath(role, meta.version), meta.length ?? maxSnapshotBytes);
  if (part.status !== 200 || sha256(part.bytes) !== expected) return {};
  const target = readTargets(part.bytes).metadata.signed.targets[path];
  if (!target) return {};
  const hash = target.hashes.sha256 ?? "";
  const { status, bytes } = await site.read(targetName(path, hash), target.length);
  if (status !== 200 || sha256(bytes) !== hash) return {};
  return JSON.parse(new TextDecoder().decode(bytes)).files;
}

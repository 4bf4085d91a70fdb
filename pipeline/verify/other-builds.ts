import {
  metadataPath,
  readSnapshot,
  readTargets,
  type SignedSnapshot,
  type SignedTargets,
  sha256,
  signingDate,
} from "../trust/metadata.ts";
import { rolesOfRelease } from "../trust/roles.ts";
import type { Listed } from "./finding.ts";
import { storedName, type TrustedSite } from "./tuf-client.ts";

/** An earlier or later signed build whose metadata is still available. */
export interface OtherBuild {
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
export async function* earlierBuilds(trusted: TrustedSite): AsyncGenerator<OtherBuild> {
  const newest = trusted.snapshot.metadata.signed.version - 1;
  let missing = 0;
  for (let version = newest; version > 0 && version > newest - maxBack && missing < maxGap; version--) {
    const build = await readOther(trusted, version);
    missing = build ? 0 : missing + 1;
    if (build) yield build;
  }
}

/** Builds that are being published, with a timestamp that still refers to an earlier one. Oldest first. */
export async function* laterBuilds(trusted: TrustedSite): AsyncGenerator<OtherBuild> {
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

export const signingTime = ({ metadata: { signed } }: SignedSnapshot): number =>
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
  const target = targetOf(readTargets(part.bytes), path);
  if (!target) return {};
  const { status, bytes } = await site.read(
    storedName(path, { hashes: { sha256: target.sha256 } }),
    target.size,
  );
  if (status !== 200 || sha256(bytes) !== target.sha256) return {};
  return JSON.parse(new TextDecoder().decode(bytes)).files;
}

function targetOf({ metadata }: SignedTargets, path: string): { sha256: string; size: number } | undefined {
  const target = metadata.signed.targets[path];
  return target && { sha256: target.hashes.sha256 ?? "", size: target.length };
}

import type { Snapshot } from "@tufjs/models";
import { failure } from "../../shared/errors.ts";
import type { Signer } from "./keys.ts";
import type { LiveMetadata } from "./live-metadata.ts";
import {
  type AnySigned,
  type RoleContent,
  roleContent,
  type SignedRoot,
  type SignedSnapshot,
  type SignedTargets,
  type SignedTimestamp,
  sha256,
  signed,
  signingDate,
  snapshotContent,
  type Target,
  timestampContent,
} from "./metadata.ts";
import { clockTolerance, isDue, maxTargets, moreYears, rolesOfRelease, type Signing } from "./roles.ts";
import type { SignedFile } from "./site-targets.ts";

/** Offline-signed metadata in releases/trust/. */
interface Trust {
  /** Ascending by version. */
  roots: readonly SignedRoot[];
  targets: SignedTargets;
}

export interface RolesRequest extends Signing {
  trust: Trust;
  live: LiveMetadata;
  online: Signer;
}

/** Delegated roles; unchanged ones with enough remaining lifetime are kept. */
export async function signRoles(
  request: RolesRequest,
  targets: readonly SignedFile[],
): Promise<Map<string, SignedTargets>> {
  const contents = contentsOf(targets, request.live);
  refuseUndelegated(request, contents);
  const roles = new Map<string, SignedTargets>();
  for (const [role, content] of contents) {
    const { live, online } = request;
    const current = live.roles.get(role);
    const version = current?.metadata.signed.version ?? 0;
    const same = current && roleContent(role, version, content, online.publicKey, request);
    const isKept =
      current &&
      same &&
      isSame(current, same) &&
      isNewest(live, role, version) &&
      !isDueNow(role, current, request);
    const made = () => roleContent(role, nextVersion(live, role), content, online.publicKey, request);
    roles.set(role, isKept ? current : await signed(made(), [online]));
  }
  return roles;
}

function contentsOf(targets: readonly SignedFile[], live: LiveMetadata): Map<string, RoleContent> {
  const catalog: Target[] = [];
  // Existing roles are kept even if empty, because clients reject a snapshot without them (TUF 1.0, 5.5.5).
  const before = Object.keys(live.snapshot?.metadata.signed.meta ?? {});
  const known = before.flatMap((name) => /^(releases-\d\d\.\d\d)\.json$/.exec(name)?.[1] ?? []);
  const months = new Map<string, Target[]>(known.sort().map((role) => [role, []]));
  for (const { path, bytes } of targets) {
    const target = { path, size: bytes.length, sha256: sha256(bytes) };
    const version = /^releases\/([^/]+)\//.exec(path)?.[1];
    if (version === undefined) catalog.push(target);
    else {
      const { month } = rolesOfRelease(version);
      months.set(month, [...(months.get(month) ?? []), target]);
    }
  }
  const contents = new Map<string, RoleContent>([["catalog", { kind: "targets", targets: catalog }]]);
  const years = Map.groupBy([...months.keys()].sort(), (month) => month.slice(0, "releases-YY".length));
  for (const [year, names] of years) contents.set(year, { kind: "delegations", names });
  for (const [month, own] of months) {
    if (own.length > maxTargets) {
      throw failure(
        "too-many-targets",
        `${month} has ${own.length} targets, expected at most ${maxTargets}`,
        "Release less often.",
      );
    }
    contents.set(month, { kind: "targets", targets: own });
  }
  return contents;
}

function refuseUndelegated({ trust }: RolesRequest, contents: ReadonlyMap<string, RoleContent>): void {
  const delegated = trust.targets.metadata.signed.delegations?.roles ?? {};
  const missing = [...contents.keys()].filter(
    (role) => !role.includes(".") && !Object.hasOwn(delegated, role),
  );
  if (missing.length === 0) return;
  throw failure("role-undelegated", `no role is responsible for ${missing.join(", ")} yet`, moreYears);
}

/** Far below the limit of 2^53 - 1, so that renewals are still possible until keys are rotated. */
const maxVersion = Number.MAX_SAFE_INTEGER - 1_000_000;

function nextVersion({ highest }: LiveMetadata, role: string): number {
  const version = (highest.get(role) ?? 0) + 1;
  if (version <= maxVersion) return version;
  throw failure(
    "versions-exhausted",
    `the live ${role} metadata has the version ${version - 1}, and no number is left above it`,
    "The online key signed a number that relcat never reaches on its own. Rotate that key: docs/runbooks/version-numbers-exhausted.md",
  );
}

/** If a later version of the role exists anywhere, the live one is not reused. */
const isNewest = ({ highest }: LiveMetadata, role: string, version: number): boolean =>
  version >= (highest.get(role) ?? 0);

/** Ignores version and expiry, which differ with every signing. */
function isSame(current: SignedTargets, other: ReturnType<typeof roleContent>): boolean {
  const {
    version: _,
    expires: _expires,
    ...one
  } = current.metadata.signed.toJSON() as Record<string, unknown>;
  const { version: _other, expires: _otherExpires, ...two } = other.toJSON() as Record<string, unknown>;
  return JSON.stringify(one) === JSON.stringify(two);
}

const isDueNow = (role: string, { metadata }: AnySigned, signing: Signing): boolean =>
  isDue(role, metadata.signed.expires, signing);

/** Expiry alone does not show a clock that was ahead if `valid_days` was raised afterwards. */
const isFromFuture = ({ metadata }: SignedSnapshot | SignedTimestamp, { now }: Signing): boolean =>
  (signingDate(metadata.signed) ?? 0) > now + clockTolerance;

export async function signSnapshot(
  request: RolesRequest,
  parts: ReadonlyMap<string, SignedTargets>,
): Promise<SignedSnapshot> {
  const { live, online } = request;
  const current = live.snapshot;
  const version = current?.metadata.signed.version ?? 0;
  const metaOf = (snapshot: Snapshot) => JSON.stringify((snapshot.toJSON() as { meta: unknown }).meta);
  const same =
    current && metaOf(current.metadata.signed) === metaOf(snapshotContent(version, parts, request));
  if (
    current &&
    same &&
    isNewest(live, "snapshot", version) &&
    !isDueNow("snapshot", current, request) &&
    !isFromFuture(current, request)
  )
    return current;
  return signed(snapshotContent(nextVersion(live, "snapshot"), parts, request), [online]);
}

export async function signTimestamp(
  request: RolesRequest,
  snapshot: SignedSnapshot,
): Promise<SignedTimestamp> {
  const { live, online } = request;
  const current = live.timestamp;
  const version = current?.metadata.signed.version ?? 0;
  const isSameSnapshot = current?.metadata.signed.snapshotMeta.version === snapshot.metadata.signed.version;
  if (
    current &&
    isSameSnapshot &&
    isNewest(live, "timestamp", version) &&
    !isDueNow("timestamp", current, request) &&
    !isFromFuture(current, request)
  )
    return current;
  const content = timestampContent(
    nextVersion(live, "timestamp"),
    snapshot,
    request,
    current?.metadata.signed,
  );
  return signed(content, [online]);
}

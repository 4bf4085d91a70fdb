import type { Snapshot } from "@tufjs/models";
import type { Builder } from "../documents/config.ts";
import type { BuildDocument, ReleaseDocument } from "../documents/site.ts";
import { failure } from "../errors.ts";
import type { Signer } from "./keys.ts";
import type { LiveMetadata } from "./live-metadata.ts";
import {
  type AnySigned,
  metadataPath,
  type RoleContent,
  roleContent,
  type SignedRoot,
  type SignedSnapshot,
  type SignedTargets,
  type SignedTimestamp,
  sha256,
  signed,
  snapshotContent,
  type Target,
  targetName,
  timestampContent,
} from "./metadata.ts";
import { envelope, provenanceStatement } from "./provenance.ts";
import { isDue, mostTargets, rolesOfRelease } from "./roles.ts";
import { isHosting } from "./site-files.ts";
import { allowedSigner, sshSignature } from "./ssh-signature.ts";

/** Offline-signed metadata in releases/trust/. */
interface Trust {
  /** Ascending by version. */
  roots: readonly SignedRoot[];
  targets: SignedTargets;
}

export interface SignRequest {
  build: BuildDocument;
  buildBytes: Uint8Array;
  /** Reads a file of the build. */
  read: (path: string) => Uint8Array;
  trust: Trust;
  live: LiveMetadata;
  online: Signer;
  /** Identity in signatures of checksum files, such as releases@example.com. */
  principal: string;
  /** Identity that vouches for the builds; without it, there is no provenance. */
  builder: Builder | undefined;
  /** Key in `data` that holds the source revision. */
  vendor: string;
  /** Milliseconds since 1970. */
  now: number;
}

/** A file that signing adds to a site. */
export interface SignedFile {
  path: string;
  bytes: Uint8Array;
}

/**
 * Computes the files that signing adds: TUF metadata and targets, signed checksums, provenance. Writes
 * nothing; the same request gives the same bytes.
 * @throws RelcatError for a provisional build, a key that is not trusted, a year without a delegation
 */
export async function decideSigning(request: SignRequest): Promise<SignedFile[]> {
  refuseProvisional(request.build);
  refuseUntrusted(request);
  const releases = releasesOf(request);
  const signatures = await signReleases(request, releases);
  const targets = targetsOf(request, releases, signatures);
  const roles = await signRoles(request, targets);
  const parts = new Map([["targets", request.trust.targets], ...roles]);
  const snapshot = await signSnapshot(request, parts);
  const timestamp = await signTimestamp(request, snapshot);
  return [
    ...signatures,
    ...targets.map(({ path, bytes }) => ({ path: targetName(path, sha256(bytes)), bytes })),
    ...request.trust.roots.map(({ metadata, bytes }) => ({
      path: `metadata/${metadata.signed.version}.root.json`,
      bytes,
    })),
    ...[...parts].map(([role, part]) => ({ path: pathOf(role, part), bytes: part.bytes })),
    { path: pathOf("snapshot", snapshot), bytes: snapshot.bytes },
    { path: "metadata/timestamp.json", bytes: timestamp.bytes },
  ];
}

const pathOf = (role: string, { metadata }: AnySigned): string => metadataPath(role, metadata.signed.version);

function refuseProvisional({ provisional }: BuildDocument): void {
  if (provisional.length === 0) return;
  throw failure(
    "build-provisional",
    `the build has content that is not cut: ${provisional.join(", ")}`,
    "Build only cut releases: relcat build --released",
  );
}

function refuseUntrusted({ trust, online }: SignRequest): void {
  const root = trust.roots.at(-1)?.metadata.signed;
  const delegated = Object.keys(trust.targets.metadata.signed.delegations?.keys ?? {});
  const isTrusted = root?.roles.timestamp?.keyIDs.includes(online.id) && delegated.includes(online.id);
  if (isTrusted) return;
  throw failure(
    "key-untrusted",
    `the online key ${online.id.slice(0, 16)}… is not the one that releases/trust names`,
    `Sign with the private half of the key that is named. Was the key rotated? Then ${online.place} still has the old one: give it the newest online-*.pem of the keys folder.`,
  );
}

interface Release {
  version: string;
  document: ReleaseDocument;
  bytes: Uint8Array;
}

const releasePath = /^api\/v1\/release\/(\d{2}\.\d{2}\.\d{3})\/index\.json$/;

function releasesOf({ build, read }: SignRequest): Release[] {
  return Object.keys(build.files).flatMap((path) => {
    const version = releasePath.exec(path)?.[1];
    if (version === undefined) return [];
    const bytes = read(path);
    return [{ version, bytes, document: JSON.parse(new TextDecoder().decode(bytes)) }];
  });
}

/** Signed checksums and provenance, for verification without a TUF client. */
async function signReleases(request: SignRequest, releases: readonly Release[]): Promise<SignedFile[]> {
  const { build, read, online, principal, builder, vendor } = request;
  const files: SignedFile[] = [file("allowed_signers", allowedSigner(principal, online.publicKey))];
  for (const { version, document } of releases) {
    const sums = `releases/${version}/SHA256SUMS`;
    if (Object.hasOwn(build.files, sums))
      files.push(file(`${sums}.sig`, await sshSignature(online, read(sums))));
    if (builder === undefined) continue;
    const statement = provenanceStatement(document, builder, vendor);
    files.push(file(`releases/${version}/provenance.json`, await envelope(online, statement)));
  }
  return files;
}

const file = (path: string, text: string): SignedFile => ({ path, bytes: new TextEncoder().encode(text) });

/** Paths below `catalog/` and `releases/VERSION/`, as TUF names them. */
function targetsOf(
  request: SignRequest,
  releases: readonly Release[],
  signatures: readonly SignedFile[],
): SignedFile[] {
  const { build, buildBytes, read } = request;
  const owners = new Map(releases.flatMap(({ version, document }) => ownPaths(version, document)));
  const listed = new Map<string | undefined, Record<string, { sha256: string; size: number }>>();
  const put = (path: string, known: { sha256: string; size: number }) => {
    const owner = owners.get(path) ?? versionOf(path);
    const own = listed.get(owner) ?? {};
    own[path] = known;
    listed.set(owner, own);
  };
  for (const [path, known] of Object.entries(build.files)) if (!isHosting(path)) put(path, known);
  for (const { path, bytes } of [...signatures, { path: "build.json", bytes: buildBytes }]) {
    put(path, { sha256: sha256(bytes), size: bytes.length });
  }
  const filesOf = (version: string | undefined) => listText(listed.get(version) ?? {});
  return [
    { path: "catalog/index.json", bytes: read("api/v1/package/index.json") },
    { path: "catalog/latest.json", bytes: read("api/v1/latest.json") },
    { path: "catalog/files.json", bytes: filesOf(undefined) },
    ...releases.flatMap(({ version, bytes }) => [
      { path: `releases/${version}/release.json`, bytes },
      { path: `releases/${version}/files.json`, bytes: filesOf(version) },
    ]),
  ];
}

/** A release owns the record paths of its ids. */
function ownPaths(version: string, { packages, retracted }: ReleaseDocument): [string, string][] {
  const record = (id: number, name: string): [string, string] => [`api/v1/package/${id}/${name}`, version];
  return [
    ...packages.map(({ id }) => record(id, "index.json")),
    ...retracted.map(({ id }) => record(id, "gone.json")),
  ];
}

const versionOf = (path: string): string | undefined =>
  /^(?:api\/v1\/release|releases)\/(\d{2}\.\d{2}\.\d{3})\//.exec(path)?.[1];

function listText(files: Record<string, { sha256: string; size: number }>): Uint8Array {
  const sorted = Object.fromEntries(Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1)));
  return new TextEncoder().encode(`${JSON.stringify({ schema_version: 1, files: sorted })}\n`);
}

/** Delegated roles; unchanged ones with enough remaining lifetime are kept. */
async function signRoles(
  request: SignRequest,
  targets: readonly SignedFile[],
): Promise<Map<string, SignedTargets>> {
  const contents = contentsOf(targets, request.live);
  refuseUndelegated(request, contents);
  const roles = new Map<string, SignedTargets>();
  for (const [role, content] of contents) {
    const { live, online, now } = request;
    const current = live.roles.get(role);
    const version = current?.metadata.signed.version ?? 0;
    const same = current && roleContent(role, version, content, online.publicKey, now);
    const isKept =
      current &&
      same &&
      isSame(current, same) &&
      isNewest(live, role, version) &&
      !isDueNow(role, current, now);
    const made = () => roleContent(role, nextVersion(live, role), content, online.publicKey, now);
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
    if (own.length > mostTargets) {
      throw failure(
        "too-many-targets",
        `${month} has ${own.length} targets, expected at most ${mostTargets}`,
        "Release less often.",
      );
    }
    contents.set(month, { kind: "targets", targets: own });
  }
  return contents;
}

function refuseUndelegated({ trust }: SignRequest, contents: ReadonlyMap<string, RoleContent>): void {
  const delegated = trust.targets.metadata.signed.delegations?.roles ?? {};
  const missing = [...contents.keys()].filter(
    (role) => !role.includes(".") && !Object.hasOwn(delegated, role),
  );
  if (missing.length === 0) return;
  throw failure(
    "role-undelegated",
    `no role is responsible for ${missing.join(", ")} yet`,
    "Whoever has the targets key signs for more years: relcat trust sign",
  );
}

/** Far below the limit of 2^53 - 1, so that renewals are still possible until keys are rotated. */
const maxVersion = Number.MAX_SAFE_INTEGER - 1_000_000;

function nextVersion({ highest }: LiveMetadata, role: string): number {
  const version = (highest.get(role) ?? 0) + 1;
  if (version <= maxVersion) return version;
  throw failure(
    "versions-exhausted",
    `the live ${role} metadata has the version ${version - 1}, and no number is left above it`,
    "The online key signed a number that relcat never reaches by itself. Rotate that key: docs/runbooks/version-numbers-exhausted.md",
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

const isDueNow = (role: string, { metadata }: AnySigned, now: number): boolean =>
  isDue(role, metadata.signed.expires, now);

async function signSnapshot(
  { live, online, now }: SignRequest,
  parts: ReadonlyMap<string, SignedTargets>,
): Promise<SignedSnapshot> {
  const current = live.snapshot;
  const version = current?.metadata.signed.version ?? 0;
  const metaOf = (snapshot: Snapshot) => JSON.stringify((snapshot.toJSON() as { meta: unknown }).meta);
  const same = current && metaOf(current.metadata.signed) === metaOf(snapshotContent(version, parts, now));
  if (current && same && isNewest(live, "snapshot", version) && !isDueNow("snapshot", current, now))
    return current;
  return signed(snapshotContent(nextVersion(live, "snapshot"), parts, now), [online]);
}

async function signTimestamp(
  { live, online, now }: SignRequest,
  snapshot: SignedSnapshot,
): Promise<SignedTimestamp> {
  const current = live.timestamp;
  const version = current?.metadata.signed.version ?? 0;
  const isSameSnapshot = current?.metadata.signed.snapshotMeta.version === snapshot.metadata.signed.version;
  if (
    current &&
    isSameSnapshot &&
    isNewest(live, "timestamp", version) &&
    !isDueNow("timestamp", current, now)
  )
    return current;
  return signed(timestampContent(nextVersion(live, "timestamp"), snapshot, now), [online]);
}

import { createHash } from "node:crypto";
import type { Snapshot } from "@tufjs/models";
import { failure, type Problem, throwErrors } from "../../shared/errors.ts";
import type { Builder } from "../documents/config.ts";
import { type BuildDocument, securityPath, undatedSecurityPath } from "../documents/site.ts";
import { signatureNamespace } from "../documents/trust.ts";
import type { Signer } from "./keys.ts";
import type { LiveMetadata } from "./live-metadata.ts";
import {
  type AnySigned,
  hasSigned,
  metadataPath,
  type RoleContent,
  roleContent,
  type SignedSnapshot,
  type SignedTargets,
  type SignedTimestamp,
  sha256,
  signed,
  signingDate,
  snapshotContent,
  type Target,
  targetName,
  timestampContent,
} from "./metadata.ts";
import { envelope, provenanceStatement } from "./provenance.ts";
import {
  clockTolerance,
  day,
  isDue,
  moreYears,
  renewal,
  rolesOfRelease,
  type Signing,
  warningDays,
} from "./roles.ts";
import { timestampPath } from "./site-files.ts";
import {
  type BuiltFiles,
  type BuiltRelease,
  file,
  releasesOf,
  type SignedFile,
  targetsOf,
} from "./site-targets.ts";
import type { StoredTrust } from "./stores/trust-folder.ts";

interface SignRequest extends BuiltFiles, RolesRequest {
  /** Files that signing adds to package repositories. */
  feeds: readonly SignedFile[];
  /** Identity in signatures of checksum files, such as releases@example.com. */
  principal: string;
  /** Identity of the builder in the provenance; undefined: no provenance is written. */
  builder: Builder | undefined;
  /** Key in `data` that holds the source revision. */
  vendor: string;
}

/**
 * Writes nothing; the same request gives the same bytes.
 * @throws RelcatError for a provisional build, a key that is not trusted, a year without a delegation
 */
export async function decideSigning(request: SignRequest): Promise<SignedFile[]> {
  refuseProvisional(request.build);
  refuseUntrusted(request);
  refuseEndedTrust(request.trust, request.now);
  const releases = releasesOf(request);
  const signatures = [...(await signReleases(request, releases)), ...request.feeds, ...datedContact(request)];
  const targets = targetsOf(request, releases, signatures);
  const parts = new Map([["targets", request.trust.targets], ...(await signRoles(request, targets))]);
  const snapshot = await signSnapshot(request, parts);
  const timestamp = await signTimestamp(request, snapshot);
  return [
    ...signatures,
    ...targets.map(({ path, bytes }) => ({ path: targetName(path, sha256(bytes)), bytes })),
    ...request.trust.roots.map((root) => metadataFile("root", root)),
    ...Array.from(parts, ([role, part]) => metadataFile(role, part)),
    metadataFile("snapshot", snapshot),
    { path: timestampPath, bytes: timestamp.bytes },
  ];
}

const metadataFile = (role: string, { metadata, bytes }: AnySigned): SignedFile => ({
  path: metadataPath(role, metadata.signed.version),
  bytes,
});

function refuseProvisional({ provisional }: BuildDocument): void {
  if (provisional.length === 0) return;
  throw failure(
    "build-provisional",
    `the build has content that is not cut: ${provisional.join(", ")}`,
    "Build only cut releases: relcat build --released",
  );
}

/** @throws RelcatError key-untrusted */
export function refuseUntrusted({ trust, online }: Pick<SignRequest, "trust" | "online">): void {
  const root = trust.root.metadata.signed;
  if (!root.roles.timestamp?.keyIDs.includes(online.id))
    throw failure(
      "key-untrusted",
      `the online key ${online.id.slice(0, 16)}… is not the one that releases/trust names`,
      `Sign with the private half of the key that is named. Was the key rotated? Then ${online.place} still has the old one: give it the newest online-*.pem of the keys folder.`,
    );
  const targets = trust.targets.metadata;
  const isSigned = root.roles.targets?.keyIDs.some((id) => hasSigned(root.keys, id, targets));
  if (isSigned && Object.hasOwn(targets.signed.delegations?.keys ?? {}, online.id)) return;
  throw failure(
    "key-untrusted",
    `releases/trust/targets.json ${isSigned ? "names another online key than the newest root" : "is not signed by the targets key of the newest root"}`,
    `${renewal("targets")}, and commit releases/trust. Then run the command again.`,
  );
}

/** Clients reject whatever these have signed. @throws RelcatError trust-expired for each that has ended */
export const refuseEndedTrust = (trust: SignRequest["trust"], now: number): void =>
  throwErrors(endsOfTrust(trust, now));

/** The ends of root and targets that are over, or near: a renewal of the site does not move them. */
export function endsOfTrust({ root, targets }: SignRequest["trust"], now: number): Problem[] {
  return Object.entries({ root, targets }).flatMap(([role, { metadata }]): Problem[] => {
    const { expires } = metadata.signed;
    const left = Date.parse(expires) - now;
    if (left >= warningDays * day) return [];
    const ends = `${left > 0 ? "expires" : "expired"} on ${expires.slice(0, 10)}`;
    const message = `the ${role} metadata in releases/trust ${ends}, ${left > 0 ? "and then" : "so"} clients reject the site`;
    const hint = `${renewal(role)}, and commit releases/trust. Then run the command again.`;
    return [{ code: "trust-expired", severity: left > 0 ? "warning" : "error", message, hint }];
  });
}

/** Signed checksums and provenance, for verification without a TUF client. */
async function signReleases(request: SignRequest, releases: readonly BuiltRelease[]): Promise<SignedFile[]> {
  const { build, read, online, principal, builder, vendor } = request;
  const files: SignedFile[] = [file("allowed_signers", allowedSigner(principal, online.publicKey))];
  for (const { version, document } of releases) {
    const sums = `releases/${version}/SHA256SUMS`;
    if (Object.hasOwn(build.files, sums))
      files.push(file(`${sums}.sig`, await sshSignature(online, read(sums))));
    if (builder === undefined) continue;
    const provenance = await envelope(online, provenanceStatement(document, builder, vendor));
    files.push(file(`releases/${version}/provenance.json`, `${JSON.stringify(provenance)}\n`));
  }
  return files;
}

/**
 * security.txt with its end, which RFC 9116 wants less than a year away. It is the end of the tenth month after this
 * one, so that the daily signatures of a month give the same file.
 */
function datedContact({ build, read, now }: SignRequest): SignedFile[] {
  if (!Object.hasOwn(build.files, undatedSecurityPath)) return [];
  const today = new Date(now);
  const end = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 11, 1));
  const body = new TextDecoder().decode(read(undatedSecurityPath));
  return [file(securityPath, `${body}Expires: ${end.toISOString().slice(0, 19)}Z\n`)];
}

const magic = Buffer.from("SSHSIG");
const hash = "sha512";
const keyType = "ssh-ed25519";

/** @returns a detached signature that `ssh-keygen` verifies, armored (PROTOCOL.sshsig of OpenSSH) */
export async function sshSignature(signer: Signer, message: Uint8Array): Promise<string> {
  const digest = createHash(hash).update(message).digest();
  const covered = Buffer.concat([magic, ...[signatureNamespace, "", hash].map(field), field(digest)]);
  const signature = Buffer.concat([field(keyType), field(await signer.sign(covered))]);
  const fields = [publicBlob(signer.publicKey), signatureNamespace, "", hash, signature].map(field);
  const blob = Buffer.concat([magic, uint32(1), ...fields]).toString("base64");
  return `-----BEGIN SSH SIGNATURE-----\n${blob.replace(/.{1,70}/g, "$&\n")}-----END SSH SIGNATURE-----\n`;
}

/** A line of `allowed_signers` (ssh-keygen(1)). @param principal identity of the key, such as releases@example.com */
export const allowedSigner = (principal: string, publicKey: Uint8Array): string =>
  `${principal} namespaces="${signatureNamespace}" ${keyType} ${publicBlob(publicKey).toString("base64")}\n`;

const publicBlob = (publicKey: Uint8Array) => Buffer.concat([field(keyType), field(publicKey)]);

/** A string of the SSH wire format (RFC 4251, section 5). */
function field(value: string | Uint8Array): Buffer {
  const bytes = Buffer.from(value as string);
  return Buffer.concat([uint32(bytes.length), bytes]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

interface RolesRequest extends Signing {
  trust: Omit<StoredTrust, "pending">;
  live: LiveMetadata;
  online: Signer;
}

/** Delegated roles; unchanged ones with enough remaining lifetime are kept. */
async function signRoles(request: RolesRequest, targets: readonly SignedFile[]) {
  const contents = contentsOf(targets, request.live);
  refuseUndelegated(request, contents);
  const roles = new Map<string, SignedTargets>();
  for (const [role, content] of contents) {
    const { live, online } = request;
    const current = live.roles.get(role);
    const version = current?.metadata.signed.version ?? 0;
    const made = (number: number) => roleContent(role, number, content, online.publicKey, request);
    const isKept =
      current &&
      contentIn(current.metadata.signed) === contentIn(made(version)) &&
      isNewest(live, role, version) &&
      !isDue(role, current.metadata.signed.expires, request);
    roles.set(role, isKept ? current : await signed(made(nextVersion(live, role)), [online]));
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
  const contents = new Map<string, RoleContent>([["catalog", { targets: catalog }]]);
  const years = Map.groupBy([...months.keys()].sort(), (month) => month.slice(0, "releases-YY".length));
  for (const [year, names] of years) contents.set(year, { names });
  for (const [month, targets] of months) contents.set(month, { targets });
  return contents;
}

function refuseUndelegated({ trust }: RolesRequest, contents: ReadonlyMap<string, RoleContent>): void {
  const delegated = trust.targets.metadata.signed.delegations?.roles ?? {};
  const roles = [...contents.keys()].filter((role) => !role.includes("."));
  const missing = roles.filter((role) => !Object.hasOwn(delegated, role));
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
const contentIn = (role: SignedTargets["metadata"]["signed"]): string =>
  JSON.stringify({ ...role.toJSON(), version: 0, expires: "" });

/** Expiry alone does not show a clock that was ahead if `valid_days` was raised afterwards. */
function isGood(role: string, { metadata }: SignedSnapshot | SignedTimestamp, request: RolesRequest) {
  const { version, expires } = metadata.signed;
  const isFromFuture = (signingDate(metadata.signed) ?? 0) > request.now + clockTolerance;
  return isNewest(request.live, role, version) && !isDue(role, expires, request) && !isFromFuture;
}

async function signSnapshot(request: RolesRequest, parts: ReadonlyMap<string, SignedTargets>) {
  const { live, online } = request;
  const current = live.snapshot;
  const metaOf = (snapshot: Snapshot) => JSON.stringify((snapshot.toJSON() as { meta: unknown }).meta);
  const isSame = current && metaOf(current.metadata.signed) === metaOf(snapshotContent(1, parts, request));
  if (isSame && isGood("snapshot", current, request)) return current;
  return signed(snapshotContent(nextVersion(live, "snapshot"), parts, request), [online]);
}

async function signTimestamp(request: RolesRequest, snapshot: SignedSnapshot): Promise<SignedTimestamp> {
  const { live, online } = request;
  const current = live.timestamp;
  const isSame = current?.metadata.signed.snapshotMeta.version === snapshot.metadata.signed.version;
  if (isSame && isGood("timestamp", current, request)) return current;
  const version = nextVersion(live, "timestamp");
  return signed(timestampContent(version, snapshot, request, current?.metadata.signed), [online]);
}

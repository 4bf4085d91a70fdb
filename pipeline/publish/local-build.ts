import type { BuildDocument } from "../documents/site.ts";
import type { FileBytes, PublicFile } from "../documents/site-store.ts";
import { failure, type RelcatError } from "../errors.ts";
import type { Build } from "../trust/built-site.ts";
import { metadataPath, readSnapshot, readTargets, readTimestamp, sha256 } from "../trust/metadata.ts";
import { isHosting, publicFiles, sourceOf, timestampPath, withListAddress } from "../trust/site-files.ts";

/** Files that signing added, according to its list. */
interface SignedAdditions {
  build: string;
  files: Readonly<Record<string, { sha256: string; size: number }>>;
}

/** A completely verified build folder. */
export interface LocalBuild {
  folder: string;
  id: string;
  document: BuildDocument;
  /** SHA-256 of the list of signed files; null: not signed. */
  signed: string | null;
  files: PublicFile[];
  /** Configuration files for web servers. */
  hosting: FileBytes[];
  /** Verifies the file again when reading. @throws RelcatError build-changed */
  read(path: string): Uint8Array;
}

export interface LocalInput {
  folder: string;
  build: Build;
  signed: { list: SignedAdditions; bytes: Uint8Array } | undefined;
  read: (path: string) => Uint8Array | undefined;
  /** True if the list is also stored at its address itself. */
  isBucket: boolean;
}

/** @throws RelcatError build-changed, naming the first file that differs from the build or its signature */
export function localBuild({ folder, build, signed, read, isBucket }: LocalInput): LocalBuild {
  const id = sha256(build.bytes);
  const known: SignedAdditions["files"] = {
    ...build.document.files,
    ...(signed?.list.build === id ? signed.list.files : {}),
    "build.json": { sha256: id, size: build.bytes.length },
  };
  const checked = (path: string) => {
    const source = sourceOf(path);
    const bytes = read(source);
    if (bytes && sha256(bytes) === known[source]?.sha256) return bytes;
    throw failure(
      "build-changed",
      `${folder}/${source} is not what was built or signed`,
      "Build and sign again: relcat build --released, then relcat sign",
    );
  };
  // Web server configuration is not uploaded to a bucket.
  for (const path of Object.keys(known)) if (!isBucket || !isHosting(path)) checked(path);
  const files = publicFiles(known, build.document.provisional);
  return {
    folder,
    id,
    document: build.document,
    signed: signed?.list.build === id ? sha256(signed.bytes) : null,
    hosting: Object.entries(build.document.files)
      .filter(([path]) => isHosting(path))
      .map(([path, { sha256, size }]) => ({ path, sha256, size })),
    files: isBucket ? withListAddress(files) : files,
    read: checked,
  };
}

/** @throws RelcatError build-unsigned */
export function refuseUnsigned({ signed, folder }: LocalBuild, site: string): void {
  if (signed !== null) return;
  throw failure(
    "build-unsigned",
    `${folder} is not signed, or was built anew since, and catalog.yaml asks for signatures`,
    `Sign it, continuing from the published metadata: relcat sign --site ${site}`,
  );
}

/** A signed site must stay signed, because its readers check signatures. */
export const unsigned = (folder: string, site: string): RelcatError =>
  failure(
    "build-unsigned",
    `${site} is signed, and ${folder} is not`,
    `Sign it, continuing from the published metadata: relcat sign --site ${site}`,
  );

/** Metadata that the timestamp refers to, by path; roots are checked elsewhere. */
function signatures({ read }: LocalBuild) {
  const timestamp = read(timestampPath);
  const { version } = readTimestamp(timestamp).metadata.signed.snapshotMeta;
  const snapshotPath = metadataPath("snapshot", version);
  const snapshot = readSnapshot(read(snapshotPath));
  const roles = Object.entries(snapshot.metadata.signed.meta).map(
    ([name, meta]) => [name.slice(0, -".json".length), meta.version] as const,
  );
  return { timestamp, snapshot, roles };
}

/** Signatures may have expired between signing and publishing. @throws RelcatError build-unsigned */
export function refuseEndedSignatures(local: LocalBuild, site: string, now: number): void {
  const { timestamp, snapshot, roles } = signatures(local);
  const ends = [
    ["timestamp", readTimestamp(timestamp).metadata.signed.expires],
    ["snapshot", snapshot.metadata.signed.expires],
    ...roles.map(([role, version]) => {
      const part = readTargets(local.read(metadataPath(role, version)));
      return [role, part.metadata.signed.expires] as const;
    }),
  ] as const;
  const ended = ends.find(([, expires]) => Date.parse(expires) <= now);
  if (!ended) return;
  const [role, expires] = ended;
  throw failure(
    "build-unsigned",
    `${local.folder} was signed long ago: its ${role} has ended on ${expires}`,
    role === "targets"
      ? "Whoever has the targets key renews it: relcat trust sign"
      : `Sign it again: relcat sign --site ${site}`,
  );
}

/** Clients remember the highest versions and reject lower ones. @throws RelcatError site-newer */
export function refuseOlderSignatures(
  local: LocalBuild,
  live: { timestamp: Uint8Array; snapshot: Uint8Array } | undefined,
  site: string,
): void {
  if (!live) return;
  const own = signatures(local);
  if (sha256(own.timestamp) === sha256(live.timestamp)) return;
  const seen = readTimestamp(live.timestamp).metadata.signed;
  const here = new Map(own.roles);
  const behind = [
    ["timestamp", readTimestamp(own.timestamp).metadata.signed.version - 1, seen.version],
    ["snapshot", own.snapshot.metadata.signed.version, seen.snapshotMeta.version],
    ...Object.entries(readSnapshot(live.snapshot).metadata.signed.meta).map(([name, meta]) => {
      const role = name.slice(0, -".json".length);
      return [role, here.get(role) ?? 0, meta.version] as const;
    }),
  ] as const;
  const found = behind.find(([, ours, theirs]) => ours < theirs);
  if (!found) return;
  const [role, ours, theirs] = found;
  const version = role === "timestamp" ? ours + 1 : ours;
  throw failure(
    "site-newer",
    `${local.folder} was signed before the live build at ${site}: its ${role} has version ${version}, and there is ${theirs}`,
    `Sign it again, continuing from the published metadata: relcat sign --site ${site}`,
  );
}

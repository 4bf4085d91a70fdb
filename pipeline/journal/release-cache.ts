import { hash } from "node:crypto";
import { manifestSchema } from "../documents/manifest.ts";
import { failure, type Place, type Problem } from "../errors.ts";
import { onlyTheLast } from "../ledger/only-the-last.ts";
import type { AuthoredFiles } from "../project/authored-files.ts";
import type { ReleaseFiles } from "../project/discover.ts";
import { pathsOfRelease, readBytes } from "../project/parse.ts";
import type { Artifact, ArtifactDetails, Release } from "../records/normalize.ts";
import type { Cache } from "./cache.ts";
import type { InputTable } from "./input-table.ts";

/** What a release's files, the configuration and the program make of it, before ids: read, checked, normalized. */
export interface ReadRelease {
  release: Release;
  /** What kept files from being read, and conflicts between manifests. */
  problems: Problem[];
  /** What the rules say. */
  findings: Problem[];
}

/** Makes a release from the bytes of its files, which stand in the order of `pathsOfRelease`. */
export type MakeRelease = (contents: readonly Uint8Array[]) => ReadRelease;

export interface ReleaseCache {
  recall(files: ReleaseFiles, make: MakeRelease): Recalled;
  /** Keeps a release under the bytes it was made of, never under what lay there before or after. */
  keep(files: ReleaseFiles, packed: PackedRelease, make: MakeRelease): ReadRelease;
}

/** What was kept; or the bytes of the release's files, where they had to be read to know that nothing is. */
export type Recalled =
  | { kept: ReadRelease }
  | { kept: undefined; contents: readonly Uint8Array[] | undefined };

/** A release as it is kept, and as threads hand it over. */
export interface PackedRelease {
  /** Of the files that it was made of, in the order of `pathsOfRelease`. */
  digests: readonly string[];
  /** Two lines: everything but the artifacts' details, and those. */
  bytes: Uint8Array<ArrayBuffer>;
}

/** The release that somebody asked for last. */
interface Opened extends Pick<Release, "artifacts" | "notes"> {
  key: string;
  bytes: Uint8Array;
}

/**
 * Releases that were kept have no notes and artifacts at hand: they are read from the cache when somebody asks for them, a release
 * at a time, and their details, three quarters of a record, when somebody asks for those.
 * @param basis everything else that a result depends on: program, configuration, folder
 * @param inputs digests of files that did not change; it gets those of all
 */
export function releaseCache(
  cache: Cache,
  basis: string,
  root: string,
  files: AuthoredFiles,
  inputs: Pick<InputTable, "known" | "note">,
): ReleaseCache {
  const keyFor = (release: ReleaseFiles, digests: readonly string[]) => {
    for (const [index, path] of pathsOfRelease(release).entries()) inputs.note(path, digests[index] ?? "");
    return keyOf(basis, release, digests);
  };
  const read = (release: ReleaseFiles) => pathsOfRelease(release).map((path) => files.read(path));
  const detailsOf = onlyTheLast((bytes: Uint8Array) => parsed<ArtifactDetails[]>(bytes, 1));
  let opened: Opened | undefined;
  const kept = (key: string, bytes: Uint8Array, release: ReleaseFiles, make: MakeRelease): ReadRelease => {
    const { release: whole, ...found } = parsed<ReadRelease>(bytes, 0);
    const { artifacts, notes, ...head } = whole;
    const hashes = hashesOf(artifacts);
    const now = (): Opened => {
      if (opened?.key === key) return opened;
      // Somebody took the cache away meanwhile: what it held can still be made.
      const again =
        cache.get(key) ?? madeAgain(packRelease(read(release).map(orNothing), make), head.folder, hashes);
      return open(again, parsed<ReadRelease>(again, 0).release);
    };
    const open = (bytes: Uint8Array, { artifacts, notes }: Pick<Release, "artifacts" | "notes">): Opened => {
      withDetails(artifacts, () => detailsOf(now().bytes), root, files);
      opened = { key, bytes, artifacts, notes };
      return opened;
    };
    open(bytes, whole);
    return {
      ...found,
      release: {
        ...head,
        isReadBack: true,
        get notes() {
          return now().notes;
        },
        get artifacts() {
          return now().artifacts;
        },
      },
    };
  };
  return {
    recall(release, make) {
      const paths = pathsOfRelease(release);
      const known = paths.map((path) => inputs.known(path)).filter((digest) => digest !== undefined);
      // Read once: whoever is not kept is made of the same bytes.
      const contents = known.length === paths.length ? undefined : read(release);
      const key = keyFor(release, contents ? contents.map((file) => sha256(orNothing(file))) : known);
      const bytes = cache.get(key);
      const found = bytes && kept(key, bytes, release, make);
      if (found?.release.version === release.version) return { kept: found };
      return {
        kept: undefined,
        contents: contents?.every((file) => file !== undefined) ? contents : undefined,
      };
    },
    keep(release, packed, make) {
      const key = keyFor(release, packed.digests);
      cache.put(key, packed.bytes);
      return kept(key, packed.bytes, release, make);
    },
  };
}

export function packRelease(contents: readonly Uint8Array[], make: MakeRelease): PackedRelease {
  const read = make(contents);
  const details = read.release.artifacts.map((artifact) => artifact.details());
  const bytes = new TextEncoder().encode(`${JSON.stringify(read)}\n${JSON.stringify(details)}`);
  return { digests: contents.map(sha256), bytes };
}

/** Opens what another thread packed where nothing is kept: the details stay in its bytes until somebody asks for them. */
export function unpacking(root: string, files: AuthoredFiles): (packed: PackedRelease) => ReadRelease {
  const detailsOf = onlyTheLast((bytes: Uint8Array) => parsed<ArtifactDetails[]>(bytes, 1));
  return ({ bytes }) => {
    const read = parsed<ReadRelease>(bytes, 0);
    withDetails(read.release.artifacts, () => detailsOf(bytes), root, files);
    return read;
  };
}

function withDetails(
  artifacts: readonly Artifact[],
  detailsNow: () => readonly ArtifactDetails[],
  root: string,
  files: AuthoredFiles,
): void {
  for (const [index, artifact] of artifacts.entries())
    artifact.details = () => detailsNow()[index] ?? { data: {} };
  withoutSources(artifacts, root, files);
}

const sha256 = (bytes: Uint8Array | string) => hash("sha256", bytes);

const orNothing = (file: Uint8Array | undefined): Uint8Array => file ?? new Uint8Array();

/** @param digests in the order of `pathsOfRelease` */
const keyOf = (basis: string, release: ReleaseFiles, digests: readonly string[]): string =>
  sha256(
    JSON.stringify([
      basis,
      release.version,
      pathsOfRelease(release).map((path, index) => [path, digests[index]]),
    ]),
  );

const hashesOf = (artifacts: readonly Artifact[]): string =>
  sha256(artifacts.map(({ contentHash }) => contentHash).join());

/**
 * @param hashes of the release as it was kept
 * @throws RelcatError file-changed
 */
function madeAgain({ bytes }: PackedRelease, folder: string, hashes: string): Uint8Array {
  if (hashesOf(parsed<ReadRelease>(bytes, 0).release.artifacts) === hashes) return bytes;
  throw failure(
    "file-changed",
    `the files of ${folder} were changed while relcat read them`,
    "Run the command again.",
  );
}

function parsed<T>(bytes: Uint8Array, line: 0 | 1): T {
  const end = bytes.indexOf(10);
  const part = line === 0 ? bytes.subarray(0, end) : bytes.subarray(end + 1);
  return JSON.parse(new TextDecoder().decode(part));
}

/**
 * Artifacts that hold none of their files' text. Where something stands is looked up when a problem asks for it:
 * that is rare, and costs a manifest's second reading.
 */
export function withoutSources(artifacts: readonly Artifact[], root: string, files: AuthoredFiles): void {
  for (const artifact of artifacts) {
    const { origin } = artifact;
    artifact.place = () => placeOf(origin, root, files);
  }
}

function placeOf({ manifest, index }: Artifact["origin"], root: string, files: AuthoredFiles): Place {
  const bytes = files.read(manifest.slice(root.length + 1)) ?? new Uint8Array();
  const { document } = readBytes(manifest, bytes, manifestSchema);
  return document?.place(["artifacts", index]) ?? { file: manifest, line: 1, column: 1 };
}

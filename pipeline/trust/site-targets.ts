import { versionAfter } from "../../shared/version.ts";
import { type BuildDocument, type ReleaseDocument, versionsPath } from "../documents/site.ts";
import { channelTarget } from "../documents/site-paths.ts";
import { bytesOf, sha256 } from "./metadata.ts";
import { isHosting } from "./site-files.ts";

export interface BuiltFiles {
  build: BuildDocument;
  buildBytes: Uint8Array;
  read: (path: string) => Uint8Array;
}

export interface SignedFile {
  path: string;
  bytes: Uint8Array;
}

type FileDigests = Record<string, { sha256: string; size: number }>;

export interface BuiltRelease {
  version: string;
  document: ReleaseDocument;
  bytes: Uint8Array;
}

export const file = (path: string, text: string): SignedFile => ({ path, bytes: bytesOf(text) });

export function releasesOf({ build, read }: BuiltFiles): BuiltRelease[] {
  return Object.keys(build.files).flatMap((path) => {
    const version = versionAfter("api/v1/release/", path);
    if (version === undefined || !path.endsWith("/index.json")) return [];
    const bytes = read(path);
    return [{ version, bytes, document: JSON.parse(new TextDecoder().decode(bytes)) }];
  });
}

/** Paths below `catalog/` and `releases/VERSION/`, as TUF names them. */
export function targetsOf(
  { build, buildBytes, read }: BuiltFiles,
  releases: readonly BuiltRelease[],
  signatures: readonly SignedFile[],
): SignedFile[] {
  const owners = new Map(releases.flatMap(({ version, document }) => ownPaths(version, document)));
  const listed = new Map<string | undefined, FileDigests>();
  const put = (path: string, known: FileDigests[string]) => {
    const owner = owners.get(path) ?? versionOf(path);
    const own = listed.get(owner) ?? {};
    own[path] = known;
    listed.set(owner, own);
  };
  for (const [path, known] of Object.entries(build.files)) if (!isHosting(path)) put(path, known);
  for (const { path, bytes } of [...signatures, { path: "build.json", bytes: buildBytes }]) {
    put(path, { sha256: sha256(bytes), size: bytes.length });
  }
  const list = (path: string, version?: string) =>
    file(path, `${JSON.stringify({ schema_version: 1, files: sorted(listed.get(version) ?? {}) })}\n`);
  return [
    { path: "catalog/index.json", bytes: read("api/v1/package/index.json") },
    { path: "catalog/latest.json", bytes: read("api/v1/latest.json") },
    // Earlier versions of relcat do not write it; their builds can be signed again.
    ...(build.files[versionsPath] ? [{ path: "catalog/versions.json", bytes: read(versionsPath) }] : []),
    ...Object.keys(build.files).flatMap((file) => {
      const [, name] = /^api\/v1\/channel\/([^/]+)\.json$/.exec(file) ?? [];
      return name === undefined ? [] : [{ path: channelTarget(name), bytes: read(file) }];
    }),
    list("catalog/files.json"),
    ...releases.flatMap(({ version, bytes }) => [
      { path: `releases/${version}/release.json`, bytes },
      list(`releases/${version}/files.json`, version),
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
  versionAfter("api/v1/release/", path) ?? versionAfter("releases/", path);

/** Files of a list, ascending by path. */
export const sorted = (files: FileDigests): FileDigests =>
  Object.fromEntries(Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1)));

import { failure, type Problem } from "../../shared/errors.ts";
import { type ArtifactDocument, documentAddress } from "../../shared/package-metadata.ts";
import type { Settings } from "../documents/config.ts";
import type { Manifest, WrittenArtifact } from "../documents/manifest.ts";
import type { MeasuredFile } from "../documents/object-store.ts";
import { pathBelow } from "../documents/relative-path.ts";
import { isInOwnFolder } from "../documents/site-paths.ts";
import type { SiteSettings } from "../documents/sites.ts";
import { type FoundFile, problem, wholeFile } from "../intake/ingest/evidence.ts";
import type { Seen } from "../intake/ingest/measure.ts";
import { artifactUrl } from "../ledger/publish-records.ts";
import type { Located } from "../project/document.ts";
import { type PathInfo, pathInfo } from "../system/input-files.ts";

interface Entry {
  manifest: Located<Manifest>;
  index: number;
  written: WrittenArtifact;
}

export interface NamedFile {
  path: string;
  file: string;
  /** Artifacts of this name; several if build jobs share one. */
  entries: readonly [Entry, ...Entry[]];
  /** Set if it is a document of the first entry, and not the artifact itself. */
  document?: ArtifactDocument | undefined;
}

/** A file after reading and, if it has a policy, inspection. */
export interface ReadFile extends MeasuredFile {
  seen?: Seen | undefined;
}

export interface Upload extends NamedFile, ReadFile {
  url: string;
  /** Path at the site. */
  key: string;
}

interface Destination {
  /** Private files become readable for anyone who knows the address, so they must be requested. */
  withPrivate: boolean;

  config: Pick<Settings, "artifactUrl">;
  site: SiteSettings;
  version: string;
}

/**
 * Matches files to artifacts of manifests by name; others are refused, because an upload cannot be taken back.
 * @throws RelcatError usage for two files of one name
 */
export function nameFiles(
  found: readonly FoundFile[],
  manifests: readonly Located<Manifest>[],
  version: string,
): { files: NamedFile[]; unusable: Problem[]; unnamed: Problem[] } {
  const files: NamedFile[] = [];
  const places = new Map<string, { path: string; realPath: string }>();
  const [unusable, unnamed]: [Problem[], Problem[]] = [[], []];
  for (const { name: file, paths } of found) {
    const path = paths.find((each) => pathInfo(each).kind !== "missing") ?? paths[0] ?? file;
    const { realPath, kind, size } = pathInfo(path);
    const before = places.get(file);
    if (before?.realPath === realPath) continue;
    if (before)
      throw failure(
        "usage",
        `${before.path} and ${path} would both be ${file}`,
        "Give each name once: a release has one file of a name.",
      );
    places.set(file, { path, realPath });
    unusable.push(...inputProblems(path, kind, size));
    const [first, ...others] = entriesOf(file, manifests);
    const document = first?.written.documents?.find((each) => each.file === file);
    if (first) files.push({ path, file, entries: [first, ...others], document });
    else unnamed.push(unmatched(path, file, manifests, version));
  }
  return { files, unusable, unnamed };
}

const entriesOf = (file: string, manifests: readonly Located<Manifest>[]): Entry[] =>
  manifests.flatMap((manifest) =>
    manifest.value.artifacts.flatMap((written, index) =>
      namesOf(written).includes(file) ? [{ manifest, index, written }] : [],
    ),
  );

/** A warning for each manifest of which some files are given, but not all. Manifests of other jobs do not count. */
export function incomplete(
  manifests: readonly Located<Manifest>[],
  files: readonly Pick<NamedFile, "file">[],
): Problem[] {
  return manifests.flatMap((manifest): Problem[] => {
    const left = notGiven(manifest.value, files);
    if (left.length === 0 || left.length === manifest.value.artifacts.flatMap(namesOf).length) return [];
    const some =
      left.length > 10 ? `${left.slice(0, 10).join(", ")} and ${left.length - 10} more` : left.join(", ");
    const message = `this manifest also names ${some}: not given, so not uploaded`;
    const hint = "Upload the rest from where it was built. relcat release refuses while it is missing.";
    return [{ ...problem("artifact-missing", wholeFile(manifest.file), message, hint), severity: "warning" }];
  });
}

export function notGiven(manifest: Manifest, files: readonly Pick<NamedFile, "file">[]): string[] {
  const given = new Set(files.map(({ file }) => file));
  return manifest.artifacts.flatMap(namesOf).filter((name) => !given.has(name));
}

const isPrivate = ({ exclude_from_api, only_for_account = null }: WrittenArtifact): boolean =>
  exclude_from_api === true || only_for_account !== null;

const nameOf = ({ file, name }: WrittenArtifact): string => file ?? name;

/** Names of the artifact and of its documents. */
export const namesOf = (artifact: WrittenArtifact): string[] => [
  nameOf(artifact),
  ...(artifact.documents ?? []).map(({ file }) => file),
];

/**
 * Plans destinations, and compares files with manifests and policy. @throws RelcatError config-url
 * @param measured by path; undefined before reading, to report problems that do not depend on bytes
 */
export function planUpload(
  files: readonly NamedFile[],
  measured: ReadonlyMap<string, ReadFile> | undefined,
  to: Destination,
): { uploads: Upload[]; problems: Problem[] } {
  const problems: Problem[] = [];
  const uploads = files.map((named) => {
    const { sha256, size, seen }: ReadFile = measured?.get(named.path) ?? { sha256: "0".repeat(64), size: 0 };
    for (const entry of named.entries) {
      if (!to.withPrivate && isPrivate(entry.written)) problems.push(hidden(named.file, entry));
      const stated = named.document?.sha256 ?? entry.written.sha256;
      if (measured && stated !== "unknown" && stated !== sha256)
        problems.push(mismatch(named.file, stated, sha256, entry));
    }
    problems.push(...(seen?.problems ?? []));
    return { ...named, sha256, size, seen, ...addressOf(named, sha256, to) };
  });
  return { uploads, problems };
}

/** Adds url, size, checksum and inspection result of the uploaded files to the manifest. */
export function withUploads(manifest: Manifest, uploads: readonly Upload[]): Manifest {
  const byName = new Map(uploads.map((upload) => [upload.file, upload]));
  const artifacts = manifest.artifacts.map((artifact) => {
    const upload = byName.get(nameOf(artifact));
    if (!upload) return artifact;
    const { sha256, size, url, seen } = upload;
    return { ...artifact, sha256, size, url, ...(seen && { inspected: seen.inspected }) };
  });
  return { ...manifest, artifacts };
}

function addressOf(
  { file: own, document, entries: [{ written }] }: NamedFile,
  sha256: string,
  { config, site, version }: Destination,
): { url: string; key: string } {
  const [file, checksum] = document ? [nameOf(written), written.sha256] : [own, sha256];
  const template = config.artifactUrl;
  const refused = (what: string, hint: string) =>
    failure("config-url", `artifact_url of catalog.yaml ${what}`, hint);
  if (template.includes("{id}"))
    throw refused(
      `is ${template}: ids are given after files are uploaded`,
      "Remove {id} from it, or upload the files by other means once they have ids.",
    );
  const { name, package_type } = written;
  const parts = { version, name, package_type, id: 0, checksum };
  const address = artifactUrl(parts, file, { artifactUrl: template, baseUrl: site.baseUrl });
  const url = document ? documentAddress(address, file, document) : address;
  const key = pathBelow(site.baseUrl, url);
  if (key === undefined)
    throw refused(
      `leads to ${url}, which is not below ${site.baseUrl} of the site ${site.name}`,
      "relcat does not upload such artifacts. To upload them, begin artifact_url with {base_url}.",
    );
  if (site.place.kind === "dir" && !key.startsWith("files/"))
    throw refused(
      `puts artifacts at ${key}, but the site ${site.name} (${site.url}) has them below files/`,
      "Begin artifact_url with {base_url}/files/.",
    );
  if (isInOwnFolder(key) || !key.includes("/"))
    throw refused(
      `puts artifacts at ${key}, among the documents of the site ${site.name}`,
      "Give them a folder of their own: begin artifact_url with {base_url}/files/.",
    );
  return { url, key };
}

const hidden = (file: string, { manifest, index }: Entry): Problem => ({
  code: "record-private",
  severity: "error",
  message: `${file} belongs to a private record, and anyone who knows its address could download it`,
  hint: "Leave it out, and upload it by other means with its url in the manifest; or give --with-private.",
  at: manifest.place(["artifacts", index]),
});

function unmatched(path: string, file: string, manifests: readonly Located<Manifest>[], version: string) {
  const names = manifests.flatMap(({ value }) => value.artifacts.flatMap(namesOf));
  const some = names.length > 5 ? `${names.slice(0, 5).join(", ")} …` : names.join(", ");
  const known = names.length > 0 ? ` Named are ${some}.` : "";
  return problem(
    "artifact-unmatched",
    wholeFile(path),
    `no manifest of ${version} names ${file}, and a published file cannot be taken back`,
    `Run relcat ingest --release ${version} for it first, or exclude it with ignore: in catalog.yaml.${known}`,
  );
}

function inputProblems(path: string, kind: PathInfo["kind"], size: number): Problem[] {
  const of = (code: Problem["code"], message: string, hint: string): Problem[] => [
    { code, severity: "error", message, hint },
  ];
  if (kind === "missing")
    return of(
      "input-missing",
      `there is no file ${path}`,
      "Give the file itself, or the folder that has it.",
    );
  if (kind !== "file")
    return of(
      "input-missing",
      `${path} is a ${kind}, expected a file people can download`,
      "Name the files inside, or pack it.",
    );
  if (size > 0) return [];
  return of(
    "artifact-empty",
    `${path} is empty`,
    "A build that wrote nothing has failed, even if it reported success.",
  );
}

const mismatch = (file: string, expected: string, found: string, { manifest, index }: Entry): Problem => ({
  code: "checksum-mismatch",
  severity: "error",
  message: `${file} has SHA-256 ${found}, expected ${expected}, as its manifest says`,
  hint: "Was it built again, or is it another file? Run relcat ingest on this one, or give the one that was ingested.",
  at: manifest.place(["artifacts", index, "sha256"]),
});

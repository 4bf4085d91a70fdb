import { basename } from "node:path/posix";
import type { Config } from "../documents/config.ts";
import { type ArtifactDocument, documentAddress } from "../documents/feeds/package-metadata.ts";
import type { Manifest, WrittenArtifact } from "../documents/manifest.ts";
import type { MeasuredFile } from "../documents/object-store.ts";
import { pathBelow } from "../documents/relative-path.ts";
import { isInOwnFolder } from "../documents/site-paths.ts";
import type { SiteSettings } from "../documents/sites.ts";
import { failure, type Problem, throwErrors } from "../errors.ts";
import type { Seen } from "../intake/ingest/measure.ts";
import { artifactUrl } from "../ledger/publish-records.ts";
import type { Located } from "../project/document.ts";

/** A file to upload, with its manifest entry. */
export interface NamedFile {
  path: string;
  /** Download name. */
  file: string;
  /** Index of its manifest entry; undefined without a manifest. */
  index: number | undefined;
  /** Set if it is a document of that entry, and not the artifact itself. */
  document?: ArtifactDocument | undefined;
}

/** A file after reading and, if it has a policy, inspection. */
export interface ReadFile extends MeasuredFile {
  seen?: Seen | undefined;
}

/** A file with its destination. */
export interface Upload extends NamedFile, ReadFile {
  url: string;
  /** Path at the site. */
  key: string;
}

export interface Destination {
  /** Private files become readable for anyone who knows the address, so they must be requested. */
  withPrivate: boolean;

  config: Pick<Config, "artifactUrl">;
  site: SiteSettings;
  version: string;
  manifest: Located<Manifest> | undefined;
}

/**
 * Matches files to artifacts by name.
 * @throws RelcatError usage, artifact-unmatched
 */
export function nameFiles(paths: readonly string[], manifest: Located<Manifest> | undefined): NamedFile[] {
  const files = new Map<string, NamedFile>();
  const problems: Problem[] = [];
  for (const path of paths) {
    const file = basename(path);
    const before = files.get(file);
    if (before) throw twice(file, before.path, path);
    const index = manifest?.value.artifacts.findIndex((each) => namesOf(each).includes(file));
    if (manifest && index === -1) problems.push(unmatched(path, manifest));
    const documents = manifest?.value.artifacts[index ?? -1]?.documents;
    files.set(file, { path, file, index, document: documents?.find((each) => each.file === file) });
  }
  throwErrors(problems);
  return [...files.values()];
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
 * Plans destinations, and checks files against manifest and policy. Also called before files are read, to
 * report problems that do not depend on their bytes.
 * @param measured by path; undefined before reading
 * @throws RelcatError config-url, usage, record-private, checksum-mismatch, policy-refused, ingest-conflict
 */
export function planUpload(
  files: readonly NamedFile[],
  measured: ReadonlyMap<string, ReadFile> | undefined,
  to: Destination,
): Upload[] {
  const problems: Problem[] = [];
  const uploads = files.map((named) => {
    const written = named.index === undefined ? undefined : to.manifest?.value.artifacts[named.index];
    if (written && to.manifest && isPrivate(written) && !to.withPrivate)
      problems.push(hidden(named, to.manifest));
    const { sha256, size, seen }: ReadFile = measured?.get(named.path) ?? { sha256: "0".repeat(64), size: 0 };
    const stated = named.document?.sha256 ?? written?.sha256 ?? "unknown";
    if (measured && to.manifest && stated !== "unknown" && stated !== sha256)
      problems.push(mismatch(named, stated, sha256, to.manifest));
    problems.push(...(seen?.problems ?? []));
    return { ...named, sha256, size, seen, ...addressOf(named, sha256, written, to) };
  });
  throwErrors(problems);
  return uploads;
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
  { file: own, document }: NamedFile,
  sha256: string,
  written: WrittenArtifact | undefined,
  { config, site, version }: Destination,
): { url: string; key: string } {
  const [file, checksum] = document && written ? [nameOf(written), written.sha256] : [own, sha256];
  const template = config.artifactUrl;
  if (template.includes("{id}"))
    throw failure(
      "config-url",
      `artifact_url of catalog.yaml is ${template}: ids are given after files are uploaded`,
      "Remove {id} from it, or upload the files by other means once they have ids.",
    );
  const unknown = written ? undefined : /\{(name|package_type)\}/.exec(template)?.[0];
  if (unknown !== undefined)
    throw failure(
      "usage",
      `artifact_url of catalog.yaml is ${template}: nothing says what ${unknown} of ${file} is`,
      "Give the manifest it is in with --manifest.",
    );
  const { name = file, package_type = "" } = written ?? {};
  const parts = { version, name, package_type, id: 0, checksum };
  const address = artifactUrl(parts, file, { artifactUrl: template, baseUrl: site.baseUrl });
  const url = document ? documentAddress(address, file, document) : address;
  const key = pathBelow(site.baseUrl, url);
  if (key === undefined) throw elsewhere(url, site);
  if (site.place.kind === "dir" && !key.startsWith("files/")) throw notServed(key, site);
  if (isInOwnFolder(key) || !key.includes("/")) throw notFree(key, site);
  return { url, key };
}

const elsewhere = (url: string, { name, baseUrl }: SiteSettings) =>
  failure(
    "config-url",
    `artifact_url of catalog.yaml leads to ${url}, which is not below ${baseUrl} of the site ${name}`,
    "relcat does not upload such artifacts. To upload them, begin artifact_url with {base_url}.",
  );

const notServed = (key: string, { name, url }: SiteSettings) =>
  failure(
    "config-url",
    `artifact_url of catalog.yaml puts artifacts at ${key}, but the site ${name} (${url}) has them below files/`,
    "Begin artifact_url with {base_url}/files/.",
  );

const notFree = (key: string, { name }: SiteSettings) =>
  failure(
    "config-url",
    `artifact_url of catalog.yaml puts artifacts at ${key}, among the documents of the site ${name}`,
    "Give them a folder of their own: begin artifact_url with {base_url}/files/.",
  );

const hidden = ({ file, index }: NamedFile, manifest: Located<Manifest>): Problem => ({
  code: "record-private",
  severity: "error",
  message: `${file} belongs to a private record, and anyone who knows its address could download it`,
  hint: "Leave it out, and upload it by other means with its url in the manifest; or give --with-private.",
  at: manifest.place(["artifacts", index ?? 0]),
});

const twice = (file: string, one: string, other: string) =>
  failure(
    "usage",
    `${one} and ${other} would both be ${file}`,
    "Give each name once: a release has one file of a name.",
  );

function unmatched(path: string, { file, value }: Located<Manifest>): Problem {
  const names = value.artifacts.flatMap(namesOf);
  const some = names.length > 5 ? `${names.slice(0, 5).join(", ")} …` : names.join(", ");
  return {
    code: "artifact-unmatched",
    severity: "error",
    message: `${file} has no artifact ${basename(path)}`,
    hint: names.length === 0 ? "It has none: run relcat ingest first." : `It has ${some}.`,
  };
}

const mismatch = (
  { file, index }: NamedFile,
  expected: string,
  found: string,
  manifest: Located<Manifest>,
): Problem => ({
  code: "checksum-mismatch",
  severity: "error",
  message: `${file} has SHA-256 ${found}, expected ${expected}, as its manifest says`,
  hint: "Was it built again, or is it another file? Run relcat ingest on this one, or give the one that was ingested.",
  at: manifest.place(["artifacts", index ?? 0, "sha256"]),
});

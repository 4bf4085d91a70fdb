import { basename } from "node:path/posix";
import type { Config } from "../documents/config.ts";
import { cacheControl, mediaType } from "../documents/file-headers.ts";
import { type Manifest, manifestSchema } from "../documents/manifest.ts";
import type { ArtifactPlace } from "../documents/object-store.ts";
import type { SiteSettings } from "../documents/sites.ts";
import { failure, type Problem, RelcatError, throwErrors } from "../errors.ts";
import type { FileWithNeighbours } from "../inspect/sibling-files.ts";
import { manifestText } from "../intake/ingest/manifest-text.ts";
import { type Progress, readCopies } from "../intake/ingest/measure.ts";
import { signedFileOf } from "../intake/ingest/signed-file.ts";
import { unlistedFiles } from "../intake/other-manifest.ts";
import { catalogFile, loadConfiguration } from "../project/configuration.ts";
import type { Located } from "../project/document.ts";
import { readBytes } from "../project/parse.ts";
import { siteNamed } from "../project/site-named.ts";
import { readIfPresent, replaceDurably } from "../system/files.ts";
import { pathInfo } from "../system/input-files.ts";
import { withLock } from "../system/lock.ts";
import type { Surroundings } from "../system/surroundings.ts";
import type { Standard, uploadInspector } from "./inspect-uploads.ts";
import { artifactFolder } from "./stores/artifact-folder.ts";
import { objectTaken } from "./stores/object-taken.ts";
import {
  type NamedFile,
  nameFiles,
  namesOf,
  planUpload,
  type ReadFile,
  type Upload,
  withUploads,
} from "./upload-plan.ts";

export interface UploadRequest {
  files: readonly string[];
  site: string;
  /** Optional if a manifest names it. */
  version?: string | undefined;
  /** Chooses the release if neither `version` nor the manifest names one. */
  openRelease?: (() => Promise<string>) | undefined;
  /** Manifest of the files, to which new facts are added. */
  manifest?: string | undefined;
  /** Include files of private records. */
  withPrivate?: boolean | undefined;
  /** Path or URL of another catalog.yaml. */
  config?: string | undefined;
  dryRun: boolean;
}

export interface UploadSurroundings extends Pick<Surroundings, "clock" | "pid" | "onWait"> {
  environment: Readonly<Record<string, string | undefined>>;
  onReading: (progress: Progress) => void;
  onUploading: (progress: Progress) => void;
}

export interface UploadDelivery {
  place: string;
  version: string;
  /** "absent" only in a dry run. */
  uploads: (Upload & { result: "uploaded" | "present" | "absent" })[];
  manifest: { file: string; result: "replaced" | "unchanged"; notGiven: string[] } | undefined;
  /** Files that no manifest of the release lists, as they were given; [] if a manifest was given. */
  unlisted: string[];
  /** Signatures that belong to files of the manifest, and those files. */
  leftOut: string[];
  warnings: Problem[];
}

/**
 * Uploads artifacts to a site, each once and completely: name → read, inspect → check → send → record. If any
 * file is refused, none is sent.
 * @param folder the releases folder; optional if a configuration is given
 * @throws RelcatError with every problem found before files are read, then with every problem found before
 * any is sent
 */
export async function upload(
  folder: string,
  request: UploadRequest,
  surroundings: UploadSurroundings,
): Promise<UploadDelivery> {
  const config = await loadConfiguration(folder, request.config);
  const site = siteNamed(config, request.site);
  const manifest = request.manifest === undefined ? undefined : readManifest(request.manifest);
  const version = await versionOf(request, manifest);
  const signed = (path: string) => manifest && signedBy(path, config, manifest);
  const signatures = request.files.filter((path) => signed(path) !== undefined);
  const files = nameFiles(
    request.files.filter((path) => !signatures.includes(path)),
    manifest,
  );
  const names = files.map(({ file }) => file);
  const unlisted = manifest ? [] : await unlistedFiles(folder, version, names);
  const to = { config, site, version, manifest, withPrivate: request.withPrivate === true };
  planUpload(files, undefined, to);
  const inspect = await inspectorFor(files, folder, request, { ...to, clock: surroundings.clock });
  const planned = planUpload(files, await readAll(files, surroundings.onReading, inspect), to);
  const place = await openPlace(site, surroundings.environment);
  const present = await presentAt(place, planned);
  const uploads = request.dryRun
    ? planned.map((each) => ({ ...each, result: present.has(each.key) ? "present" : "absent" }) as const)
    : await sendAll(place, planned, surroundings.onUploading);
  const written =
    manifest &&
    (request.dryRun ? "unchanged" : await writeDown(folder, manifest.file, planned, surroundings));
  return {
    place: place.place,
    version,
    uploads,
    manifest: manifest &&
      written && { file: manifest.file, result: written, notGiven: notGiven(manifest.value, planned) },
    unlisted: files.flatMap(({ file, path }) => (unlisted.includes(file) ? [path] : [])),
    leftOut: signatures.map((path) => `${basename(path)} (the signature of ${signed(path)})`),
    warnings: planned.flatMap(({ seen }) => seen?.problems ?? []),
  };
}

/** The file that a detached signature covers, unless the manifest lists the signature itself. */
function signedBy(path: string, config: Config, { value }: Located<Manifest>): string | undefined {
  const isListed = value.artifacts.some((each) => namesOf(each).includes(basename(path)));
  return isListed ? undefined : signedFileOf(path, config);
}

type UploadInspector = Awaited<ReturnType<typeof uploadInspector>>;

/** Loads the inspection code only if there are signers. */
async function inspectorFor(
  files: readonly NamedFile[],
  folder: string,
  request: UploadRequest,
  standard: Omit<Standard, "catalog">,
): Promise<UploadInspector | undefined> {
  if (standard.config.policies.size === 0) return undefined;
  const { uploadInspector } = await import("./inspect-uploads.ts");
  return uploadInspector(files, { ...standard, catalog: catalogFile(folder, request.config) });
}

function readManifest(file: string): Located<Manifest> {
  if (!file.endsWith(".json"))
    throw failure(
      "usage",
      `--manifest ${file} is not a JSON document: writing to it would lose its comments`,
      "Give the manifest that relcat ingest wrote.",
    );
  const bytes = readIfPresent(file);
  if (!bytes) throw failure("input-missing", `there is no file ${file}`, "Give what relcat ingest wrote.");
  const { document, problems } = readBytes(file, bytes, manifestSchema);
  throwErrors(problems);
  if (document) return document;
  throw failure("input-missing", `${file} is empty`, "Give what relcat ingest wrote.");
}

async function versionOf(
  { version, openRelease, manifest: file }: UploadRequest,
  manifest: Located<Manifest> | undefined,
) {
  const found = manifest?.value.release ?? version ?? (await openRelease?.());
  if (found === undefined)
    throw failure(
      "usage",
      "nothing says which release the files belong to",
      "Give --release 26.08.002, or the manifest they are in with --manifest.",
    );
  if (version === undefined || version === found) return found;
  throw failure(
    "release-mismatch",
    `${file} is of release ${found}, expected ${version}, as --release says`,
    "Leave --release out, or give the manifest of that release.",
  );
}

async function readAll(
  files: readonly NamedFile[],
  onReading: (progress: Progress) => void,
  inspect: UploadInspector | undefined,
) {
  const infos = files.map((file) => ({ ...file, ...pathInfo(file.path) }));
  throwErrors(infos.flatMap(inputProblems));
  const copies = infos.map(({ path, file, index, size }) => ({
    path,
    name: path,
    size,
    readFacts:
      inspect &&
      (async (opened: FileWithNeighbours) => ({ seen: await inspect({ path, file, index }, opened) })),
  }));
  const read = await readCopies(copies, onReading);
  return new Map<string, ReadFile>(
    read.map(({ path, sha256, size, seen }) => [path, { sha256, size, seen }]),
  );
}

function inputProblems({ path, kind, size }: { path: string; kind: string; size: number }): Problem[] {
  const of = (code: Problem["code"], message: string, hint: string): Problem[] => [
    { code, severity: "error", message, hint },
  ];
  if (kind === "missing") return of("input-missing", `there is no file ${path}`, "Check the path.");
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

async function openPlace({ place }: SiteSettings, environment: UploadSurroundings["environment"]) {
  if (place.kind === "dir") return artifactFolder(place.folder);
  const { openS3Store } = await import("./stores/s3-store.ts");
  return openS3Store(place, environment);
}

/** @throws RelcatError object-taken with every name that already has other bytes */
async function presentAt(place: ArtifactPlace, uploads: readonly Upload[]): Promise<Set<string>> {
  const present = new Set<string>();
  const problems: Problem[] = [];
  for (const { key, ...file } of uploads) {
    const found = await place.compare(key, file);
    if (found === "same") present.add(key);
    if (found === "other") problems.push(...objectTaken(`${place.place}/${key}`).problems);
  }
  if (problems.length > 0) throw new RelcatError(problems);
  return present;
}

async function sendAll(
  place: ArtifactPlace,
  uploads: readonly Upload[],
  onUploading: (progress: Progress) => void,
) {
  const total = uploads.reduce((bytes, { size }) => bytes + size, 0);
  const sent: UploadDelivery["uploads"] = [];
  let before = 0;
  for (const each of uploads) {
    const { path, key, sha256, size } = each;
    const result = await place.uploadFile(key, path, {
      sha256,
      size,
      contentType: mediaType(key),
      cacheControl: cacheControl.upload,
      onProgress: (done) => onUploading({ file: path, done: before + done, total }),
    });
    sent.push({ ...each, result });
    before += size;
  }
  return sent;
}

/** Reads the manifest again, because concurrent uploads of the job may have changed it. */
function writeDown(
  folder: string,
  file: string,
  uploads: readonly Upload[],
  { pid, onWait }: UploadSurroundings,
): "replaced" | "unchanged" | Promise<"replaced" | "unchanged"> {
  const write = () => {
    const { value } = readManifest(file);
    const bytes = new TextEncoder().encode(manifestText(withUploads(value, uploads)));
    if (Buffer.compare(readIfPresent(file) ?? new Uint8Array(), bytes) === 0) return "unchanged" as const;
    replaceDurably(file, bytes);
    return "replaced" as const;
  };
  return file.startsWith(`${folder}/`) ? withLock(folder, pid, onWait, write) : write();
}

function notGiven(manifest: Manifest, uploads: readonly Upload[]): string[] {
  const given = new Set(uploads.map(({ file }) => file));
  return manifest.artifacts.flatMap(namesOf).filter((name) => !given.has(name));
}

import { basename } from "node:path/posix";
import { documentMediaType } from "../../inspect/documents.ts";
import { failure, type Problem, RelcatError, throwErrors } from "../../shared/errors.ts";
import { cacheControl, mediaType } from "../documents/file-headers.ts";
import { type Manifest, manifestSchema } from "../documents/manifest.ts";
import type { ArtifactPlace } from "../documents/object-store.ts";
import type { SiteSettings } from "../documents/sites.ts";
import { readEvidence } from "../intake/ingest/inputs.ts";
import { manifestText } from "../intake/ingest/manifest-text.ts";
import { readCopies } from "../intake/ingest/measure.ts";
import { releaseManifests } from "../intake/ingest/other-manifest.ts";
import type { FileWithNeighbours } from "../policy/sibling-files.ts";
import type { Located } from "../project/document.ts";
import { readBytes } from "../project/parse.ts";
import { catalogFile, loadSettings, siteNamed } from "../project/settings.ts";
import { readIfPresent, replaceDurably, requireFolder } from "../system/files.ts";
import type { Reading, ReadProgress } from "../system/in-parallel.ts";
import { pathInfo } from "../system/input-files.ts";
import { type CommandContext, withLock } from "../system/lock.ts";
import type { uploadInspector } from "./inspect-uploads.ts";
import { artifactFolder } from "./stores/artifact-folder.ts";
import { objectTaken } from "./stores/object-taken.ts";
import {
  incomplete,
  type NamedFile,
  nameFiles,
  namesOf,
  notGiven,
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
  withPrivate?: boolean | undefined;
  /** Path or URL of another catalog.yaml. */
  config?: string | undefined;
  dryRun: boolean;
}

interface UploadContext extends Pick<CommandContext, "clock" | "pid" | "onWait"> {
  environment: Readonly<Record<string, string | undefined>>;
  reading: Reading;
  onUploading: (progress: ReadProgress) => void;
}

export interface UploadDelivery {
  place: string;
  version: string;
  /** "absent" only in a dry run. */
  uploads: (Upload & { result: "uploaded" | "present" | "absent" })[];
  manifest: { file: string; result: "replaced" | "unchanged"; notGiven: string[] } | undefined;
  /** Files that are not for download, with reasons. */
  leftOut: string[];
  warnings: Problem[];
}

/**
 * Uploads artifacts to a site, each once and completely: find → name → read, inspect → compare with the manifests →
 * send → record. If any file is refused, none is sent.
 * @param folder the releases folder; optional if a configuration and a manifest are given
 * @throws RelcatError with every problem that does not depend on bytes, or with every difference from the manifests
 */
export async function upload(
  folder: string,
  request: UploadRequest,
  context: UploadContext,
): Promise<UploadDelivery> {
  if (request.config === undefined) requireFolder(folder);
  const config = await loadSettings(folder, request.config);
  const site = siteNamed(config, request.site);
  const manifest = request.manifest === undefined ? undefined : readManifest(request.manifest);
  const version = await versionOf(request, manifest);
  const manifests = manifest ? [manifest] : await releaseManifests(folder, version);
  const names = manifests.flatMap(({ value }) => value.artifacts.flatMap(namesOf));
  const found = await readEvidence(request.files, config, undefined, new Set(names));
  const { files, unusable, unnamed } = nameFiles(found.files, manifests, version);
  const to = { config, site, version, withPrivate: request.withPrivate === true };
  if (found.files.length === 0 && found.problems.length === 0) throw nothingIn(request.files, found.leftOut);
  const early = [...found.problems, ...unusable, ...planUpload(files, undefined, to).problems];
  if (early.length > 0) throw new RelcatError([...early, ...unnamed]);
  const standard = { ...to, manifests, clock: context.clock, catalog: catalogFile(folder, request.config) };
  // The inspection code is loaded only if there are signers.
  const inspect =
    config.policies.size > 0 && (await import("./inspect-uploads.ts")).uploadInspector(standard);
  const planned = planUpload(files, await readAll(files, context.reading, (await inspect) || undefined), to);
  const warnings = [...unnamed, ...planned.problems, ...incomplete(manifests, files)];
  throwErrors(warnings);
  const place = await openPlace(site, context.environment);
  const present = await presentAt(place, planned.uploads);
  const uploads = request.dryRun
    ? planned.uploads.map(
        (each) => ({ ...each, result: present.has(each.key) ? "present" : "absent" }) as const,
      )
    : await sendAll(place, planned.uploads, context.onUploading);
  const written =
    manifest &&
    (request.dryRun ? "unchanged" : await writeDown(folder, manifest.file, planned.uploads, context));
  return {
    place: place.place,
    version,
    uploads,
    manifest: manifest &&
      written && { file: manifest.file, result: written, notGiven: notGiven(manifest.value, files) },
    leftOut: [...found.leftOut, ...found.sidecars.map((path) => `${basename(path)} (ingest reads it)`)],
    warnings,
  };
}

const nothingIn = (inputs: readonly string[], leftOut: readonly string[]) =>
  failure(
    "input-empty",
    `there is nothing to upload in ${inputs.join(", ")}${leftOut.length > 0 ? `; left out: ${leftOut.join(", ")}` : ""}`,
    "Give the files that a manifest of the release names, or the folder that has them.",
  );

type UploadInspector = Awaited<ReturnType<typeof uploadInspector>>;

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

async function readAll(files: readonly NamedFile[], reading: Reading, inspect: UploadInspector | undefined) {
  const copies = files.map((file) => ({
    path: file.path,
    name: file.path,
    size: pathInfo(file.path).size,
    readFacts: inspect && (async (opened: FileWithNeighbours) => ({ seen: await inspect(file, opened) })),
  }));
  const read = await readCopies(copies, reading);
  return new Map<string, ReadFile>(read.map((file) => [file.path, file]));
}

async function openPlace({ place }: SiteSettings, environment: UploadContext["environment"]) {
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
  onUploading: (progress: ReadProgress) => void,
) {
  const total = uploads.reduce((bytes, { size }) => bytes + size, 0);
  const sent: UploadDelivery["uploads"] = [];
  let before = 0;
  for (const each of uploads) {
    const { path, key, document, sha256, size } = each;
    const result = await place.uploadFile(key, path, {
      sha256,
      size,
      contentType: (document && documentMediaType(document)) ?? mediaType(key),
      cacheControl: cacheControl.upload,
      onProgress: (done) => onUploading({ file: path, done: before + done, total }),
    });
    sent.push({ ...each, result });
    before += size;
  }
  await place.removeLeftovers(uploads.map(({ key }) => key));
  return sent;
}

/** Reads the manifest again, because concurrent uploads of the job may have changed it. */
function writeDown(folder: string, file: string, uploads: readonly Upload[], { pid, onWait }: UploadContext) {
  const write = () => {
    const { value } = readManifest(file);
    const bytes = new TextEncoder().encode(manifestText(withUploads(value, uploads)));
    if (Buffer.compare(readIfPresent(file) ?? new Uint8Array(), bytes) === 0) return "unchanged" as const;
    replaceDurably(file, bytes);
    return "replaced" as const;
  };
  return file.startsWith(`${folder}/`) ? withLock(folder, pid, onWait, write) : write();
}

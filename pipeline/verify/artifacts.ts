import { availableParallelism } from "node:os";
import { pathBelow, relativePath } from "../documents/relative-path.ts";
import type { ReleaseDocument } from "../documents/site.ts";
import { exists } from "../system/files.ts";
import { type Reading, readFilesAtOnce } from "../system/in-parallel.ts";
import {
  artifactLength,
  encodedAnswer,
  isAddress,
  measureArtifact,
} from "../system/network/download-stream.ts";
import { rootFolder } from "../system/root-folder.ts";
import { withWorkFolder } from "../system/work-folder.ts";
import type { Finding } from "./finding.ts";
import type { Artifact, InspectAgain } from "./inspect-published.ts";
import { liveFolder, type SiteReader } from "./stores/site-reader.ts";
import { tampered } from "./tuf-refusals.ts";

/** Downloads wait for the network more than for a core. */
const minDownloads = 4;

/** Size limit for files of unknown size, in bytes. */
export const maxArtifactBytes = 16 * 1024 ** 3;

/** Files that are not withdrawn, by path on the site. */
export function artifactsOf(releases: ReadonlyMap<string, ReleaseDocument>): Map<string, Artifact> {
  const found = new Map<string, Artifact>();
  for (const [version, { packages, artifacts }] of releases) {
    for (const { id, checksum, package_type: packageType, created_date: createdDate } of packages) {
      const { file, url, size } = artifacts[id] ?? { file: "", url: "", size: null };
      const sha256 = /^[0-9a-f]{64}$/.test(checksum) ? checksum : undefined;
      const shared = { id, version, createdDate };
      found.set(`${version}/${file}`, { ...shared, file, url, sha256, size, packageType });
      for (const { file: name, url, size, sha256 } of artifacts[id]?.documents ?? [])
        found.set(`${version}/${name}`, { ...shared, file: name, url, sha256, size, packageType: "" });
    }
  }
  return found;
}

/** A file in the site's own folder takes precedence over its address. @param base address of the build */
export function placeOf(
  { url }: Pick<Artifact, "url">,
  { place, isRemote }: Pick<SiteReader, "place" | "isRemote">,
  base: string | undefined,
): string {
  // Other values would be read as local paths.
  if (!isAddress(url))
    throw tampered({ place }, JSON.stringify(url), "is not the address of a file to download");
  if (isRemote || base === undefined || !url.startsWith(`${base}/`)) return url;
  const path = pathBelow(base, url);
  if (path === undefined) return url;
  const file = rootFolder(liveFolder(place.replace(/^dir:/, "")))(path);
  return exists(file) ? file : url;
}

/** Compares artifacts with the release documents; `again` inspects those that match. @throws RelcatError network */
export async function compareArtifacts(
  artifacts: ReadonlyMap<string, Artifact>,
  paths: readonly string[],
  place: (artifact: Artifact) => string,
  { jobs = Math.max(minDownloads, availableParallelism()), onProgress }: Reading,
  again?: InspectAgain,
): Promise<Finding[]> {
  const files = paths.flatMap((path) => {
    const artifact = artifacts.get(path);
    return artifact ? [{ artifact, name: artifact.file, size: artifact.size ?? 0 }] : [];
  });
  const findings = await readFilesAtOnce(files, { jobs, onProgress }, async ({ artifact }, onBytes) => {
    const what = await (again?.concerns(artifact)
      ? compareAndInspect(artifact, place(artifact), onBytes, again)
      : compareArtifact(artifact, place(artifact), onBytes));
    return what === undefined ? [] : [{ path: artifact.url, what }];
  });
  return findings.flat();
}

/** Downloads are stored in a temporary file, because readers of formats need random access. */
async function compareAndInspect(
  artifact: Artifact,
  place: string,
  onBytes: (bytes: number) => void,
  again: InspectAgain,
): Promise<string | undefined> {
  if (/^\.{0,2}$|[/\\\0]/.test(artifact.file)) return "belongs to no file with a possible name";
  return withWorkFolder(async (folder) => {
    const copy = isAddress(place) ? rootFolder(folder)(relativePath(artifact.file)) : undefined;
    const what = await compareArtifact(artifact, place, onBytes, copy);
    if (what === undefined && artifact.sha256 !== undefined)
      await again.inspect(artifact, copy ?? place, copy !== undefined);
    return what;
  });
}

async function compareArtifact(
  { sha256, size }: Artifact,
  place: string,
  onBytes: (bytes: number) => void,
  copy?: string,
): Promise<string | undefined> {
  const head = await artifactLength(place);
  const canAsk = head.status !== 405 && head.status !== 501;
  if (canAsk && head.status !== 200) return `is missing (${head.status})`;
  // Avoids a long download if the announced length is already wrong.
  if (size !== null && head.length !== undefined && canAsk && head.length !== size)
    return `has ${head.length} bytes, expected ${size}`;
  const limit = size ?? maxArtifactBytes;
  const read = await measureArtifact(place, limit, onBytes, copy);
  if (read.status !== 200) return `is missing (${read.status})`;
  if (read.isEndless) return `has more than ${limit} bytes`;
  if (size !== null && read.size !== size) return `has ${read.size} bytes, expected ${size}`;
  if (sha256 !== undefined && read.sha256 !== sha256)
    return `has the SHA-256 ${read.sha256}, expected ${sha256}`;
  return isAddress(place) ? encodingFault(place) : undefined;
}

/** Clients that request gzip without decoding it would store compressed bytes, whose checksum is wrong. */
async function encodingFault(url: string): Promise<string | undefined> {
  const { status, encoding } = await encodedAnswer(url);
  if (status !== 200) return `is missing for clients that take gzip or br (${status})`;
  return encoding === undefined
    ? undefined
    : `is sent as ${encoding} to clients that take gzip or br, expected its own bytes for everyone`;
}

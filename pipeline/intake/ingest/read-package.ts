import { hash } from "node:crypto";
import { walkXz } from "../../../inspect/archives/xz.ts";
import { type ByteSource, readSmall } from "../../../inspect/bytes/byte-source.ts";
import { readDocument } from "../../../inspect/documents.ts";
import type { Inspection } from "../../../inspect/inspection.ts";
import { metadataFormat, readMetadata } from "../../../inspect/metadata.ts";
import { Fault } from "../../../inspect/verdict.ts";
import type { Problem } from "../../../shared/errors.ts";
import {
  type ArtifactDocument,
  expectedFormats,
  type PackageMetadata,
  sourcePackage,
} from "../../../shared/package-metadata.ts";
import type { Kind } from "../../../shared/package-types.ts";
import type { Settings } from "../../documents/config.ts";
import { type FeedName, feedOf } from "../../documents/feeds/settings.ts";
import { signsDigest } from "../../policy/prove-metadata.ts";
import type { FileWithNeighbours } from "../../policy/sibling-files.ts";
import { type At, problem } from "./evidence.ts";
import type { IncusReading } from "./incus-reading.ts";

/** Facts from a package's bytes that do not depend on its signature. */
export interface PackageFound {
  package?: PackageMetadata | undefined;
  documents?: ArtifactDocument[] | undefined;
  /** True if the bytes have a format that states metadata, which they do not have or which could not be read. */
  isUnreadable?: boolean;
  problems: Problem[];
}

interface PackageRequest {
  name: string;
  packageType: string;
  kind: Kind;
  at: At;
  config: Pick<Settings, "feeds" | "documents">;
  /** Feeds that must list their packages. */
  required: readonly FeedName[];
  inspection?: Inspection | undefined;
  incusDigests?: IncusReading["digests"] | undefined;
}

export async function readPackage(
  opened: FileWithNeighbours,
  request: PackageRequest,
): Promise<PackageFound> {
  const found = await readOwn(opened, request);
  const beside = await documentsBeside(opened, request);
  const documents = [...(found.documents ?? []), ...beside.documents];
  return {
    ...found,
    ...(documents.length > 0 && { documents }),
    problems: [...found.problems, ...beside.problems],
  };
}

/**
 * Reads a package. Unreadable metadata is a warning, because the package can be released
 * without its feed; it is an error if the feed is required, or if a document vouches for other bytes.
 */
async function readOwn(opened: FileWithNeighbours, request: PackageRequest): Promise<PackageFound> {
  const { packageType, kind, config, inspection } = request;
  const { file } = opened;
  const format = metadataFormat(file, kind);
  if (!format) return { problems: request.name.endsWith(".tar.xz") ? damagedArchive(file, request) : [] };
  try {
    const expected = expectedFormats(packageType, kind);
    if (!expected.includes(format))
      throw new Fault("unsupported-format", `its bytes are ${format}, expected ${expected.join(" or ")}`);
    const { filelists = false, changelogs } = config.feeds.yum ?? {};
    const metadata = await readMetadata(file, { kind, filelists, changelogs, inspection });
    if (format === "rpm" && metadata === undefined)
      return { isUnreadable: true, problems: leftOutSource(request) };
    const documents = format === "helm" ? await provenanceOf(opened, request.name) : undefined;
    return { package: await withDigests(metadata, request), documents, problems: [] };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { isUnreadable: true, problems: [unreadable(error, format, request)] };
  }
}

async function withDigests(
  metadata: PackageMetadata | undefined,
  { incusDigests }: PackageRequest,
): Promise<PackageMetadata | undefined> {
  if (metadata?.type !== "image" || !incusDigests) return metadata;
  return { ...metadata, incus: await incusDigests() };
}

/** The provenance file next to a chart. @throws Fault bad-digest, if it is that of another chart */
async function provenanceOf(
  { file, openSibling }: FileWithNeighbours,
  name: string,
): Promise<ArtifactDocument[] | undefined> {
  const source = openSibling(`${file.name}.prov`);
  if (!source) return undefined;
  const bytes = readSmall(source);
  if (!signsDigest(bytes, await file.sha256()))
    throw new Fault("bad-digest", `${source.name} next to it does not contain its SHA-256`);
  const sha256 = hash("sha256", bytes);
  return [{ kind: "signature", format: "helm-prov", file: `${name}.prov`, sha256, size: source.size }];
}

/** A document about another file would be published with every later copy of the release, so it is an error. */
async function documentsBeside(
  { file, openSibling }: FileWithNeighbours,
  { name, at, config }: PackageRequest,
): Promise<{ documents: ArtifactDocument[]; problems: Problem[] }> {
  const documents = new Map<string, ArtifactDocument>();
  const problems: Problem[] = [];
  for (const format of config.documents) {
    const source = documents.has(format.ending) ? undefined : openSibling(`${file.name}${format.ending}`);
    if (!source) continue;
    try {
      documents.set(format.ending, readDocument(source, format, { file: name, sha256: await file.sha256() }));
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      const message = `${source.name} cannot be published beside ${name}: ${error.message}`;
      problems.push(problem("package-metadata", at, message, `Make it again for ${name}, or remove it.`));
    }
  }
  return { documents: [...documents.values()], problems };
}

/** Reads only the lengths that an archive states, because unpacking a large one takes minutes. */
function damagedArchive(file: ByteSource, { name, at }: PackageRequest): Problem[] {
  try {
    walkXz(file);
    return [];
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const hint = `It can be released. If xz --test ${name} finds it damaged, build or download it again.`;
    const message = `${name} cannot be read as an xz archive: ${error.message}`;
    return [{ ...problem("package-metadata", at, message, hint), severity: "warning" }];
  }
}

/** The name decides what `check` says later, because a manifest does not state that a package is a source package. */
function leftOutSource({ name, at, config, required }: PackageRequest): Problem[] {
  if (config.feeds.yum === undefined) return [];
  const message = `${name} is not in the yum feed, because ${sourcePackage.reason}`;
  if (sourcePackage.isNamed(name))
    return [{ ...problem("feed-left-out", at, message, sourcePackage.hint), severity: "warning" }];
  const hint = "Rename it, so that its name ends with .src.rpm as rpmbuild writes it, and ingest it again.";
  const severity = required.includes("yum") ? "error" : "warning";
  return [{ ...problem("feed-left-out", at, message, hint), severity }];
}

function unreadable(
  { verdict, message: reason }: Fault,
  format: PackageMetadata["type"],
  { name, packageType, at, config, required }: PackageRequest,
): Problem {
  const feed = feedOf(format, packageType);
  if (feed === undefined || config.feeds[feed] === undefined) {
    const hint = "It can be released, but package repositories cannot list it.";
    const message = `${name} gets no package metadata: ${reason}`;
    return { ...problem("package-metadata", at, message, hint), severity: "warning" };
  }
  const isError = verdict === "bad-digest" || required.includes(feed);
  const message = `${name} will not be in the ${feed} feed: ${reason}`;
  const hint = `Repair the package so that ${feed} can list it${isError ? `, or remove ${feed} from feeds: in catalog.yaml` : `. It can be released without the ${feed} feed`}.`;
  return { ...problem("feed-left-out", at, message, hint), severity: isError ? "error" : "warning" };
}

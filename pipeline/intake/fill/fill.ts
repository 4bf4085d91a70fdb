import { join } from "node:path";
import { architectureInName } from "../../../inspect/architecture.ts";
import { failure, type Problem, throwErrors } from "../../../shared/errors.ts";
import { architectureOf, expectedFormats } from "../../../shared/package-metadata.ts";
import { beginsWithMark, decode } from "../../../shared/source.ts";
import type { Settings } from "../../documents/config.ts";
import { feedOf } from "../../documents/feeds/settings.ts";
import { manifestSchema } from "../../documents/manifest.ts";
import { pathBelow } from "../../documents/relative-path.ts";
import type { Catalog } from "../../ledger/catalog.ts";
import { refuseUnknownVersions } from "../../ledger/cut.ts";
import { loadCatalog } from "../../ledger/load-catalog.ts";
import { publishRelease } from "../../ledger/publish-records.ts";
import { type FileWithNeighbours, withNeighbours } from "../../policy/sibling-files.ts";
import { readBytes } from "../../project/parse.ts";
import type { Artifact } from "../../records/artifact.ts";
import { isSame } from "../../records/merge.ts";
import { exists, readPresent, replaceDurably } from "../../system/files.ts";
import { type Reading, readFilesAtOnce } from "../../system/in-parallel.ts";
import { artifactAtHand, requireArtifacts } from "../../system/input-files.ts";
import { type CommandContext, withWriteLock } from "../../system/lock.ts";
import { measureArtifact } from "../../system/network/download-stream.ts";
import { rootFolder } from "../../system/root-folder.ts";
import { withWorkFolder } from "../../system/work-folder.ts";
import { ruleFor } from "../ingest/built-in-rules.ts";
import { problem } from "../ingest/evidence.ts";
import { incusReading } from "../ingest/incus-reading.ts";
import { incusStatement, packageOf } from "../ingest/package-of.ts";
import { readPackage } from "../ingest/read-package.ts";
import { type Additions, withAdditions } from "./manifest-edit.ts";

export interface FillRequest {
  versions: readonly string[];
  /** Folder that holds the artifacts as FILE or VERSION/FILE, or the site that serves them. */
  source: { artifacts: string } | { site: string };
}

type FillContext = Pick<CommandContext, "pid" | "onWait" | "dryRun"> & Reading;

export interface Filled {
  filled: { manifest: string; version: string; file: string; members: string[] }[];
  absent: { version: string; file: string }[];
  /** As messages name it. */
  place: string;
  warnings: Problem[];
}

/**
 * Adds what packages state about themselves to manifests that lack it, from bytes with the checksum of the record.
 * Each manifest is replaced as a whole, and a repeated call completes an interrupted one.
 * @throws RelcatError with every problem of the artifacts; version-unknown; artifact-missing, if none is there
 */
export async function fillManifests(
  folder: string,
  { versions, source }: FillRequest,
  context: FillContext,
): Promise<Filled> {
  const catalog = await loadCatalog(folder);
  refuseUnknownVersions(catalog, versions);
  throwErrors(catalog.problems);
  const bytes = "artifacts" in source ? inFolder(source.artifacts) : atSite(source.site, catalog.config);
  const lacking = addressed(catalog, versions).filter(({ artifact }) => isLacking(artifact, catalog.config));
  const { found, absent, problems } = await readAll(lacking, bytes, catalog.config, context);
  throwErrors(problems);
  const [first] = absent;
  if (first && absent.length === lacking.length) {
    const more = absent.length > 1 ? ` and ${absent.length - 1} more` : "";
    const message = `${bytes.place} does not have ${first.file} of ${first.version}${more}`;
    const hint =
      "Give the folder that holds them as FILE or VERSION/FILE with --artifacts, or the site that serves them with --from.";
    throw failure("artifact-missing", message, hint);
  }
  const edited = await editedManifests(found);
  await withWriteLock(folder, context, async () => {
    for (const { file, before } of edited) {
      if (Buffer.compare(readPresent(file), before) === 0) continue;
      const message = `${file} was changed in the meantime`;
      throw failure("file-changed", message, "Nothing was written. Run it again.");
    }
    if (!context.dryRun) for (const { file, after } of edited) replaceDurably(file, after);
  });
  const filled = found.map(({ artifact, additions }) => ({
    manifest: artifact.origin.manifest,
    version: artifact.content.version,
    file: artifact.file,
    members: Object.keys(additions),
  }));
  return { filled, absent, place: bytes.place, warnings: problems };
}

/** Only public records have an address. */
function addressed(
  { identified, releases, ledger, config }: Catalog,
  versions: readonly string[],
): Addressed[] {
  const urls = new Map(
    identified.releases
      .filter(({ release }) => versions.includes(release.version))
      .flatMap((release) => publishRelease(release, ledger, config).packages)
      .map(({ record, file, url }) => [`${record.version}/${file}`, url]),
  );
  return releases
    .filter(({ version }) => versions.includes(version))
    .flatMap(({ version, artifacts }) =>
      artifacts.map((artifact) => ({ artifact, url: urls.get(`${version}/${artifact.file}`) })),
    );
}

function isLacking({ content, metadata, documents }: Artifact, config: Settings): boolean {
  const type = content.package_type;
  if (metadata === undefined) return expectedFormats(type, kindOf(type, config)).length > 0;
  if (metadata.type === "helm") return documents === undefined;
  const isListed = feedOf(metadata.type, type) === "incus" && config.feeds.incus !== undefined;
  return metadata.type === "image" && isListed && !metadata.incus && !metadata.content;
}

const kindOf = (type: string, { packageTypes }: Settings) => packageTypes.get(type)?.kind ?? "client";

interface Found {
  artifact: Artifact;
  additions: Additions;
}

async function readAll(all: readonly Addressed[], bytes: ArtifactBytes, config: Settings, reading: Reading) {
  const found: Found[] = [];
  const absent: Filled["absent"] = [];
  const problems: Problem[] = [];
  const sized = all.map((each) => ({ ...each, name: each.artifact.file, size: each.artifact.size ?? 0 }));
  const results = await readFilesAtOnce(sized, reading, (each, onBytes) =>
    bytes.use(each, (path) =>
      withNeighbours(path, onBytes, (opened) => readOne(opened, each.artifact, config)),
    ),
  );
  for (const [index, { artifact }] of all.entries()) {
    const read = results[index];
    if (!read) absent.push({ version: artifact.content.version, file: artifact.file });
    else {
      problems.push(...read.problems);
      if (Object.keys(read.additions).length > 0) found.push({ artifact, additions: read.additions });
    }
  }
  return { found, absent, problems };
}

/** Reads a file whose bytes must be those of the record. */
async function readOne(opened: FileWithNeighbours, artifact: Artifact, config: Settings) {
  const { file: name, content, metadata: stated, documents, place: at } = artifact;
  const { package_type: packageType, version, checksum } = content;
  const arch = ruleFor(name, config)?.arch;
  const known = arch ?? architectureOf(stated) ?? architectureInName(name);
  const statement = incusStatement({ version, packageType, arch: known, stated, config });
  const incus = statement && incusReading(opened, statement);
  const source = incus?.opened ?? opened;
  const sha256 = await source.file.sha256();
  if (sha256 !== checksum) {
    const message = `${name} of ${version} has the SHA-256 ${sha256} there, expected ${checksum}`;
    const wrong = problem("checksum-mismatch", at, message, "Is it the file of another build?");
    return { additions: {}, problems: [wrong] };
  }
  const kind = kindOf(packageType, config);
  const request = { name, packageType, kind, at, config, required: [], incusDigests: incus?.digests };
  const read = await readPackage(source, request);
  const bytes = read.isUnreadable ? "unreadable" : "read";
  const claims = { packageType, kind, read: read.package, stated, arch, bytes } as const;
  const { metadata, problems } = packageOf({ name, at }, claims);
  const isNew = metadata !== undefined && !isSame(metadata, stated ?? null);
  return {
    additions: {
      ...(isNew && { package: metadata }),
      ...(documents === undefined && read.documents && { documents: read.documents }),
    },
    problems: [...read.problems, ...problems],
  };
}

/** @throws RelcatError file-size, or what the schema of manifests refuses, for all of them */
async function editedManifests(found: readonly Found[]) {
  const edited: { file: string; before: Uint8Array; after: Uint8Array }[] = [];
  const problems: Problem[] = [];
  for (const [file, own] of Map.groupBy(found, ({ artifact }) => artifact.origin.manifest)) {
    const before = readPresent(file);
    const additions = new Map(own.map(({ artifact, additions }) => [artifact.origin.index, additions]));
    const text = await withAdditions(file, decode(file, before).text, additions);
    const after = new TextEncoder().encode(beginsWithMark(before) ? `\ufeff${text}` : text);
    problems.push(...readBytes(file, after, manifestSchema).problems);
    edited.push({ file, before, after });
  }
  throwErrors(problems);
  return edited;
}

/** An artifact, with its address in the catalog; undefined if it has none. */
interface Addressed {
  artifact: Artifact;
  url: string | undefined;
}

interface ArtifactBytes {
  /** As messages name it. */
  place: string;
  /** Calls `work` with the path of an artifact's file. @returns undefined if the file is not there */
  use<T>(addressed: Addressed, work: (path: string) => Promise<T>): Promise<T | undefined>;
}

/** @param folder that holds artifacts as FILE or VERSION/FILE @throws RelcatError folder-missing */
function inFolder(folder: string): ArtifactBytes {
  requireArtifacts(folder);
  return {
    place: folder,
    async use({ artifact: { content, file } }, work) {
      const path = artifactAtHand(folder, content.version, file);
      return path === undefined ? undefined : work(path);
    },
  };
}

/**
 * The site need not be trusted, because the caller compares the bytes with the checksum in the ledger.
 * @param site name in catalog.yaml, address, or folder
 * @throws RelcatError site-unknown
 */
function atSite(site: string, config: Settings): ArtifactBytes {
  const place = config.sites.get(site)?.baseUrl ?? site.replace(/\/+$/, "");
  const isRemote = /^https?:\/\//.test(place);
  if (!isRemote && !exists(place)) {
    const names = [...config.sites.keys()].join(", ");
    const known = names === "" ? "catalog.yaml names no site" : `catalog.yaml has ${names}`;
    const message = `${JSON.stringify(site)} is not a site of catalog.yaml, an address or a folder`;
    throw failure("site-unknown", message, `Give https://…, a folder, or the name of a site: ${known}.`);
  }
  const addressOf = (url: string) => {
    const path = pathBelow(config.baseUrl, url);
    if (path === undefined) return url;
    return isRemote ? place + url.slice(config.baseUrl.length) : rootFolder(place)(path);
  };
  return {
    place,
    async use({ artifact, url }, work) {
      if (url === undefined) return undefined;
      return withWorkFolder(async (folder) => {
        const address = addressOf(url);
        // biome-ignore lint/plugin: the schema of manifests accepts only names of files.
        const path = join(folder, artifact.file);
        if (!(await fetchInto(address, path, artifact.size ?? maxArtifactBytes))) return undefined;
        if (artifact.content.package_type === "helm")
          await fetchInto(`${address}.prov`, `${path}.prov`, maxProvenanceBytes);
        return work(path);
      });
    },
  };
}

/** Larger than any image. */
const maxArtifactBytes = 2 ** 40;
const maxProvenanceBytes = 2 ** 20;

/** @returns false if there is no such file @throws RelcatError network */
async function fetchInto(address: string, path: string, limit: number): Promise<boolean> {
  const { status } = await measureArtifact(address, limit, () => {}, path);
  if (status === 200) return true;
  if (status === 404 || status === 410) return false;
  const message = `${address} answered ${status}, expected 200`;
  throw failure("network", message, "Try again when the host serves it.");
}

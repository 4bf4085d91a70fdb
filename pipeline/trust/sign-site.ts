import { createHash } from "node:crypto";
import { z } from "zod";
import { failure, type Problem } from "../../shared/errors.ts";
import type { KeyedSettings, Settings } from "../documents/config.ts";
import { aptValidDays } from "../documents/feeds/settings.ts";
import { packslipPath } from "../documents/feeds/signing.ts";
import type { SignDelivery } from "../documents/outputs/trust.ts";
import type { OutputFile } from "../documents/published.ts";
import { relativePath, relativePathSchema } from "../documents/relative-path.ts";
import type { BuildCopies, BuildDocument } from "../documents/site.ts";
import { signerOf } from "../documents/trust.ts";
import { earlierCommit } from "../ledger/earlier-commit.ts";
import { readLedgerNow } from "../ledger/ledger-file.ts";
import type { ProjectSettings } from "../project/settings.ts";
import { buildCatalog, type Site } from "../site/whole-site.ts";
import { exists, readIfPresent, removeFile, replaceDurably } from "../system/files.ts";
import { headTime } from "../system/git/git-head.ts";
import { type CommandContext, withOutputLock } from "../system/lock.ts";
import { type RootFolder, rootFolder } from "../system/root-folder.ts";
import { type Build, readBuild, refuseStaleBuild, requireBuild } from "./built-site.ts";
import { requireClock } from "./clock.ts";
import { refuseTufKeys } from "./feeds/certificates.ts";
import { signPackslip } from "./feeds/packslip.ts";
import { suiteEnds } from "./feeds/release-file.ts";
import { feedsToSign, signFeeds } from "./feeds/sign-feeds.ts";
import type { FeedSigner } from "./feeds/signatures.ts";
import { type LiveMetadata, type MetadataSource, nothingLive, readLiveMetadata } from "./live-metadata.ts";
import { metadataPath, type SignedRoot, type SignedTargets, sha256, signingDate } from "./metadata.ts";
import { parsedAs } from "./parsed-state.ts";
import { keysOf } from "./renewal.ts";
import { decideSigning, endsOfTrust } from "./sign.ts";
import { isAddition, isHosting, isSigned, timestampPath } from "./site-files.ts";
import { openPackslipSigner } from "./site-packslip-key.ts";
import { type SignedFile, sorted } from "./site-targets.ts";
import { openFeedSigners } from "./stores/feed-signers.ts";
import { metadataAt } from "./stores/metadata-source.ts";
import { openSigner } from "./stores/signer.ts";
import { requireTrust } from "./stores/trust-folder.ts";

/** Lists the files that signing added, and the build they belong to. */
export const signedList = "metadata/signed.json";

const signedListSchema = z.object({
  schema_version: z.literal(1),
  build: z.string(),
  files: z.record(relativePathSchema, z.object({ sha256: z.string(), size: z.number() })),
});
export type SignedList = z.infer<typeof signedListSchema>;

interface SignOptions {
  /** Address, folder or metadata of the live site; without it, only metadata signed here earlier counts. */
  live?: string | MetadataSource | undefined;
  environment: Readonly<Record<string, string | undefined>>;
  /** Milliseconds since 1970. */
  now: number;
  /** A person has stated the time, so it is not compared with other dates. */
  isStated?: boolean;
}

/**
 * Signs after comparing every file with the checkout.
 * @throws RelcatError build-unproved, build-stale; see `signProved`
 */
export async function signSite(
  project: ProjectSettings,
  out: string,
  options: SignOptions,
  context: Pick<CommandContext, "pid" | "onWait"> & { onCompared?: OnCompared },
): Promise<SignDelivery> {
  requireBuild(out);
  requireSigning(project.config);
  requireTrust(project.folder);
  const { document, bytes } = readBuild(out);
  if (document.provisional.length === 0)
    await refuseOtherThanCheckout(project, out, document, context.onCompared);
  return signProved(project, out, sha256(bytes), options, context);
}

/** Warnings of the ends that only the holders of the offline keys can move. */
export const endingTrust = (releases: string, now: number): Problem[] =>
  endsOfTrust(requireTrust(releases), now);

/** @throws RelcatError trust-missing */
export function requireSigning({ trust }: Settings): void {
  if (trust.profile !== "none") return;
  const hint = "Start with: relcat trust init KEYS-FOLDER, and trust: simple in catalog.yaml";
  throw failure("trust-missing", "catalog.yaml has trust: none, so nothing is signed", hint);
}

/**
 * Signs a build that was already verified, by the checkout or by our own signatures.
 * @param proved SHA-256 of its build.json
 * @throws RelcatError folder-missing, build-changed, build-provisional, trust-missing, key-unusable,
 * key-untrusted, feed-key, feed-unsigned, versions-exhausted, clock, lock-held
 */
export async function signProved(
  { folder: releases, config }: ProjectSettings,
  out: string,
  proved: string,
  options: SignOptions,
  context: Pick<CommandContext, "pid" | "onWait">,
): Promise<SignDelivery> {
  requireSigning(config);
  const trust = requireTrust(releases);
  const online = openSigner(config.trust, options.environment);
  const { root } = trust;
  const source = typeof options.live === "string" ? metadataAt(options.live) : options.live;
  const there = source === undefined ? nothingLive : await readLiveMetadata(source, root);
  return withOutputLock(out, context.pid, context.onWait, async () => {
    const { document: build, bytes: buildBytes } = readWholeBuild(out, proved);
    const read = (path: string) => requireBuilt(out, path, build);
    const sources = [...(source ? [source] : []), metadataAt(out)];
    const live = newer(await readLiveMetadata(metadataAt(out), root), there);
    const { now, isStated } = options;
    if (!isStated) requireClock(now, source?.clockOffset?.(), await datesOf(releases, live));
    const files = await decideSigning({
      build,
      buildBytes,
      read,
      feeds: await signedFeeds({ releases, config }, { build, read, sources, root }, options),
      trust,
      live,
      online,
      principal: signerOf(config.authority),
      builder: config.builder,
      vendor: config.wire.vendor,
      now,
      validDays: config.trust.validDays,
    });
    return deliver(out, sha256(buildBytes), files);
  });
}

export async function datesOf(releases: string, { timestamp }: Pick<LiveMetadata, "timestamp">) {
  const { newest } = readLedgerNow(releases);
  return {
    timestamp: timestamp && signingDate(timestamp.metadata.signed),
    before: timestamp && signingDate(timestamp.metadata.signed, "before"),
    commit: await headTime(releases),
    ledger: newest === "" ? undefined : Date.parse(newest),
  };
}

interface FeedSources {
  build: BuildDocument;
  read: (path: string) => Uint8Array;
  /** Where earlier signatures are: at the site, and in the folder. */
  sources: readonly MetadataSource[];
  root: SignedRoot;
}

async function signedFeeds(
  { releases, config }: { releases: string; config: KeyedSettings },
  { build, read, sources, root }: FeedSources,
  { environment, now }: SignOptions,
): Promise<SignedFile[]> {
  const earlier = async (path: string) =>
    (await Promise.all(sources.map((source) => source.read(path)))).filter((bytes) => bytes !== undefined);
  const files: SignedFile[] = [];
  if (Object.hasOwn(build.files, packslipPath(undefined, "unsigned"))) {
    const signer = openPackslipSigner(releases, config.trust, root, environment);
    files.push(...(await signPackslip({ build, read, earlier, now }, signer, config.trust.validDays)));
  }
  const feeds = feedsToSign(build);
  if (feeds.suites.length + feeds.repos.length === 0) return files;
  const signers = await openFeedKeys(config, root, { environment, now });
  const validDays = aptValidDays(config.feeds, config.trust.validDays);
  return [...files, ...(await signFeeds({ ...feeds, build, read, earlier, signers, validDays, now }))];
}

/** Opens the keys of package repositories, none of which may be one of the root. @throws RelcatError */
export async function openFeedKeys(
  config: KeyedSettings,
  root: SignedRoot,
  { environment, now }: SignOptions,
): Promise<FeedSigner[]> {
  const signers = await openFeedSigners(config, environment, now);
  const { root: roots, targets, online } = keysOf(root.metadata.signed);
  const certificates = signers.map(({ certificate }) => certificate);
  refuseTufKeys(certificates, [...roots.keys, targets, online]);
  return signers;
}

/** The later of unpublished local metadata and the live metadata. */
function newer(here: LiveMetadata, there: LiveMetadata): LiveMetadata {
  const version = ({ timestamp }: LiveMetadata) => timestamp?.metadata.signed.version ?? 0;
  const highest = new Map(here.highest);
  for (const [role, number] of there.highest) highest.set(role, Math.max(number, highest.get(role) ?? 0));
  const later = version(there) >= version(here) ? there : here;
  // A damaged live file keeps its name, so only a higher version can replace it.
  const isBroken = (role: string, { metadata }: SignedTargets) =>
    there.unverified.includes(metadataPath(role, metadata.signed.version));
  const roles = [...later.roles].filter(([role, part]) => !isBroken(role, part));
  return { ...later, roles: new Map(roles), highest };
}

/** @throws RelcatError build-changed if a file or build.json itself differs */
function readWholeBuild(out: string, proved: string): Build {
  const build = readBuild(out);
  const at = rootFolder(out);
  // A site downloaded from a bucket has no hosting/ folder.
  const isAbsentHosting = (path: string) => isHosting(path) && !exists(at(relativePath(path)));
  const changed = Object.keys(build.document.files).filter(
    (path) => !isAbsentHosting(path) && !builtBytes(at, path, build.document),
  );
  if (sha256(build.bytes) !== proved) changed.unshift("build.json");
  const [first] = changed;
  if (first !== undefined) throw buildChanged(out, first, changed.length - 1);
  return build;
}

const builtBytes = (at: RootFolder, path: string, { files }: BuildDocument): Uint8Array | undefined => {
  const bytes = readIfPresent(at(relativePath(path)));
  return bytes && sha256(bytes) === files[path]?.sha256 ? bytes : undefined;
};

/** Read again for signing, because it may have changed since the comparison. @throws RelcatError build-changed */
function requireBuilt(out: string, path: string, build: BuildDocument): Uint8Array {
  const bytes = builtBytes(rootFolder(out), path, build);
  if (bytes) return bytes;
  throw buildChanged(out, path, 0);
}

function buildChanged(out: string, path: string, others: number) {
  const more = others > 0 ? `, and ${others} more` : "";
  const hint = "Build it again: relcat build --released";
  return failure("build-changed", `${out}/${path} is not what the build made${more}`, hint);
}

/** List from an earlier signing. @throws RelcatError site-tampered */
export function readSignedList(out: string): SignedList | undefined {
  const file = rootFolder(out)(relativePath(signedList));
  const bytes = readIfPresent(file);
  return bytes && parsedAs(signedListSchema, () => bytes, file, "Remove it, and sign again: relcat sign");
}

const isOfSigning = (path: string): boolean => isAddition(path) || isSigned(path) || path === timestampPath;

/** Order: targets, metadata, timestamp.json, the list of signed files. */
function deliver(out: string, build: string, files: readonly SignedFile[]): SignDelivery {
  const before = readSignedList(out);
  const at = rootFolder(out);
  const counts = { written: 0, unchanged: 0, removed: 0 };
  const listed: SignedList["files"] = {};
  for (const { path, bytes } of files) {
    listed[path] = { sha256: sha256(bytes), size: bytes.length };
    const place = at(relativePath(path));
    const there = readIfPresent(place);
    if (there && Buffer.compare(there, bytes) === 0) counts.unchanged++;
    else {
      replaceDurably(place, bytes);
      counts.written++;
    }
  }
  for (const path of Object.keys(before?.files ?? {})) {
    // The earlier list may be forged, so only paths that signing adds are removed.
    if (Object.hasOwn(listed, path) || !isOfSigning(path)) continue;
    const file = at(relativePath(path));
    if (!exists(file)) continue;
    removeFile(file);
    counts.removed++;
  }
  const list: SignedList = { schema_version: 1, build, files: sorted(listed) };
  replaceDurably(at(relativePath(signedList)), new TextEncoder().encode(`${JSON.stringify(list)}\n`));
  return { build, ...counts, expires: earliest(files) };
}

function earliest(files: readonly SignedFile[]): string {
  const isRoot = ({ path }: SignedFile) => path.endsWith(".root.json");
  // Earlier roots may have expired; only the newest counts.
  const newest = files.findLast(isRoot);
  const ends = files
    .filter((file) => file.path.startsWith("metadata/") && (file === newest || !isRoot(file)))
    .map(({ bytes }) => JSON.parse(new TextDecoder().decode(bytes)).signed.expires as string);
  const bytesOf = new Map(files.map(({ path, bytes }) => [path, bytes]));
  const suites = suiteEnds(files, (path) => bytesOf.get(path) ?? new Uint8Array());
  return [...ends, ...suites.map(([, end]) => end)].sort()[0] ?? "";
}

/** Number of compared files, and of the files of the build. */
type OnCompared = (progress: { done: number; total: number }) => void;

/**
 * Rebuilds the site from the checkout without a cache and compares it with the build to be signed, so that
 * neither a wrong cache nor an earlier job can add content to a signed site.
 * @throws RelcatError build-unproved, naming the first different file; build-stale
 */
async function refuseOtherThanCheckout(
  { folder: releases, config }: ProjectSettings,
  out: string,
  document: BuildDocument,
  onCompared?: OnCompared,
): Promise<void> {
  const ledger = readLedgerNow(releases);
  refuseStaleBuild(document, ledger);
  const { base_url, at } = document;
  const name = [...config.sites.values()].find(({ baseUrl }) => baseUrl === base_url)?.name;
  const earlier = at === undefined ? undefined : await earlierCommit(releases, at, ledger);
  const { site } = await buildCatalog(releases, { released: true, site: name }, earlier?.files);
  if (site.config.baseUrl !== base_url)
    throw unproved(out, `is built for ${base_url}, which is the address of no site in catalog.yaml`);
  if (at !== undefined && earlier?.commit !== at)
    throw unproved(out, `names ${at}, which is not a whole commit id`);
  const differing = differingFiles(site, document, onCompared);
  const [first] = differing;
  if (first === undefined) return;
  const more = differing.length > 1 ? `, and so are ${differing.length - 1} more files` : "";
  throw unproved(`${out}/${first}`, `is not what this checkout builds${more}`);
}

/** Paths that differ or exist on one side only; ascending. */
function differingFiles(site: Site, { files, copies = {} }: BuildDocument, onCompared?: OnCompared) {
  const missing = new Set(Object.keys(files));
  const total = missing.size;
  const differing: string[] = [];
  for (const file of site.files) {
    const known = missing.delete(file.path) ? files[file.path] : undefined;
    if (known?.sha256 !== digestOf(file)) differing.push(file.path);
    onCompared?.({ done: total - missing.size, total });
  }
  return [...differing, ...missing, ...differingCopies(site.copies, copies)].sort();
}

function differingCopies(made: BuildCopies, known: BuildCopies): string[] {
  const textOf = (copies: BuildCopies, path: string) => {
    const copy = Object.hasOwn(copies, path) ? copies[path] : undefined;
    return copy && [copy.from, copy.sha256, copy.size].join("\n");
  };
  const paths = new Set([...Object.keys(made), ...Object.keys(known)]);
  return [...paths].filter((path) => textOf(made, path) !== textOf(known, path));
}

function digestOf({ chunks }: OutputFile): string {
  const hash = createHash("sha256");
  for (const chunk of chunks) hash.update(chunk);
  return hash.digest("hex");
}

const unproved = (what: string, reason: string) =>
  failure(
    "build-unproved",
    `${what} ${reason}`,
    "Nothing was signed. Build again from this checkout, with this version of relcat: relcat build --released. If that changes nothing, remove .relcat-cache.",
  );

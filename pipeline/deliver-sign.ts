import { join } from "node:path";
import { z } from "zod";
import type { Surroundings } from "./deliver.ts";
import { requireTrust } from "./deliver-trust.ts";
import { relativePath, relativePathSchema } from "./documents/relative-path.ts";
import { failure } from "./errors.ts";
import { loadConfiguration } from "./ingest/configuration.ts";
import { type Build, readBuild, requireBuild } from "./outside/built-site.ts";
import { exists, readIfPresent, removeFile, replaceDurably } from "./outside/files.ts";
import { withOutputLock } from "./outside/lock.ts";
import { metadataAt } from "./outside/metadata-source.ts";
import { parsedAs } from "./outside/parsed-state.ts";
import { rootFolder } from "./outside/root-folder.ts";
import { openSigner } from "./outside/signer.ts";
import { isHosting } from "./publish/site-files.ts";
import { decideSigning, type SignedFile } from "./sign.ts";
import {
  type LiveMetadata,
  type MetadataSource,
  nothingLive,
  readLiveMetadata,
} from "./trust/live-metadata.ts";
import { sha256 } from "./trust/metadata.ts";

/** Lists what signing added, and for which build. */
export const signedList = "metadata/signed.json";

const signedListSchema = z.object({
  schema_version: z.literal(1),
  build: z.string(),
  files: z.record(relativePathSchema, z.object({ sha256: z.string(), size: z.number() })),
});
export type SignedList = z.infer<typeof signedListSchema>;

export interface SignDelivery {
  /** The build's id. */
  build: string;
  written: number;
  unchanged: number;
  removed: number;
  /** When the metadata ends that ends first. */
  expires: string;
}

export interface SignOptions {
  /** Address, folder or metadata of where this site is live; otherwise only what was signed here before counts. */
  live?: string | MetadataSource | undefined;
  environment: Readonly<Record<string, string | undefined>>;
  /** Milliseconds since 1970. */
  now: number;
}

/**
 * Signs the site in `out` for what `releases/trust/` says. It adds files and touches none of the build's.
 * @throws RelcatError folder-missing, build-changed, build-provisional, trust-missing, key-unusable, key-untrusted, lock-held
 */
export async function signSite(
  releases: string,
  out: string,
  options: SignOptions,
  surroundings: Pick<Surroundings, "pid" | "onWait">,
): Promise<SignDelivery> {
  requireBuild(out);
  const config = await loadConfiguration(releases, undefined);
  if (config.trust.profile === "none") {
    throw failure(
      "trust-missing",
      "catalog.yaml has trust: none, so nothing is signed",
      "Begin with: relcat trust init KEYS-FOLDER, and trust: simple in catalog.yaml",
    );
  }
  const trust = requireTrust(releases);
  const online = openSigner(config.trust.online, options.environment);
  const source = typeof options.live === "string" ? metadataAt(options.live) : options.live;
  const live = source === undefined ? nothingLive : await readLiveMetadata(source);
  return withOutputLock(out, surroundings.pid, surroundings.onWait, async () => {
    const { document: build, bytes: buildBytes } = readWholeBuild(out);
    const files = await decideSigning({
      build,
      buildBytes,
      read: (path) => readIfPresent(join(out, path)) ?? new Uint8Array(),
      trust,
      live: newer(await readLiveMetadata(metadataAt(out)), live),
      online,
      principal: `releases@${config.authority}`,
      builder: config.builder,
      vendor: config.wire.vendor,
      now: options.now,
    });
    return deliver(out, sha256(buildBytes), files);
  });
}

/** What was signed here and has not been published yet, or what is published: whatever came later. */
function newer(here: LiveMetadata, there: LiveMetadata): LiveMetadata {
  const version = ({ timestamp }: LiveMetadata) => timestamp?.metadata.signed.version ?? 0;
  const highest = new Map(here.highest);
  for (const [role, number] of there.highest) highest.set(role, Math.max(number, highest.get(role) ?? 0));
  return { ...(version(there) >= version(here) ? there : here), highest };
}

/** @throws RelcatError build-changed where a file is not what build.json says */
function readWholeBuild(out: string): Build {
  const build = readBuild(out);
  const changed = Object.entries(build.document.files).filter(([path, known]) => {
    if (isHosting(path)) return false;
    const file = readIfPresent(join(out, path));
    return !file || sha256(file) !== known.sha256;
  });
  const [first] = changed;
  if (!first) return build;
  const more = changed.length > 1 ? `, and ${changed.length - 1} more` : "";
  throw failure(
    "build-changed",
    `${join(out, first[0])} is not what the build made${more}`,
    "Build it again: relcat build --released",
  );
}

/** What an earlier signing left. @throws RelcatError site-tampered */
export function readSignedList(out: string): SignedList | undefined {
  const file = join(out, signedList);
  const bytes = readIfPresent(file);
  return bytes && parsedAs(signedListSchema, () => bytes, file, "Remove it, and sign again: relcat sign");
}

/** Targets before metadata, timestamp.json and the list of all last. */
function deliver(out: string, build: string, files: readonly SignedFile[]): SignDelivery {
  const before = readSignedList(out);
  const counts = { written: 0, unchanged: 0, removed: 0 };
  const listed: SignedList["files"] = {};
  for (const { path, bytes } of files) {
    listed[path] = { sha256: sha256(bytes), size: bytes.length };
    const there = readIfPresent(join(out, path));
    if (there && Buffer.compare(there, bytes) === 0) counts.unchanged++;
    else {
      replaceDurably(join(out, path), bytes);
      counts.written++;
    }
  }
  const at = rootFolder(out);
  for (const path of Object.keys(before?.files ?? {})) {
    if (Object.hasOwn(listed, path)) continue;
    const file = at(relativePath(path));
    if (!exists(file)) continue;
    removeFile(file);
    counts.removed++;
  }
  const sorted = Object.fromEntries(Object.entries(listed).sort(([a], [b]) => (a < b ? -1 : 1)));
  const list: SignedList = { schema_version: 1, build, files: sorted };
  replaceDurably(join(out, signedList), new TextEncoder().encode(`${JSON.stringify(list)}\n`));
  return { build, ...counts, expires: earliest(files) };
}

function earliest(files: readonly SignedFile[]): string {
  const ends = files
    .filter(({ path }) => path.startsWith("metadata/"))
    .map(({ bytes }) => JSON.parse(new TextDecoder().decode(bytes)).signed.expires as string);
  return ends.sort()[0] ?? "";
}

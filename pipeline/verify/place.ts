import { dirname, join } from "node:path";
import { failure, RelcatError } from "../../shared/errors.ts";
import type { Settings } from "../documents/config.ts";
import { shellWord } from "../project/display.ts";
import { openSettings } from "../project/settings.ts";
import { exists, isBelow } from "../system/files.ts";
import { isAddress } from "../system/network/download-stream.ts";
import { sha256 } from "../trust/metadata.ts";
import { isSite, type ProjectPolicy, projectPolicy } from "./project-policy.ts";
import { siteAt } from "./stores/site-reader.ts";
import {
  asRoot,
  readFirstRoot,
  readRootFile,
  rememberFirstRoot,
  trustBase,
  trustState,
} from "./stores/trust-state.ts";

interface PlaceOptions {
  /** Root file that the user trusts. */
  root?: string | undefined;
  /** Trust the site's own first root, and require the same one from then on. */
  trustFirstUse?: boolean | undefined;
  trustDir?: string | undefined;
  environment: Readonly<Record<string, string | undefined>>;
}

/** A site, the root to verify it with, and its stored trust state. */
export interface TrustedPlace {
  place: string;
  root: Uint8Array;
  /** Folder with the trust state of earlier runs. */
  state: string;
  /** True if builds there are permanent; undefined: no configuration available. */
  settles: boolean | undefined;
  /** Project whose policy applies to the artifacts. */
  policy: ProjectPolicy;
  /** Set if the root came from the site itself. */
  firstUse: { fingerprint: string; isNew: boolean } | undefined;
  /** Stores the first root; called after successful verification. */
  rememberFirst(): Promise<void>;
}

/**
 * Resolves the name of a site in catalog.yaml, an address or a folder.
 * @throws RelcatError site-unknown, usage without a root, root-missing, site-tampered, network
 */
export async function findPlace(
  releases: string,
  word: string,
  options: PlaceOptions,
): Promise<TrustedPlace> {
  const config = await configuration(releases, word);
  const site = config?.sites.get(word);
  if (!site && !isAddress(word) && !exists(word.replace(/^dir:/, ""))) throw unknownPlace(word, config);
  const place = site?.baseUrl ?? word;
  const plain = place.replace(/\/+$/, "");
  const same = [...(config?.sites.values() ?? [])].filter(({ baseUrl }) => baseUrl === plain);
  const settles = site?.settles ?? (same.length === 0 ? undefined : same.every((known) => known.settles));
  const policy = projectPolicy(releases, word, config);
  const base = trustBase(options.trustDir, options.environment);
  const file = options.root ?? (options.trustFirstUse ? undefined : ownRoot(releases, word, config));
  if (file !== undefined && options.trustFirstUse)
    throw failure(
      "usage",
      "--root and --trust-first-use are both given",
      "Give only --root: it is the stronger check.",
    );
  if (file !== undefined) {
    const root = readRootFile(file);
    const state = trustState(base, place, root);
    return { place, root, state, settles, policy, firstUse: undefined, rememberFirst: async () => {} };
  }
  if (!options.trustFirstUse) throw withoutRoot(releases);
  return { ...(await firstUse(base, place)), settles, policy };
}

/** The project's own root applies to its sites, and to folders inside the project, such as build output. */
function ownRoot(releases: string, word: string, config: Settings | undefined): string | undefined {
  const file = firstRoot(releases);
  if (config?.sites.has(word)) {
    if (config.trust.profile === "none") throw unsignedSite(word);
    return file;
  }
  const isOwn = (config && isSite(word, config)) || isInside(dirname(releases), word);
  return isOwn && exists(file) ? file : undefined;
}

const unsignedSite = (name: string): RelcatError =>
  failure(
    "trust-missing",
    `${name} is not signed: catalog.yaml has trust: none`,
    "To sign it, run relcat trust init KEYS-FOLDER, and add trust: simple to catalog.yaml.",
  );

function isInside(project: string, word: string): boolean {
  const folder = word.replace(/^dir:/, "");
  return !isAddress(word) && exists(folder) && isBelow(project, folder);
}

async function configuration(releases: string, word: string): Promise<Settings | undefined> {
  try {
    return (await openSettings(releases)).config;
  } catch (error) {
    if (error instanceof RelcatError && error.code === "folder-missing") return undefined;
    // A broken configuration does not matter for an address or a folder.
    if (error instanceof RelcatError && (isAddress(word) || exists(word.replace(/^dir:/, ""))))
      return undefined;
    throw error;
  }
}

function unknownPlace(word: string, config: Settings | undefined): RelcatError {
  if (!config)
    return failure(
      "folder-missing",
      `${JSON.stringify(word)} is not an address or a folder, and there is no folder releases here that could name it as a site`,
      "Give https://… or a folder. For a site of catalog.yaml, give the project's folder with -C.",
    );
  const names = [...config.sites.keys()];
  const known = names.length === 0 ? "catalog.yaml names no site" : `catalog.yaml has ${names.join(", ")}`;
  return failure(
    "site-unknown",
    `${JSON.stringify(word)} is not a site of catalog.yaml, an address or a folder`,
    `Give https://…, a folder, or a site's name: ${known}.`,
  );
}

const firstRoot = (releases: string) => join(releases, "trust/1.root.json");

const withoutRoot = (releases: string) =>
  failure(
    "usage",
    "there is no root to verify signatures with",
    `Give the root you trust: --root ${shellWord(firstRoot(releases))}, or a copy of it from someone you trust. ` +
      "In the project, its own root counts for its sites and the folders in it. --trust-first-use takes the site's own.",
  );

const maxRootBytes = 512_000;

async function firstUse(base: string, place: string): Promise<Omit<TrustedPlace, "settles" | "policy">> {
  const path = "metadata/1.root.json";
  const { status, bytes } = await siteAt(place).read(path, maxRootBytes);
  if (status !== 200)
    throw failure(
      "root-missing",
      `${place} has no ${path} (${status})`,
      "It is not signed, or its metadata is elsewhere; give the root you trust with --root.",
    );
  const before = readFirstRoot(base, place);
  if (before && Buffer.compare(before, bytes) !== 0)
    throw failure(
      "site-tampered",
      `${place} has another first root than when it was trusted first (SHA-256 ${sha256(bytes)}, then ${sha256(before)})`,
      "Ask its publisher which one is right, and give it with --root.",
    );
  const root = before ?? asRoot(bytes, `${place}/${path}`);
  return {
    place,
    root,
    state: trustState(base, place, root),
    firstUse: { fingerprint: sha256(root), isNew: !before },
    rememberFirst: async () => {
      if (!before) await rememberFirstRoot(base, place, root);
    },
  };
}

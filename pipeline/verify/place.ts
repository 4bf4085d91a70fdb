import { dirname, join, resolve } from "node:path";
import { failure, RelcatError } from "../../shared/errors.ts";
import { stateFolder } from "../../shared/state-folder.ts";
import type { Settings } from "../documents/config.ts";
import { shellWord } from "../project/display.ts";
import { openSettings } from "../project/settings.ts";
import { exists, isBelow } from "../system/files.ts";
import { isAddress } from "../system/network/download-stream.ts";
import { sha256 } from "../trust/metadata.ts";
import { liveFolder, siteAt } from "./stores/site-reader.ts";
import { asRoot, firstRoot, readRootFile, trustState } from "./stores/trust-state.ts";

interface PlaceOptions {
  /** Root file that the user trusts. */
  root?: string | undefined;
  /** Trust the site's own first root, and require the same one from then on. */
  trustFirstUse?: boolean | undefined;
  trustDir?: string | undefined;
  environment: Readonly<Record<string, string | undefined>>;
}

interface OwnProject {
  folder: string;
  catalog: string;
  config: Settings;
}

/** The project whose policy applies, or why there is none. Without signers, only its manifests apply. */
export type ProjectPolicy =
  | { project: OwnProject }
  | { project: undefined; reason: string; manifests?: OwnProject };

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
  if (!site && !isAddress(word) && !isLocal(word)) throw unknownPlace(word, config);
  const place = site?.baseUrl ?? word;
  const plain = place.replace(/\/+$/, "");
  const same = [...(config?.sites.values() ?? [])].filter(({ baseUrl }) => baseUrl === plain);
  const settles = site?.settles ?? (same.length === 0 ? undefined : same.every((known) => known.settles));
  const policy = projectPolicy(releases, word, config);
  const base = options.trustDir ?? join(stateFolder(options.environment), "trust");
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
  if (!options.trustFirstUse)
    throw failure(
      "usage",
      "there is no root to verify signatures with",
      `Give the root you trust: --root ${shellWord(ownRootFile(releases))}, or a copy of it from someone you trust. ` +
        "In the project, its own root counts for its sites and the folders in it. --trust-first-use takes the site's own.",
    );
  return { ...(await firstUse(base, place)), settles, policy };
}

/** The project's own root applies to its sites, and to folders inside the project, such as build output. */
function ownRoot(releases: string, word: string, config: Settings | undefined): string | undefined {
  const file = ownRootFile(releases);
  if (config?.sites.has(word)) {
    if (config.trust.profile !== "none") return file;
    throw failure(
      "trust-missing",
      `${word} is not signed: catalog.yaml has trust: none`,
      "To sign it, run relcat trust init KEYS-FOLDER, and add trust: simple to catalog.yaml.",
    );
  }
  const isOwn =
    (config && isSite(word, config)) || (isLocal(word) && isBelow(dirname(releases), folderOf(word)));
  return isOwn && exists(file) ? file : undefined;
}

const ownRootFile = (releases: string) => join(releases, "trust/1.root.json");

const folderOf = (word: string): string => word.replace(/^dir:/, "");

const isLocal = (word: string): boolean => !isAddress(word) && exists(folderOf(word));

function isSite(word: string, { sites }: Settings): boolean {
  const folder = resolve(folderOf(word));
  return [...sites.values()].some(
    ({ name, baseUrl, place }) =>
      name === word ||
      baseUrl === word.replace(/\/+$/, "") ||
      (place.kind === "dir" &&
        [place.folder, liveFolder(place.folder)].map((path) => resolve(path)).includes(folder)),
  );
}

/** A policy applies only to sites of its project, because its signers have nothing to do with others. */
function projectPolicy(folder: string, word: string, config: Settings | undefined): ProjectPolicy {
  const catalog = `${folder}/catalog.yaml`;
  const none = (reason: string) => ({ project: undefined, reason });
  if (!exists(catalog)) return none(`there is no ${catalog} here`);
  if (!config) return none(`${catalog} cannot be read`);
  if (!isSite(word, config)) return none(`${word} is not a site of ${catalog}`);
  const own = { folder, catalog, config };
  return config.policies.size === 0
    ? { ...none(`${catalog} names no signers`), manifests: own }
    : { project: own };
}

async function configuration(releases: string, word: string): Promise<Settings | undefined> {
  try {
    return (await openSettings(releases)).config;
  } catch (error) {
    if (!(error instanceof RelcatError)) throw error;
    // A broken configuration does not matter for an address or a folder.
    if (error.code === "folder-missing" || isAddress(word) || isLocal(word)) return undefined;
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
  const { before, remember } = firstRoot(base, place);
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
      if (!before) await remember(root);
    },
  };
}

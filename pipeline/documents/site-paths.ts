import { feedFolders } from "./feeds/paths.ts";

/** Folders at a site's root that builds, signatures and the store write to. */
const ownFolders = new Set([
  "api",
  "assets",
  "facets",
  "feeds",
  "hosting",
  "metadata",
  "page",
  "platforms",
  "releases",
  "schemas",
  "search",
  "changes",
  "state",
  "targets",
  ...feedFolders,
]);

/** Folders that few sites have; web servers send what is in them with the headers of artifacts. */
const rareFolders = new Set([".well-known", "csaf"]);

export const isInRareFolder = (path: string): boolean => rareFolders.has(path.slice(0, path.indexOf("/")));

/** True for paths in relcat's own folders, where an artifact could replace a document. */
export const isInOwnFolder = (path: string): boolean =>
  path.includes("/") && (ownFolders.has(path.slice(0, path.indexOf("/"))) || isInRareFolder(path));

/** The same folders as a pattern for nginx, Caddy and JavaScript, matched after the first slash. */
export const documentFolders = `(?:${[...ownFolders].join("|")})/`;

export const channelPath = (name: string): string => `api/v1/channel/${name}.json`;

/** The same document as a TUF target. */
export const channelTarget = (name: string): string => `catalog/channel-${name}.json`;

/** The index of channels has this name, which no channel has. */
export const channelIndex = "index";
export const channelsPath = channelPath(channelIndex);

export const searchPaths = {
  page: "search/index.html",
  index: "search/index.json",
  /** @param part a month, `26.08`, or a part of it, `26.08-2` */
  notes: (part: string) => `search/notes/${part}.json`,
  /** @param prefix first digits of the checksums; empty: all are in one file */
  hashes: (prefix: string) => `search/hash/${prefix || "all"}.json`,
};

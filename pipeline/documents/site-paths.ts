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

const channelFolder = "api/v1/channel/";
export const channelsPath = `${channelFolder}index.json`;
export const channelPath = (name: string): string => `${channelFolder}${name}.json`;

/** The name as a TUF target of a channel's document, or of their index; undefined for other files. */
export const channelTarget = (path: string): string | undefined => {
  const [, file] = /^api\/v1\/channel\/([^/]+\.json)$/.exec(path) ?? [];
  return file && `catalog/channel-${file}`;
};

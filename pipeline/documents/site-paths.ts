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

/** True for paths in relcat's own folders, where an artifact could replace a document. */
export const isInOwnFolder = (path: string): boolean =>
  path.includes("/") && ownFolders.has(path.slice(0, path.indexOf("/")));

/** The same folders as a pattern for nginx, Caddy and JavaScript, matched after the first slash. */
export const documentFolders = `(?:${[...ownFolders].join("|")})/`;

/** Folders at a site's root that builds, signatures and the store write to. */
const ownFolders = new Set([
  "api",
  "assets",
  "facets",
  "hosting",
  "metadata",
  "page",
  "platforms",
  "releases",
  "schemas",
  "state",
  "targets",
]);

/** Whether a path from a site's root lies in a folder that is relcat's own: an artifact there could take a document's place. */
export const isInOwnFolder = (path: string): boolean =>
  path.includes("/") && ownFolders.has(path.slice(0, path.indexOf("/")));

/** The same folders in a pattern that nginx, Caddy and JavaScript read alike: it matches after the first slash. */
export const documentFolders = `(?:${[...ownFolders].join("|")})/`;

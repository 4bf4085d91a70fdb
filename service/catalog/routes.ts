import { descriptions } from "../../pipeline/documents/api-answers.ts";
import type { Route } from "../http/router.ts";

export type CatalogOperation =
  | "readRoot"
  | "listPackages"
  | "addManifest"
  | "latestPackage"
  | "readPackage"
  | "download";

/** Routes of the catalog's API. All other paths are files of the site. */
export const catalogRoutes: readonly Route<CatalogOperation>[] = [
  { path: "/api/v1/", ...descriptions.root, operations: { GET: "readRoot" } },
  {
    path: "/api/v1/package/",
    ...descriptions.list,
    operations: { GET: "listPackages", POST: "addManifest" },
  },
  { path: "/api/v1/package/latest/", ...descriptions.latest, operations: { GET: "latestPackage" } },
  { path: "/api/v1/package/:id/", ...descriptions.record, operations: { GET: "readPackage" } },
  { path: "/api/v1/package/:id/download/", ...descriptions.download, operations: { GET: "download" } },
];

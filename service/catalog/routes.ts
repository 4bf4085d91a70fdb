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
  {
    path: "/api/v1/",
    name: "Api Root",
    description: "Where the collections are.",
    operations: { GET: "readRoot" },
  },
  {
    path: "/api/v1/package/",
    name: "Package List",
    description: "Released packages and images, newest version first.",
    operations: { GET: "listPackages", POST: "addManifest" },
  },
  {
    path: "/api/v1/package/latest/",
    name: "Latest Package",
    description: "Leads to the one artifact of the highest version that has a match.",
    operations: { GET: "latestPackage" },
  },
  {
    path: "/api/v1/package/:id/",
    name: "Package Instance",
    description: "One package or image; 410 once it is withdrawn.",
    operations: { GET: "readPackage" },
  },
  {
    path: "/api/v1/package/:id/download/",
    name: "Package Download",
    description: "Leads to the file of a package.",
    operations: { GET: "download" },
  },
];

/** Headers of every host: no content sniffing, and no referrer for other sites. */
export const securityHeaders = {
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "same-origin",
} as const;

/** Assets whose path contains a hash, relative to the site's root. */
export const hashedAsset =
  "/assets/[^/]+[.][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][.][a-z]+";

/** Methods of the list and of all other addresses. Only hosts with a program answer POST. */
export const allow = { list: "GET, POST, HEAD, OPTIONS", other: "GET, HEAD, OPTIONS" } as const;

export const vary = { negotiated: "Accept, Accept-Encoding", file: "Accept-Encoding" } as const;

const detail = (text: string) => JSON.stringify({ detail: text });

export const bodies = {
  notFound: detail("Not found."),
  notAcceptable: detail("Could not satisfy the request Accept header."),
  unknownParameter: detail("Unknown parameters."),
  unnamedType: detail("Name a package_type."),
  notPrepared: detail(
    "This host serves prepared answers, and has none for this question. It knows operating_system, package_type, and " +
      "min_os_version and max_os_version together with a package_type, as JSON in the list's own order. One release is at " +
      "api/v1/release/VERSION/, the newest of each type at api/v1/latest.json, everything at api/v1/package/.",
  ),
  notPreparedLatest: detail(
    "This host serves prepared answers, and has none for this question. Here it knows package_type, operating_system, " +
      "min_os_version, max_os_version, gui_only and headless.",
  ),
} as const;

interface Described {
  name: string;
  description: string;
}

export const descriptions = {
  root: { name: "Api Root", description: "Where the collections are." },
  list: { name: "Package List", description: "Released packages and images, newest version first." },
  latest: {
    name: "Latest Package",
    description: "Leads to the one artifact of the highest version that has a match.",
  },
  record: { name: "Package Instance", description: "One package or image; 410 once it is withdrawn." },
  download: { name: "Package Download", description: "Leads to the file of a package." },
} as const satisfies Record<string, Described>;

export const fileDescription = detail("A file.");

export const optionsOf = ({ name, description }: Described) => ({
  name,
  description,
  renders: ["application/json", "text/html"],
  parses: ["application/json"],
});

export const description = (described: Described): string => JSON.stringify(optionsOf(described));

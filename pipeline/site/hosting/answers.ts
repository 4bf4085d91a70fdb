import { cacheControl } from "../../documents/file-headers.ts";

/** Headers of every host, and bodies of answers without a file. */
export const securityHeaders = {
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "same-origin",
} as const;

export { contentPolicies, contentSecurityPolicy } from "../../documents/pages/content-security-policy.ts";
export { cacheControl as caching };

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

/** Names and descriptions of the API's addresses. */
export const descriptions = {
  root: ["Api Root", "Where the collections are."],
  list: ["Package List", "Released packages and images, newest version first."],
  latest: ["Latest Package", "Leads to the one artifact of the highest version that has a match."],
  record: ["Package Instance", "One package or image; 410 once it is withdrawn."],
  download: ["Package Download", "Leads to the file of a package."],
} as const;

export const fileDescription = detail("A file.");

export const description = ([name, text]: readonly [name: string, text: string]): string =>
  JSON.stringify({
    name,
    description: text,
    renders: ["application/json", "text/html"],
    parses: ["application/json"],
  });

import type { ServedSite } from "./catalog.ts";
import { apiRequests } from "./contract-api.ts";
import { artifactRequests } from "./contract-artifacts.ts";
import { feedRequests } from "./contract-feeds.ts";
import { listRequests } from "./contract-list.ts";
import { pathRequests } from "./contract-paths.ts";
import { siteRequests } from "./contract-site.ts";
import type { Expected } from "./expectation.ts";

/** Capabilities of a host; the rows of the table in docs/hosting.md. */
export const parts = {
  list: "the list as JSON, HEAD, `api/v1/`",
  rendering: "JSON or page by `format=` and `Accept`",
  weights: "weights (`q=`) in `Accept`",
  ordering: "`ordering=-id`; unknown terms are dropped",
  orderings: "other orderings",
  facets: "filters by operating system, package type and its versions",
  filters: "all other filters, `version=latest`, filtered pages",
  unknown: "unknown parameters are ignored, or refused with `strict=1`",
  ignored: "ignored parameters are named in `X-Ignored-Parameters`",
  record: "`{id}/` as JSON, as page",
  gone: "410 for withdrawn packages",
  download: "`{id}/download/`",
  latest: "`latest/?package_type=…` with versions and variant",
  latestLine: "`latest/` with any other filter",
  methods: "405, `Allow`, OPTIONS",
  slash: "redirect to the final slash with the query, 308 for other methods",
  errors: "404 as JSON below `api/`, as page elsewhere",
  private: "dot files and `hosting/` are not served",
  pages: "pages with a strict CSP, assets cached for a year",
  encodings: "compressed answers",
  artifacts: "unchanged artifacts, with range requests",
  feeds: "package feeds: indexes unchanged, those with a hash in the path cached for a year",
  paths: "names with a space or `+ % ~ ^ :`, however a client encodes them",
  registry: "`v2/`: media type and digest of manifests, by tag and by digest",
  validators: "a strong ETag per representation, 304",
} as const;

export type Part = keyof typeof parts;

/** One request and the answer of every home without an exception for it. */
export interface Exchange {
  part: Part;
  /** The expectation; exceptions of homes refer to this name. */
  name: string;
  method?: string;
  /** Below the base path; may have a query. */
  path: string;
  headers?: Record<string, string>;
  expected: Expected;
  /** Sent again with the ETag of the first answer. */
  again?: Expected;
}

/** The whole contract for a site. */
export const contract = (site: ServedSite): Exchange[] => [
  ...listRequests(site),
  ...apiRequests(site),
  ...siteRequests(site),
  ...artifactRequests(),
  ...feedRequests(),
  ...pathRequests(),
];

import type { Config } from "../../documents/config.ts";
import type { FeedRule } from "./feed-rules.ts";
import type { Routing } from "./routing.ts";

/** security.txt, the list of packslip, and both as the build writes them, below the site; a pattern of every host. */
export const wellKnownFiles = "[.]well-known/(?:security[.](?:txt|undated)|packslip[.](?:unsigned[.])?json)";

export interface HostSources {
  routing: Routing;
  encodings: Config["precompress"];
  feeds: readonly FeedRule[];
  /** True if the site has such files, which are in a folder whose name begins with a dot. */
  hasWellKnown: boolean;
  /** Digests such as `sha256:…` of an OCI registry's tags, by path below the site. */
  tags: ReadonlyMap<string, string>;
  /** Texts of templates/, by path. */
  templates: ReadonlyMap<string, string>;
}

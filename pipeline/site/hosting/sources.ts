import type { Config } from "../../documents/config.ts";
import type { FeedRule } from "./feed-rules.ts";
import type { Routing } from "./routing.ts";

/** security.txt and the same without its end, below the site, as a pattern of every host. */
export const contactFiles = "[.]well-known/security[.](?:txt|undated)";

export interface HostSources {
  routing: Routing;
  encodings: Config["precompress"];
  feeds: readonly FeedRule[];
  /** True if the site has security.txt, which is in a folder whose name begins with a dot. */
  hasContact: boolean;
  /** Digests such as `sha256:…` of an OCI registry's tags, by path below the site. */
  tags: ReadonlyMap<string, string>;
  /** Texts of templates/, by path. */
  templates: ReadonlyMap<string, string>;
}

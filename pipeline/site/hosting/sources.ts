import type { Config } from "../../documents/config.ts";
import type { FeedRule } from "./feed-rules.ts";
import type { Routing } from "./routing.ts";

export interface HostSources {
  routing: Routing;
  encodings: Config["precompress"];
  feeds: readonly FeedRule[];
  /** Digests such as `sha256:…` of an OCI registry's tags, by path below the site. */
  tags: ReadonlyMap<string, string>;
  /** Texts of templates/, by path. */
  templates: ReadonlyMap<string, string>;
}

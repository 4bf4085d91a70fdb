import type { Config } from "../../documents/config.ts";
import type { Routing } from "./routing.ts";

export interface HostSources {
  routing: Routing;
  encodings: Config["precompress"];
  /** Texts of templates/, by path. */
  templates: ReadonlyMap<string, string>;
}

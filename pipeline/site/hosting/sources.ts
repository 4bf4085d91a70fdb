import type { Config } from "../../documents/config.ts";
import { type FeedPath, feedPaths } from "../../documents/feeds/paths.ts";
import type { FeedSettings } from "../../documents/feeds/settings.ts";
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

/** Files of package feeds that a host serves with the same headers. */
export interface FeedRule {
  /** Matches paths relative to the site's root. It has braces, so it needs quotes in nginx. */
  pattern: string;
  contentType: string;
  isImmutable: boolean;
  /** Whether they are files of an OCI registry, which has headers of its own. */
  isRegistry: boolean;
}

/** Rules for the feeds that are on. A path that two rules match is immutable, and the first rule applies. */
export function feedRules(settings: FeedSettings): FeedRule[] {
  const paths = feedPaths.filter((entry) => isServed(entry, settings));
  const sorted = paths.sort((a, b) => Number(isImmutable(b)) - Number(isImmutable(a)));
  const groups = Map.groupBy(sorted, (entry) =>
    [isImmutable(entry), isInRegistry(entry), entry.contentType].join(),
  );
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    return {
      pattern: group.map(({ path }) => inside(path)).join("|"),
      contentType: first.contentType,
      isImmutable: isImmutable(first),
      isRegistry: isInRegistry(first),
    };
  });
}

const isImmutable = ({ role }: FeedPath) => role === "immutable";
const isInRegistry = ({ path }: FeedPath) => path.source.startsWith("^v2\\/");

/** The certificates in `keys/` are those of apt and yum. */
const isServed = (entry: FeedPath, settings: FeedSettings): boolean => {
  const { apt, yum, helm } = settings;
  if (entry.path.source.startsWith("^keys\\/")) return apt !== undefined || yum !== undefined;
  return isInRegistry(entry) ? helm?.oci === true : settings[entry.feed] !== undefined;
};

/** The pattern without its anchors and backslashes. */
const inside = ({ source }: RegExp): string =>
  source
    .replace(/^\^|\$$/g, "")
    .replaceAll("\\/", "/")
    .replaceAll("\\.", "[.]");

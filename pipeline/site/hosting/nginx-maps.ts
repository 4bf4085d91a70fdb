import type { Encoding } from "../../documents/hosting.ts";
import { caching, contentPolicies, hashedAsset, vary } from "./answers.ts";
import { type Routing, unknownValue } from "./routing.ts";
import {
  absent,
  acceptRules,
  empty,
  flagRules,
  formatRules,
  onlyKnown,
  orderingRules,
  otherFilter,
  otherLatestFilter,
  parameters,
  type Rule,
  rawValue,
  strictly,
} from "./rules.ts";

/** In single quotes. */
export const quoted = (text: string): string => `'${text.replace(/[\\']/g, "\\$&")}'`;

/** The longest key of a hash table whose size nginx chooses; longer keys become patterns. */
const maxDefaultKeyLength = 40;

/** Parses requests by table lookups, so that client input never becomes part of a path. */
export function requestMaps(routing: Routing, longestKey: number): string {
  const names = Object.entries(parameters);
  return [
    map("$request_method", "method", "other", [], { GET: "read", HEAD: "read", OPTIONS: "options" }),
    ...names.map(([short, name]) => rawMap(short, name)),
    map("$http_accept", "accepted", "none", acceptRules),
    map("$relcat_raw_format", "asked", "bad", formatRules),
    map("$relcat_asked", "format", "$relcat_asked", [], { accept: "$relcat_accepted" }),
    map('"$relcat_asked:$relcat_accepted"', "negotiated", "", [], { "accept:html": "page" }),
    map("$relcat_raw_ordering", "ordering", "", orderingRules),
    ...(["system", "type", "min", "max"] as const).map((name) =>
      map(`$relcat_raw_${name}`, name, unknownValue, routing.values[name]),
    ),
    map("$relcat_raw_gui", "gui", unknownValue, flagRules),
    map("$relcat_raw_headless", "headless", unknownValue, flagRules),
    map("$args", "known", "no", [[onlyKnown, "yes"]]),
    map("$args", "strict", "no", [[strictly, "yes"]]),
    map('"$relcat_strict:$relcat_known"', "refused", "no", [], { "yes:no": "yes" }),
    map("$args", "other", "no", [[otherFilter, "yes"]]),
    map("$args", "other_latest", "no", [[otherLatestFilter, "yes"]]),
    ...listMaps(routing, longestKey),
    targetMap,
    responseMaps(routing.base),
  ].join("\n");
}

/**
 * Numbered groups, because each named group is a variable, and nginx warns when its variable table is full.
 */
function rawMap(short: string, name: string): string {
  return map("$args", `raw_${short}`, absent, [[rawValue(name), "$1"]]);
}

function map(
  source: string,
  name: string,
  otherwise: string,
  rules: readonly Rule[],
  exact: Readonly<Record<string, string>> = {},
  longestKey: number = maxDefaultKeyLength,
): string {
  const value = (text: string) => (text.startsWith("$") ? text : quoted(text));
  return [
    `map ${source} $relcat_${name} {`,
    `  default ${value(otherwise)};`,
    ...Object.entries(exact).map(
      ([key, result]) => `  ${quoted(key.length <= longestKey ? key : wholly(key))} ${value(result)};`,
    ),
    ...rules.map(([pattern, result]) => `  ${quoted(regex(pattern))} ${value(result)};`),
    "}",
  ].join("\n");
}

const wholly = (key: string) => `~^${key.replace(/[.|]/g, "[$&]")}$`;

const regex = (pattern: string) =>
  pattern === empty ? "" : pattern.startsWith("(?i)") ? `~*${pattern.slice(4)}` : `~${pattern}`;

const listMaps = ({ scopes, otherScopes, lists, otherLists }: Routing, longestKey: number) => [
  map('"$relcat_system|$relcat_type"', "scope", "none", otherScopes, Object.fromEntries(scopes), longestKey),
  map(
    '"$relcat_scope|$relcat_min|$relcat_max"',
    "list",
    "unready",
    otherLists,
    Object.fromEntries(lists),
    longestKey,
  ),
];

/** Format, other filters, ordering and list → the file with the answer. */
const targetMap = map(
  '"$relcat_format:$relcat_other:$relcat_ordering:$relcat_list"',
  "target",
  "unready",
  [["^json:no::(facets/.*)$", "$1"]],
  {
    "html:no::api/v1/package/index.json": "api/v1/package/index.html",
    "json:no::api/v1/package/index.json": "api/v1/package/index.json",
    "json:no:-id:api/v1/package/index.json": "api/v1/package/ordering=-id.json",
  },
);

const responseMaps = (base: string) =>
  [
    map(
      "$uri",
      "policy",
      "",
      Object.entries(contentPolicies).map(([extension, policy]) => [`(?i)[.]${extension}$`, policy]),
    ),
    map("$relcat_route", "vary", vary.file, [["^api$", vary.negotiated]]),
    map('"$status:$relcat_page:$uri"', "cache", caching.none, [
      ["^[0-9]*:page:", caching.none],
      ["^(?:200|206|304):artifact:", caching.artifact],
      ["^(?:200|206|304):hashed:", caching.upload],
      [`^(?:200|304):[^:]*:(?:${base.replace(/[.]/g, "[.]")})?${hashedAsset}$`, caching.immutable],
      ["^(?:200|206|304|301|302|308|410):", caching.public],
    ]),
  ].join("\n");

/** Data that changes with every release: download addresses, and targets of `latest/`. */
export function dataMaps(
  { downloads, latest, otherLatest }: Routing,
  longestKey: number,
): { downloads: string; latest: string } {
  return {
    downloads: [
      map("$relcat_id", "download", "", [], Object.fromEntries(downloads)),
      map("$relcat_download", "version", "", [["^([^ ]+) ", "$1"]]),
      map("$relcat_download", "url", "", [["^[^ ]+ (.*)$", "$1"]]),
    ].join("\n"),
    latest: [
      map(
        '"$relcat_scope|$relcat_min|$relcat_max|$relcat_gui|$relcat_headless"',
        "latest",
        "404",
        otherLatest,
        Object.fromEntries(latest),
        longestKey,
      ),
      map("$relcat_latest", "latest_status", "404", [["^([0-9]+)", "$1"]]),
      map("$relcat_latest", "latest_text", "", [["^[0-9]+ (.*)$", "$1"]]),
    ].join("\n"),
  };
}

/** Digests of an OCI registry's files: those of tags, and those in other paths. */
export const registryMap = (
  tags: ReadonlyMap<string, string>,
  longestKey: number = maxDefaultKeyLength,
): string =>
  map(
    "$uri",
    "digest",
    "",
    [["^/v2/.+/(sha256:[0-9a-f]+)$", "$1"]],
    Object.fromEntries([...tags].map(([path, digest]) => [`/${path}`, digest])),
    longestKey,
  );

/** Settings of hash tables that are larger than nginx's defaults; "" if those suffice. */
export function tableSizes(
  { downloads, latest, lists, scopes }: Routing,
  tags: ReadonlyMap<string, string>,
): { lines: string; longestKey: number } {
  const texts = [latest, lists, scopes, tags];
  const tables = [downloads, ...texts];
  // Measured with buckets of 64 bytes: one has room for three ids, but only for one of most texts.
  const isSmall = downloads.size < 1500 && texts.every(({ size }) => size <= 120);
  if (isSmall) return { lines: "", longestKey: maxDefaultKeyLength };
  const count = Math.max(...tables.map(({ size }) => size), 1024);
  const longestKey = tables
    .flatMap((table) => [...table.keys()])
    .reduce<number>((longest, key) => Math.max(longest, String(key).length + 1), maxDefaultKeyLength);
  // A bucket has room for eight keys of this length, because a table of this size has a few such buckets.
  const bucket = Math.ceil((8 * (longestKey + 24)) / 64) * 64;
  const lines = `# If nginx reports these settings as duplicates, remove them from nginx.conf, and include this file above the first map there.
map_hash_max_size ${2 ** Math.ceil(Math.log2(count * 2))};
map_hash_bucket_size ${bucket};
`;
  return { lines, longestKey };
}

/** Turns off encodings for files whose names look compressed but are not. */
export const noCompression = (encodings: ReadonlySet<Encoding>): string[] => [
  "gzip_static off;",
  ...(encodings.has("br") ? ["brotli_static off;"] : []),
];

/** Modules that serve precompressed siblings. */
export const compression = (encodings: ReadonlySet<Encoding>): string[] => [
  "gzip off;",
  "gzip_vary off;",
  `gzip_static ${encodings.has("gz") ? "on" : "off"};`,
  ...(encodings.has("br") ? ["brotli_static on;"] : []),
];

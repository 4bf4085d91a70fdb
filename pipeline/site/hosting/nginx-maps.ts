import type { Encoding } from "../../documents/hosting.ts";
import { caching, contentPolicies, hashedAsset, vary } from "./answers.ts";
import { type RequestTable, requestTables } from "./request-tables.ts";
import type { Routing } from "./routing.ts";
import { empty, escaped } from "./rules.ts";

/** In single quotes. */
export const quoted = (text: string): string => `'${text.replace(/[\\']/g, "\\$&")}'`;

/** The longest key of a hash table whose size nginx chooses; longer keys become patterns. */
const maxDefaultKeyLength = 40;

export function requestMaps(routing: Routing, longestKey: number): string {
  const format = { of: "{asked}", otherwise: "$relcat_asked", exact: { accept: "$relcat_accepted" } };
  const tables = requestTables(routing, format).map((table) => map(table, longestKey));
  return [...tables, responseMaps(routing.base)].join("\n");
}

function map(
  { name, of, otherwise, exact = {}, rules = [] }: RequestTable,
  longestKey: number = maxDefaultKeyLength,
): string {
  const value = (text: string) => (text.startsWith("$") ? text : quoted(text));
  return [
    `map ${sourceOf(of)} $relcat_${name} {`,
    `  default ${value(otherwise)};`,
    ...Object.entries(exact).map(
      ([key, result]) => `  ${quoted(key.length <= longestKey ? key : wholly(key))} ${value(result)};`,
    ),
    ...rules.map(([pattern, result]) => `  ${quoted(regex(pattern))} ${value(result)};`),
    "}",
  ].join("\n");
}

const ownVariables = new Map([
  ["{method}", "$request_method"],
  ["{query}", "$args"],
  ["{accept}", "$http_accept"],
  ["{uri}", "$uri"],
  ["{status}", "$status"],
]);

/** Several variables are one text. */
function sourceOf(of: string): string {
  const source = of.replace(/{\w+}/g, (name) => ownVariables.get(name) ?? `$relcat_${name.slice(1, -1)}`);
  return source.lastIndexOf("$") > 0 ? `"${source}"` : source;
}

const wholly = (key: string) => `~^${key.replace(/[.|]/g, "[$&]")}$`;

const regex = (pattern: string) =>
  pattern === empty ? "" : pattern.startsWith("(?i)") ? `~*${pattern.slice(4)}` : `~${pattern}`;

const responseMaps = (base: string) =>
  [
    map({
      name: "policy",
      of: "{uri}",
      otherwise: "",
      rules: Object.entries(contentPolicies).map(([extension, policy]) => [`(?i)[.]${extension}$`, policy]),
    }),
    map({ name: "vary", of: "{route}", otherwise: vary.file, rules: [["^api$", vary.negotiated]] }),
    map({
      name: "cache",
      of: "{status}:{page}:{uri}",
      otherwise: caching.none,
      rules: [
        ["^[0-9]*:page:", caching.none],
        ["^(?:200|206|304):artifact:", caching.artifact],
        ["^(?:200|206|304):hashed:", caching.upload],
        [`^(?:200|304):[^:]*:(?:${escaped(base)})?${hashedAsset}$`, caching.immutable],
        ["^(?:200|206|304|301|302|308|410):", caching.public],
      ],
    }),
  ].join("\n");

/** Data that changes with every release: download addresses, and targets of `latest/`. */
export function dataMaps({ downloads, latest, otherLatest }: Routing, longestKey: number) {
  const answers: RequestTable = {
    name: "latest",
    of: "{scope}|{min}|{max}|{gui}|{headless}",
    otherwise: "404",
    exact: Object.fromEntries(latest),
    rules: otherLatest,
  };
  return {
    downloads: [
      map({ name: "download", of: "{id}", otherwise: "", exact: Object.fromEntries(downloads) }),
      map({ name: "version", of: "{download}", otherwise: "", rules: [["^([^ ]+) ", "$1"]] }),
      map({ name: "url", of: "{download}", otherwise: "", rules: [["^[^ ]+ (.*)$", "$1"]] }),
    ].join("\n"),
    latest: [
      map(answers, longestKey),
      map({ name: "latest_status", of: "{latest}", otherwise: "404", rules: [["^([0-9]+)", "$1"]] }),
      map({ name: "latest_text", of: "{latest}", otherwise: "", rules: [["^[0-9]+ (.*)$", "$1"]] }),
    ].join("\n"),
  };
}

/** Digests of an OCI registry's files: those of tags, and those in other paths. */
export function registryMap(tags: ReadonlyMap<string, string>, longestKey?: number): string {
  const exact = Object.fromEntries([...tags].map(([path, digest]) => [`/${path}`, digest]));
  const rules = [["^/v2/.+/(sha256:[0-9a-f]+)$", "$1"]] as const;
  return map({ name: "digest", of: "{uri}", otherwise: "", exact, rules }, longestKey);
}

/** Settings of hash tables that are larger than nginx's defaults; "" if those suffice. */
export function tableSizes({ downloads, latest, lists, scopes }: Routing, tags: ReadonlyMap<string, string>) {
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

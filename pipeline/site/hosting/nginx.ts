import {
  allow,
  bodies,
  description,
  descriptions,
  fileDescription,
  hashedAsset,
  securityHeaders,
  vary,
} from "../../documents/api-answers.ts";
import { cacheControl as caching, registryDigest, registryVersion } from "../../documents/file-headers.ts";
import type { Encoding } from "../../documents/hosting.ts";
import { contentPolicies } from "../../documents/pages/content-security-policy.ts";
import type { OutputFile } from "../../documents/published.ts";
import { documentFolders } from "../../documents/site-paths.ts";
import { textFile } from "../output.ts";
import { type RequestTable, requestTables } from "./request-tables.ts";
import type { Routing } from "./routing.ts";
import { empty, escaped, slashless } from "./rules.ts";
import { type HostSources, wellKnownFiles } from "./sources.ts";

/** nginx: locations of a server, and their lookup tables. */
export function nginxFiles(sources: HostSources): OutputFile[] {
  const { routing, feeds, tags } = sources;
  const { lines, longestKey } = tableSizes(routing, tags);
  const { downloads, latest } = dataMaps(routing, longestKey);
  return [
    // The first of these files, so the settings come before every table.
    textFile("hosting/nginx/downloads.map", `${note}${lines}${downloads}\n`),
    textFile("hosting/nginx/latest.map", `${note}${latest}\n`),
    textFile("hosting/nginx/requests.map", `${note}${requestMaps(routing, longestKey)}\n`),
    ...(feeds.some(({ isRegistry }) => isRegistry)
      ? [textFile("hosting/nginx/registry.map", `${note}${registryMap(tags, longestKey)}\n`)]
      : []),
    textFile("hosting/nginx/nginx.conf", serverPart(sources)),
  ];
}

const note = "# Written by relcat: see nginx.conf beside it.\n";

const usage = (
  encodings: ReadonlySet<Encoding>,
) => `# Written by relcat. With the site in /srv/catalog, nginx.conf needs these lines:
#
#   http {
#     include /srv/catalog/hosting/nginx/*.map;
#     server {
#       listen 80;
#       root /srv/catalog;
#       include /srv/catalog/hosting/nginx/nginx.conf;
#     }
#   }
#
# After every build: nginx -s reload. The tables of downloads are read only then.${
  encodings.has("br")
    ? "\n# Needs the module libnginx-mod-http-brotli-static; without it, take br out of precompress."
    : ""
}
`;

function serverPart(sources: HostSources) {
  const { routing, encodings } = sources;
  const { base } = routing;
  const outer = [
    "absolute_redirect off;",
    "types { application/json json; application/atom+xml atom; text/html html; text/css css; text/javascript js;",
    "  text/markdown md; text/plain txt; image/svg+xml svg; image/png png; application/xml xml; }",
    "default_type application/octet-stream;",
    "charset utf-8;",
    "charset_types text/css text/javascript text/markdown text/plain;",
    ...compression(encodings),
    ...headers,
    `error_page 404 ${base}/.relcat/missing;`,
    "",
    ...apiLocations(base),
    "",
    ...staticLocations(base, sources),
  ];
  return `${usage(encodings)}
location ^~ ${base}/ {
${indented(outer)}
}
${base === "" ? "" : `location = ${base} { absolute_redirect off; return 301 ${base}/$is_args$args; }\n`}`;
}

const headers = [
  ...Object.entries(securityHeaders).map(([name, value]) => `add_header ${name} ${quoted(value)} always;`),
  "add_header Allow $relcat_allow always;",
  "add_header Vary $relcat_vary always;",
  "add_header Cache-Control $relcat_cache always;",
  "add_header Content-Security-Policy $relcat_policy always;",
];

/** A location with headers of its own inherits none. */
const registryHeaders = [
  ...Object.entries(registryVersion).map(([name, value]) => `add_header ${name} ${quoted(value)} always;`),
  `add_header ${registryDigest} $relcat_digest;`,
];

const indented = (lines: readonly string[]) =>
  lines.map((line) => (line === "" ? "" : `  ${line.replaceAll("\n", "\n  ")}`)).join("\n");

const location = (match: string, lines: readonly string[]) => `location ${match} {\n${indented(lines)}\n}`;

const when = (variable: string, value: string, action: string) =>
  `if ($relcat_${variable} = ${value}) { ${action} }`;

const answer = (status: number, body: string) => `return ${status} ${quoted(body)};`;

const notAllowed = answer(405, JSON.stringify({ detail: 'Method "$request_method" not allowed.' }));

/** Repeated in each location, because internal redirects do not keep outer settings. */
const settings = (route: "api" | "file", methods: string) => [
  `set $relcat_route ${route};`,
  `set $relcat_allow ${quoted(methods)};`,
  'set $relcat_page "";',
];

/** Checks at the start of every API address, in this order. */
const opening = (what: string, methods: string) => [
  "default_type application/json;",
  ...settings("api", methods),
  when("format", "bad", answer(404, bodies.notFound)),
  when("format", "none", answer(406, bodies.notAcceptable)),
  when("method", "options", answer(200, what)),
  when("method", "other", notAllowed),
];

const number = "[1-9][0-9]*";

function apiLocations(base: string): string[] {
  const packages = `${base}/api/v1/package`;
  const file = `${base}/.relcat/file`;
  return [
    location(`= ${packages}/`, [
      ...opening(description(descriptions.list), allow.list),
      "set $relcat_page $relcat_negotiated;",
      when("refused", "yes", `set $relcat_page ""; ${answer(400, bodies.unknownParameter)}`),
      when("target", "unready", `set $relcat_page ""; ${answer(501, bodies.notPrepared)}`),
      `rewrite ^ ${file}/$relcat_target last;`,
    ]),
    location(`= ${packages}/latest/`, [
      ...opening(description(descriptions.latest), allow.other),
      when("known", "no", answer(400, bodies.unknownParameter)),
      when("other_latest", "yes", answer(501, bodies.notPreparedLatest)),
      when("latest_status", "302", "return 302 $relcat_latest_text;"),
      when("latest_status", "501", answer(501, bodies.notPreparedLatest)),
      when("latest", "400", answer(400, bodies.unnamedType)),
      when("latest_status", "400", "return 400 $relcat_latest_text;"),
      answer(404, bodies.notFound),
    ]),
    location(`~ ^${escaped(packages)}/(?<relcat_id>${number})/$`, [
      ...opening(description(descriptions.record), allow.other),
      `error_page 410 ${file}/api/v1/package/$relcat_id/gone.json;`,
      "if (-f $document_root/api/v1/package/$relcat_id/gone.json) { return 410; }",
      when("version", '""', answer(404, bodies.notFound)),
      "set $relcat_page $relcat_negotiated;",
      when("format", "html", `return 302 ${base}/releases/$relcat_version/#p$relcat_id;`),
      `rewrite ^ ${file}/api/v1/package/$relcat_id/index.json last;`,
    ]),
    location(`~ ^${escaped(packages)}/(?<relcat_id>${number})/download/$`, [
      ...opening(description(descriptions.download), allow.other),
      `error_page 410 ${file}/api/v1/package/$relcat_id/gone.json;`,
      "if (-f $document_root/api/v1/package/$relcat_id/gone.json) { return 410; }",
      when("url", '""', answer(404, bodies.notFound)),
      "return 302 $relcat_url;",
    ]),
    location(`= ${base}/api/v1/`, [
      ...opening(description(descriptions.root), allow.other),
      `rewrite ^ ${file}/api/v1/index.json last;`,
    ]),
    // Unlike $uri, $1 has no line break, before which the pattern may end.
    location(`~ ^${escaped(base)}(${slashless.slice(1, -1)})$`, [
      when("method", "read", `return 301 ${base}$1/$is_args$args;`),
      `return 308 ${base}$1/$is_args$args;`,
    ]),
  ];
}

function staticLocations(base: string, { encodings, feeds, hasWellKnown }: HostSources): string[] {
  const inside = `${base}/.relcat`;
  const file = settings("file", allow.other);
  const site = [
    ...file,
    "set $relcat_folder /.none;",
    when("method", "options", `rewrite ^ ${inside}/options last;`),
    when("method", "other", `rewrite ^ ${inside}/method last;`),
    `if ($uri ~ "^${escaped(base)}(/(?:.*[^/]))$") { set $relcat_folder $1; }`,
    "if (-d $document_root$relcat_folder) { return 301 $uri/$is_args$args; }",
    `rewrite ^${escaped(base)}(/.*)$ $1 break;`,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: nginx's own variables
    "try_files $uri ${uri}index.html ${uri}index.json =404;",
  ];
  const text = (name: string, action: string) =>
    location(`= ${inside}/${name}`, ["internal;", "default_type application/json;", action]);
  return [
    "# What other addresses lead to.",
    location(`^~ ${inside}/file/`, ["internal;", `rewrite ^${escaped(inside)}/file(/.*)$ $1 break;`]),
    location(`= ${inside}/missing`, ["internal;", "rewrite ^ /404.html break;"]),
    text("missing-api", answer(404, bodies.notFound)),
    text("options", answer(200, fileDescription)),
    text("method", notAllowed),
    "",
    location(`~ /[.]${hasWellKnown ? `(?!${wellKnownFiles.slice(3)}$)` : ""}`, [...file, "return 404;"]),
    location(`~ ^${escaped(base)}/hosting(?:/|$)`, [...file, "return 404;"]),
    ...(feeds.length > 0 ? ["# Package feeds: a compressed index is a file of its own."] : []),
    ...feeds.map(({ pattern, contentType, isImmutable, isRegistry }) =>
      location(`~ ${quoted(`^${escaped(base)}/(?:${pattern})$`)}`, [
        "types { }",
        `default_type ${contentType.replace(/;.*/, "")};`,
        ...(isRegistry ? [...headers, ...registryHeaders] : []),
        ...unchanged(base, encodings, isImmutable ? "hashed" : "artifact"),
        // biome-ignore lint/suspicious/noTemplateCurlyInString: nginx's own variable
        "try_files $uri ${uri}index.json =404;",
      ]),
    ),
    "# Artifacts: a file next to one is another artifact.",
    location(`~ ^${escaped(base)}/(?!${documentFolders})[^/]+/.`, [
      ...unchanged(base, encodings, "artifact"),
      "try_files $uri =404;",
    ]),
    location("~ /SHA256SUMS$", ["default_type text/plain;", ...site]),
    location(`${base}/api/`, [`error_page 404 ${inside}/missing-api;`, ...site]),
    location(`${base}/`, site),
  ];
}

/** Settings of files that are sent as they are. */
const unchanged = (base: string, encodings: ReadonlySet<Encoding>, page: "artifact" | "hashed") => [
  ...settings("file", allow.other),
  `set $relcat_page ${page};`,
  when("method", "options", `rewrite ^ ${base}/.relcat/options last;`),
  when("method", "other", `rewrite ^ ${base}/.relcat/method last;`),
  ...noCompression(encodings),
  `rewrite ^${escaped(base)}(/.*)$ $1 break;`,
];

function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, "\\$&")}'`;
}

/** The longest key of a hash table whose size nginx chooses; longer keys become patterns. */
const maxDefaultKeyLength = 40;

function requestMaps(routing: Routing, longestKey: number): string {
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
function dataMaps({ downloads, latest, otherLatest }: Routing, longestKey: number) {
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
function tableSizes({ downloads, latest, lists, scopes }: Routing, tags: ReadonlyMap<string, string>) {
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
const noCompression = (encodings: ReadonlySet<Encoding>): string[] => [
  "gzip_static off;",
  ...(encodings.has("br") ? ["brotli_static off;"] : []),
];

/** Modules that serve precompressed siblings. */
const compression = (encodings: ReadonlySet<Encoding>): string[] => [
  "gzip off;",
  "gzip_vary off;",
  `gzip_static ${encodings.has("gz") ? "on" : "off"};`,
  ...(encodings.has("br") ? ["brotli_static on;"] : []),
];

import { registryDigest, registryVersion } from "../../documents/feeds/headers.ts";
import type { Encoding } from "../../documents/hosting.ts";
import type { OutputFile } from "../../documents/published.ts";
import { documentFolders } from "../../documents/site-paths.ts";
import { textFile } from "../output.ts";
import { allow, bodies, description, descriptions, fileDescription, securityHeaders } from "./answers.ts";
import {
  compression,
  dataMaps,
  noCompression,
  quoted,
  registryMap,
  requestMaps,
  tableSizes,
} from "./nginx-maps.ts";
import { escaped, slashless } from "./rules.ts";
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
    location(`~ ^${escaped(base)}${slashless.slice(1)}`, [
      when("method", "read", "return 301 $uri/$is_args$args;"),
      "return 308 $uri/$is_args$args;",
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

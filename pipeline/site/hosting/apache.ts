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
import {
  cacheControl as caching,
  mediaType,
  mediaTypes,
  registryDigest,
  registryVersion,
} from "../../documents/file-headers.ts";
import type { Encoding } from "../../documents/hosting.ts";
import { contentPolicies } from "../../documents/pages/content-security-policy.ts";
import type { OutputFile } from "../../documents/published.ts";
import { documentFolders } from "../../documents/site-paths.ts";
import { textFile } from "../output.ts";
import {
  choose,
  entry,
  formatOf,
  listOf,
  lookUp,
  only,
  queryOf,
  quoted,
  rule,
  tableOf,
  unless,
  variable,
  when,
} from "./apache-maps.ts";
import type { Routing } from "./routing.ts";
import { escaped, slashless } from "./rules.ts";
import { type FeedRule, type HostSources, wellKnownFiles } from "./sources.ts";

// biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of Apache
const site = "${RELCAT_SITE}";
// biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of Apache
const hosting = "${CATALOG_HOSTING}/apache";
const answers = `${hosting}/answers`;

/** Rewriting: everything that depends on the address, the query and the headers of a request. */
function rewriteRules({ routing, encodings, feeds, hasWellKnown }: HostSources): string[] {
  const { base } = routing;
  const root = escaped(base);
  return only(`^${root}(?:/|$)`, [
    // Other modules must not compress files, least of all artifacts.
    ...rule("E=no-gzip:1,E=no-brotli:1"),
    ...afterAnError(root),
    ...(base === "" ? [] : redirect(301, `${base}/`, `^${root}$`)),
    ...rule(
      "R=404,L",
      `^${root}/${hasWellKnown ? `(?!${wellKnownFiles}$)` : ""}(?:.*/)?[.]|^${root}/hosting(?:/|$)`,
    ),
    ...only(`^${root}/api/v1`, apiRules(base, routing)),
    ...unless("file", fileRules(base)),
    ...headerRules(root, feeds),
    ...sending(encodings),
  ]);
}

/** The document of an error is another request, below `.relcat/` if it is none of the site's. */
const afterAnError = (root: string): string[] => [
  ...rule("E=relcat_api:%1", "^", '"%{ENV:REDIRECT_relcat_api}" "^(.+)$"'),
  ...only(`^${root}/[.]relcat/`, [
    ...rule("S=2", "^", '"%{ENV:REDIRECT_STATUS}" "!^(?:405|501)$"'),
    `RewriteCond "${answers}/$1.json" -f`,
    `RewriteRule "/([A-Za-z]+)$" "${answers}/$1.json" "[T=application/json,L]"`,
    `RewriteRule "^" "${answers}/method.json" "[T=application/json,L]"`,
  ]),
];

function apiRules(base: string, routing: Routing): string[] {
  const api = `^${escaped(base)}/api/v1/`;
  const [list, latest] = [`${api}package/$`, `${api}package/latest/$`];
  const folder = `^${escaped(base)}(${slashless.slice(1, -1)})$`;
  return [
    ...redirect(301, `${base}$1/`, folder, isRead),
    ...redirect(308, `${base}$1/`, folder),
    ...only(`${api}(?:package/(?:latest/|[1-9][0-9]*/(?:download/)?)?)?$`, [
      ...rule("E=relcat_api:other"),
      ...rule("E=relcat_api:list", list),
      ...formatOf(routing),
      ...rule("R=404,L", "^", when("format", "^bad$")),
      ...rule("R=406,L", "^", when("format", "^none$")),
      ...methods,
      ...rule("E=relcat_file:api/v1/index.json", `${api}$`),
      ...only(`${list}|${latest}`, queryOf(routing)),
      ...only(list, [
        ...rule("R=400,L", "^", `"${variable("strict")}:${variable("known")}" "^yes:no$"`),
        ...listOf(routing),
        ...rule("R=501,L", "^", when("file", "^unready$")),
      ]),
      ...only(latest, latestRules(routing)),
      ...only(`${api}package/[1-9]`, recordRules(`${api}package/([1-9][0-9]*)/`, base)),
    ]),
  ];
}

const isRead = '"%{REQUEST_METHOD}" "^(?:GET|HEAD)$"';

const methods = [
  ...rule("R=200,L", "^", '"%{REQUEST_METHOD}" "^OPTIONS$"'),
  ...rule("R=405,L", "^", '"%{REQUEST_METHOD}" "!^(?:GET|HEAD)$"'),
];

/** The answer of `latest/`: `302,URL`, `400,text`, or a status. */
function latestRules({ otherLatest }: Routing): string[] {
  const keys = ["scope", "min", "max", "gui", "headless"];
  const say = (text: string, ...conditions: string[]) =>
    rule(`E=relcat_text:\${relcat_decoded:${text}},R=400,L`, "^", ...conditions);
  return [
    ...say(entry("text:unknown"), when("known", "^no$")),
    ...rule("R=501,L", "^", when("other_latest", "^yes$")),
    ...choose(keys.map(variable).join("|"), "latest", "404", otherLatest),
    ...lookUp("latest", keys),
    ...redirect(302, "%1", "^", when("latest", "^302,(.*)$")),
    ...rule("R=501,L", "^", when("latest", "^501$")),
    ...say("%1", when("latest", "^400,(.*)$")),
    ...say(entry("text:unnamed"), when("latest", "^400$")),
    ...rule("R=404,L"),
  ];
}

/** @param address pattern whose first group is the id */
const recordRules = (address: string, base: string): string[] => [
  ...rule("E=relcat_id:$1", address),
  ...rule("G,L", address, `"${site}/api/v1/package/$1/gone.json" -f`),
  // The server keeps each key that it looked up, so unknown ids are not looked up.
  ...rule("R=404,L", address, `"${site}/api/v1/package/$1/index.json" !-f`),
  ...redirect(302, "%1", `${address}download/$`, `"${entry("id:$1")}" "^[^,]*,(.*)$"`),
  ...redirect(
    302,
    `${base}/releases/%1/#p$1`,
    `${address}$`,
    when("format", "^html$"),
    `"${entry("id:$1")}" "^([^,]*),"`,
  ),
  ...rule("E=relcat_file:api/v1/package/$1/index.json", `${address}$`),
];

/** Addresses of files and folders. The path of a file is never rewritten, so its name can have any character. */
function fileRules(base: string): string[] {
  const root = `^${escaped(base)}`;
  return [
    ...methods,
    ...redirect(301, `${base}\${relcat_encoded:$1}/`, `${root}(/.*[^/])$`, `"${site}$1" -d`),
    ...["index.json", "index.html"].flatMap((name) =>
      rule(`E=relcat_file:$1${name}`, `${root}/((?:.*/)?)$`, `"${site}/$1${name}" -f`),
    ),
    ...rule("E=relcat_file:$1", `${root}/(.*[^/])$`, `"${site}/$1" -f`),
    ...rule("R=404,L", "^", when("file", "^$")),
  ];
}

function headerRules(root: string, feeds: readonly FeedRule[]): string[] {
  return [
    ...rule(`T=${mediaType("")}`),
    ...[...mediaTypes].flatMap(([extension, type]) =>
      rule(`T=${type}`, "^", when("file", `[.]${extension}$`)),
    ),
    ...rule(`T=${mediaType("SHA256SUMS")}`, "/SHA256SUMS$"),
    ...rule("E=relcat_cache:immutable", `^${root}${hashedAsset}$`),
    ...rule("E=relcat_cache:artifact", `^${root}/(?!${documentFolders})[^/]+/.`),
    // The first of these rules counts, and here the last one wins.
    ...feeds
      .toReversed()
      .flatMap(({ pattern, contentType, isImmutable }) =>
        rule(
          `T=${contentType},E=relcat_cache:${isImmutable ? "upload" : "artifact"}`,
          `^${root}/(?:${pattern})$`,
        ),
      ),
    ...(feeds.some(({ isRegistry }) => isRegistry)
      ? [
          ...rule("E=relcat_registry:1", `^${root}/v2/`),
          ...rule("E=relcat_digest:$1", `^${root}/v2/.+/(sha256:[0-9a-f]+)$`),
          ...rule("E=relcat_digest:%1", `^${root}(/v2/.+)$`, `"${entry("tag:$1")}" "^(.+)$"`),
        ]
      : []),
  ];
}

/** The file in an encoding that the client accepts; artifacts and indexes of feeds as they are. */
const sending = (encodings: ReadonlySet<Encoding>): string[] => [
  ...(["gz", "br"] as const)
    .filter((each) => encodings.has(each))
    .toReversed()
    .flatMap((extension) => {
      const name = extension === "gz" ? "gzip" : extension;
      const isRefused = " *; *q=0(?:[.]0*)?(?:[, ]|$)";
      return [
        `RewriteCond "%{HTTP:Accept-Encoding}" "(?:^|[, ])${name}(?!${isRefused})(?:[,; ]|$)" [NC,NV]`,
        `RewriteCond ${when("cache", "^(?!artifact|upload)")}`,
        `RewriteCond "${site}/${variable("file")}.${extension}" -f`,
        `RewriteRule "^[^?]*$" "${site}/${variable("file")}.${extension}" "[E=relcat_encoding:${name},L]"`,
      ];
    }),
  `RewriteRule "/$" "${site}/${variable("file")}" "[L]"`,
];

const redirect = (status: number, to: string, pattern: string, ...conditions: readonly string[]) => [
  ...conditions.map((condition) => `RewriteCond ${condition}`),
  `RewriteRule ${quoted(pattern)} ${quoted(to)} "[R=${status},NE${status === 302 ? ",QSD" : ""},L]"`,
];

const folder = "hosting/apache";

/** Apache httpd: settings of a virtual host, its lookup table, and bodies of answers that are not files of the site. */
export function apacheFiles(sources: HostSources): OutputFile[] {
  const tables = tableOf(sources.routing, sources.tags);
  return [
    textFile(`${folder}/apache.conf`, configuration(sources)),
    textFile(`${folder}/tables.txt`, `# Written by relcat: see apache.conf beside it.\n${tables}\n`),
    ...Object.entries(answerBodies).map(([name, body]) => textFile(`${folder}/answers/${name}.json`, body)),
  ];
}

/** Apache adds an Allow header to a text for 405 and 501, so these are files. */
const answerBodies: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ["DELETE", "PATCH", "POST", "PUT"].map((method) => [
      method,
      JSON.stringify({ detail: `Method "${method}" not allowed.` }),
    ]),
  ),
  method: JSON.stringify({ detail: "Method not allowed." }),
  list: bodies.notPrepared,
  latest: bodies.notPreparedLatest,
};

const usage = `# Written by relcat. With the site in /srv/catalog, a virtual host needs these lines:
#
#   <VirtualHost *:80>
#     ServerName downloads.example.com
#     Define RELCAT_SITE /srv/catalog
#     Define CATALOG_HOSTING /srv/catalog/hosting
#     Include /srv/catalog/hosting/apache/apache.conf
#   </VirtualHost>
#
# It needs mod_rewrite, mod_headers, mod_alias and mod_mime. After every build: apachectl graceful.
`;

function configuration(sources: HostSources): string {
  const { base } = sources.routing;
  const lines = [
    ...(base === "" ? [`DocumentRoot "${site}"`] : [`Alias ${quoted(base)} "${site}"`]),
    ...folders,
    `<Location ${quoted(base === "" ? "/" : base)}>`,
    ...[...wholeSite(base), ...headers(sources.feeds)].map((line) => `  ${line}`),
    "</Location>",
    ...answerTexts(base),
    "",
    "TraceEnable Off",
    "RewriteEngine On",
    `RewriteMap relcat_tables "txt:${hosting}/tables.txt"`,
    "RewriteMap relcat_decoded int:unescape",
    "RewriteMap relcat_encoded int:escape",
    ...rewriteRules(sources),
  ];
  return `${usage}\n${lines.join("\n")}\n`;
}

/** No module and no other file of the server decides how files are sent. */
const folders = [site, answers].flatMap((path) => [
  `<Directory "${path}">`,
  "  Require all granted",
  "  AllowOverride None",
  "  Options FollowSymLinks",
  "  DirectoryIndex disabled",
  "  DirectorySlash Off",
  "  FileETag MTime Size",
  "  RemoveEncoding .br .bz2 .gz .tgz .xz .Z .zst",
  "  RemoveLanguage .br",
  "</Directory>",
]);

/** The body is a string in an expression, so it is quoted twice. */
const text = (status: number, body: string) =>
  `ErrorDocument ${status} ${quoted(body.replace(/["\\]/g, "\\$&"))}`;

/** A location comes after the server's `FilesMatch`, which may hand an artifact such as `tool.php` to a program. */
const wholeSite = (base: string): string[] => [
  "SetHandler default-handler",
  text(200, fileDescription),
  `ErrorDocument 404 ${quoted(`${base}/404.html`)}`,
  `ErrorDocument 405 ${quoted(`${base}/.relcat/%{REQUEST_METHOD}`)}`,
  `ErrorDocument 410 ${quoted(`${base}/api/v1/package/%{reqenv:relcat_id}/gone.json`)}`,
];

/** Texts of answers by address; the rules choose the status. */
function answerTexts(base: string): string[] {
  const at = (pattern: string, name: keyof typeof descriptions, more: readonly string[] = []) => [
    `<LocationMatch ${quoted(`^${escaped(base)}/api/v1/${pattern}$`)}>`,
    ...[text(200, description(descriptions[name])), ...more].map((line) => `  ${line}`),
    "</LocationMatch>",
  ];
  const notPrepared = (name: string) => `ErrorDocument 501 ${quoted(`${base}/.relcat/${name}`)}`;
  return [
    `<Location ${quoted(`${base}/api/`)}>`,
    `  ${header("Content-Type", "application/json", statuses(400, 404, 406))}`,
    `  ${text(404, bodies.notFound)}`,
    `  ${text(406, bodies.notAcceptable)}`,
    "</Location>",
    ...at("", "root"),
    ...at("package/", "list", [text(400, bodies.unknownParameter), notPrepared("list")]),
    ...at("package/latest/", "latest", ['ErrorDocument 400 "%{reqenv:relcat_text}"', notPrepared("latest")]),
    ...at("package/[0-9]+/", "record"),
    ...at("package/[0-9]+/download/", "download"),
  ];
}

const statuses = (...list: readonly number[]) =>
  `%{REQUEST_STATUS} -in { ${list.map((status) => `'${status}'`).join(", ")} }`;

const header = (name: string, value: string, condition = "") =>
  `Header always set ${name} ${quoted(value)}${condition === "" ? "" : ` ${quoted(`expr=${condition}`)}`}`;

const is = (name: string, value: string) => `%{reqenv:relcat_${name}} == '${value}'`;

/** Later lines replace earlier ones. */
const headers = (feeds: readonly FeedRule[]): string[] => [
  ...Object.entries(securityHeaders).map(([name, value]) => header(name, value)),
  header("Allow", allow.other),
  header("Allow", allow.list, is("api", "list")),
  header("Vary", vary.file),
  header("Vary", vary.negotiated, "%{reqenv:relcat_api} != ''"),
  header("Cache-Control", caching.none),
  header("Cache-Control", caching.public, statuses(200, 206, 304, 301, 302, 308, 410)),
  ...(["artifact", "upload", "immutable"] as const).map((name) =>
    header("Cache-Control", caching[name], `${is("cache", name)} && ${statuses(200, 206, 304)}`),
  ),
  header("Cache-Control", caching.none, is("cache", "page")),
  ...Object.entries(contentPolicies).map(([extension, policy]) =>
    header(
      "Content-Security-Policy",
      policy,
      `%{CONTENT_TYPE} =~ m#^${mediaType(`.${extension}`).replace(/;.*/, "").replace("+", "[+]")}#`,
    ),
  ),
  ...["br", "gzip"].map((encoding) =>
    header("Content-Encoding", encoding, `${is("encoding", encoding)} && %{REQUEST_STATUS} != '304'`),
  ),
  header("Content-Type", "application/json", "%{REQUEST_METHOD} == 'OPTIONS'"),
  ...(feeds.some(({ isRegistry }) => isRegistry)
    ? [
        ...Object.entries(registryVersion).map(([name, value]) => header(name, value, is("registry", "1"))),
        header(
          registryDigest,
          "%{relcat_digest}e",
          `%{reqenv:relcat_digest} != '' && ${statuses(200, 206, 304)}`,
        ),
      ]
    : []),
];

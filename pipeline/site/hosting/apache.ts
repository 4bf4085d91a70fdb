import { registryDigest, registryVersion } from "../../documents/feeds/headers.ts";
import { mediaType } from "../../documents/file-headers.ts";
import type { OutputFile } from "../../documents/published.ts";
import { textFile } from "../output.ts";
import {
  allow,
  bodies,
  caching,
  contentPolicies,
  description,
  descriptions,
  fileDescription,
  securityHeaders,
  vary,
} from "./answers.ts";
import { quoted, tableOf } from "./apache-maps.ts";
import { escaped, hosting, rewriteRules, site } from "./apache-rules.ts";
import type { FeedRule } from "./feed-rules.ts";
import type { HostSources } from "./sources.ts";

const folder = "hosting/apache";

/** Apache httpd: settings of a virtual host, its lookup table, and bodies of answers that are not files of the site. */
export function apacheFiles(sources: HostSources): OutputFile[] {
  const { routing, tags } = sources;
  const answers = Object.entries(answerBodies).map(([name, body]) =>
    textFile(`${folder}/answers/${name}.json`, body),
  );
  return [
    textFile(`${folder}/apache.conf`, configuration(sources)),
    textFile(
      `${folder}/tables.txt`,
      `# Written by relcat: see apache.conf beside it.\n${tableOf(routing, tags)}\n`,
    ),
    ...answers,
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
const folders = [
  ...[site, `${hosting}/answers`].flatMap((path) => [
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
  ]),
];

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

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
import { contentPolicies, contentSecurityPolicy } from "../../documents/pages/content-security-policy.ts";
import type { OutputFile } from "../../documents/published.ts";
import { documentFolders } from "../../documents/site-paths.ts";
import { textFile } from "../output.ts";
import { type RequestTable, requestTables } from "./request-tables.ts";
import type { Routing } from "./routing.ts";
import { escaped, type Rule, slashless } from "./rules.ts";
import { type FeedRule, type HostSources, wellKnownFiles } from "./sources.ts";

/** Caddy: files that a site block imports. */
export function caddyFiles(sources: HostSources): OutputFile[] {
  const { routing, encodings, feeds, tags } = sources;
  const { base } = routing;
  const { downloads, latest } = dataMaps(routing);
  const hasRegistry = feeds.some(({ isRegistry }) => isRegistry);
  const atBase = [
    is("bare", `^${escaped(base)}$`),
    is("base", `^${escaped(base)}/`),
    `redir @relcat_bare ${base}/ 301`,
  ];
  const lines = [
    ...(base === "" ? [] : atBase),
    ...block(base === "" ? "route" : "route @relcat_base", [
      ...(base === "" ? [] : [`uri strip_prefix ${base}`]),
      ...requestMaps(routing),
      ...matchers,
      "",
      ...header({ ...securityHeaders, Allow: allow.other, Vary: vary.file, "Cache-Control": caching.none }),
      ...apiRoutes(base, latest, encodings),
      ...(hasRegistry ? registryRoute : []),
      ...fileRoutes(base, sources),
    ]),
  ];
  return [
    textFile("hosting/caddy/downloads.caddy", `${note}${downloads.join("\n")}\n`),
    ...(hasRegistry
      ? [textFile("hosting/caddy/registry.caddy", `${note}${registryMap(tags).join("\n")}\n`)]
      : []),
    textFile("hosting/caddy/Caddyfile", `${usage}\n${lines.join("\n")}\n`),
  ];
}

const note = "# Written by relcat: see Caddyfile beside it.\n";

const usage = `# Written by relcat. With the site in /srv/catalog, your Caddyfile needs these lines:
#
#   downloads.example.com {
#     root * /srv/catalog
#     import /srv/catalog/hosting/caddy/Caddyfile
#   }
#
# After every build: caddy reload. The tables of downloads are read only then.
`;

const says = (name: string, value: string) => `@relcat_${name}_${value} vars {relcat_${name}} ${value}`;

/** A path by pattern, because Caddy's `path` ignores case. */
const is = (name: string, pattern: string) => `@relcat_${name} path_regexp relcat_${name} ${pattern}`;

const matchers = [
  ...["bad", "none", "html"].map((value) => says("format", value)),
  ...["options", "other", "read"].map((value) => says("method", value)),
  says("target", "unready"),
  says("refused", "yes"),
  says("known", "no"),
  says("other_latest", "yes"),
  says("negotiated", "page"),
  is("list", "^/api/v1/package/$"),
  is("latest", "^/api/v1/package/latest/$"),
  is("record", "^/api/v1/package/([1-9][0-9]*)/$"),
  is("download", "^/api/v1/package/([1-9][0-9]*)/download/$"),
  is("root", "^/api/v1/$"),
  is("slashless", slashless),
];

const header = (values: Readonly<Record<string, string>>, matcher = "*") =>
  Object.entries(values).map(([name, value]) => `header ${matcher} ${name} ${quoted(value)}`);

const answer = (matcher: string, status: number | string, body: string) => [
  ...handle(matcher === "" ? "" : `@relcat_${matcher}`, [
    ...header({ "Content-Type": "application/json" }),
    `respond ${quoted(body)} ${status}`,
  ]),
];

const notFound = answer("", 404, bodies.notFound);
const notAllowed = answer("method_other", 405, JSON.stringify({ detail: 'Method "{method}" not allowed.' }));

/** Checks at the start of every API address, in this order. */
const opening = (what: string, methods: string) => [
  ...header({ Allow: methods, Vary: vary.negotiated }),
  ...answer("format_bad", 404, bodies.notFound),
  ...answer("format_none", 406, bodies.notAcceptable),
  ...answer("method_options", 200, what),
  ...notAllowed,
];

function fileServer(encodings: ReadonlySet<Encoding>, status?: number): string[] {
  const names: Record<Encoding, string> = { br: "br", zst: "zstd", gz: "gzip" };
  const known = (["br", "zst", "gz"] as const).flatMap((each) => (encodings.has(each) ? names[each] : []));
  return [
    "header Content-Type {relcat_media}",
    // An error has a body, whatever the client has already or wants of it.
    ...(status === undefined ? [] : ["request_header -If-*", "request_header -Range"]),
    ...block("file_server", [
      "hide .*",
      // It would redirect /%5Chost/404.html/ to another host.
      "disable_canonical_uris",
      ...(known.length > 0 ? [`precompressed ${known.join(" ")}`] : []),
      ...(status === undefined ? [] : [`status ${status}`]),
    ]),
  ];
}

const publicly = header({ "Cache-Control": caching.public });

const policies = Object.entries(contentPolicies).flatMap(([extension, policy]) => [
  is(`policy_${extension}`, `[.]${extension}$`),
  ...header({ "Content-Security-Policy": policy }, `@relcat_policy_${extension}`),
]);

/** @param file relative to the site's root */
const serve = (file: string, encodings: ReadonlySet<Encoding>) => [
  ...publicly,
  ...header({ "Cache-Control": caching.none }, "@relcat_negotiated_page"),
  `rewrite * /${file}`,
  ...policies,
  ...fileServer(encodings),
];

function apiRoutes(base: string, latest: readonly string[], encodings: ReadonlySet<Encoding>): string[] {
  const gone = (matcher: string) => {
    const file = `api/v1/package/{re.${matcher}.1}/gone.json`;
    return [
      `@${matcher}_gone file /${file}`,
      ...handle(`@${matcher}_gone`, [...publicly, `rewrite * /${file}`, ...fileServer(encodings, 410)]),
      ...block(`map {re.${matcher}.1} {relcat_version} {relcat_url}`, ["import downloads.caddy"]),
      `@${matcher}_unknown vars {relcat_version} none`,
      ...handle(`@${matcher}_unknown`, notFound),
    ];
  };
  return [
    ...handle("@relcat_list", [
      ...opening(description(descriptions.list), allow.list),
      ...answer("refused_yes", 400, bodies.unknownParameter),
      ...answer("target_unready", 501, bodies.notPrepared),
      ...handle("", serve("{relcat_target}", encodings)),
    ]),
    ...handle("@relcat_latest", [
      ...opening(description(descriptions.latest), allow.other),
      ...answer("known_no", 400, bodies.unknownParameter),
      ...answer("other_latest_yes", 501, bodies.notPreparedLatest),
      ...latest,
      "@relcat_found vars {relcat_latest_status} 302",
      ...handle("@relcat_found", [...publicly, "redir * {relcat_latest_text} 302"]),
      "@relcat_unprepared vars {relcat_latest_status} 501",
      ...answer("unprepared", 501, bodies.notPreparedLatest),
      "@relcat_unnamed vars {relcat_latest_text} unnamed",
      ...answer("unnamed", 400, bodies.unnamedType),
      "@relcat_ambiguous vars {relcat_latest_status} 400",
      ...answer("ambiguous", 400, "{ {relcat_latest_text} }"),
      ...notFound,
    ]),
    ...handle("@relcat_record", [
      ...opening(description(descriptions.record), allow.other),
      ...gone("relcat_record"),
      ...handle("@relcat_format_html", [
        ...publicly,
        ...header({ "Cache-Control": caching.none }, "@relcat_negotiated_page"),
        `redir * ${base}/releases/{relcat_version}/#p{re.relcat_record.1} 302`,
      ]),
      ...handle("", [
        ...publicly,
        "rewrite * /api/v1/package/{re.relcat_record.1}/index.json",
        ...fileServer(encodings),
      ]),
    ]),
    ...handle("@relcat_download", [
      ...opening(description(descriptions.download), allow.other),
      ...gone("relcat_download"),
      ...handle("", [...publicly, "redir * {relcat_url} 302"]),
    ]),
    ...handle("@relcat_root", [
      ...opening(description(descriptions.root), allow.other),
      ...handle("", [...publicly, "rewrite * /api/v1/index.json", ...fileServer(encodings)]),
    ]),
    ...handle("@relcat_slashless", [
      ...publicly,
      `redir @relcat_method_read ${base}{re.relcat_slashless.0}/{relcat_suffix} 301`,
      `redir * ${base}{re.relcat_slashless.0}/{relcat_suffix} 308`,
    ]),
  ];
}

const registryRoute = [
  ...block("map {path} {relcat_digest}", ["import registry.caddy"]),
  is("registry", "^/v2/"),
  ...header(registryVersion, "@relcat_registry"),
];

/** An index is sent as it is: a compressed one is a file of its own. */
const feedRoute = ({ pattern, contentType, isImmutable, isRegistry }: FeedRule, index: number) => [
  ...block(`@relcat_feed_${index}`, [
    "file {path}",
    `path_regexp ${quoted(`^/(?:${pattern})$`)}`,
    "not path_regexp /$",
  ]),
  ...handle(`@relcat_feed_${index}`, [
    ...header({
      "Cache-Control": isImmutable ? caching.upload : caching.artifact,
      "Content-Type": contentType,
    }),
    ...(isRegistry
      ? [
          is(`digest_${index}`, "/(?:manifests|blobs)/"),
          ...header({ [registryDigest]: "{relcat_digest}" }, `@relcat_digest_${index}`),
        ]
      : []),
    ...block("file_server", ["hide .*"]),
  ]),
];

function fileRoutes(base: string, { encodings, feeds, hasWellKnown }: HostSources): string[] {
  const found = [
    ...publicly,
    is("asset", `^${hashedAsset}$`),
    ...header({ "Cache-Control": caching.immutable }, "@relcat_asset"),
    ...policies,
    ...fileServer(encodings),
  ];
  const missing = [
    is("api", "^/api/"),
    ...handle("@relcat_api", notFound),
    ...handle("", [
      "rewrite * /404.html",
      ...header({ "Content-Security-Policy": contentSecurityPolicy }),
      ...fileServer(encodings, 404),
    ]),
  ];
  const wellKnown = [
    is("well_known", `^/${wellKnownFiles}$`),
    ...handle("@relcat_well_known", [
      ...answer("method_options", 200, fileDescription),
      ...notAllowed,
      ...header({ "Cache-Control": caching.artifact, "Content-Type": "{relcat_media}" }),
      "file_server",
    ]),
  ];
  return [
    ...(hasWellKnown ? wellKnown : []),
    is("hidden", "/[.]|^/hosting(?:/|$)"),
    ...handle("@relcat_hidden", missing),
    ...handle("", [
      ...answer("method_options", 200, fileDescription),
      ...notAllowed,
      // Unlike {path}, what it matches has no double slash, with which a redirect would name another host.
      ...block("@relcat_folder", ["file {path}/", "path_regexp relcat_folder ^.*[^/]$"]),
      ...handle("@relcat_folder", [...publicly, `redir * ${base}{re.relcat_folder.0}/{relcat_suffix} 301`]),
      ...feeds.flatMap(feedRoute),
      ...block("@relcat_artifact", [
        "file {path}",
        "path_regexp ^/[^/]+/.*[^/]$",
        `not path_regexp ^/${documentFolders}`,
      ]),
      ...handle("@relcat_artifact", [
        ...header({ "Cache-Control": caching.artifact }),
        ...policies,
        ...fileServer(new Set()),
      ]),
      ...block("@relcat_file", ["file {path}", "not path_regexp /$"]),
      ...handle("@relcat_file", found),
      ...block("@relcat_index", ["file {path}index.html {path}index.json", "path_regexp /$"]),
      ...handle("@relcat_index", ["rewrite * {http.matchers.file.relative}", ...found]),
      ...handle("", missing),
    ]),
  ];
}

/** In backquotes, which our texts never contain. */
function quoted(text: string): string {
  return `\`${text}\``;
}

function block(head: string, lines: readonly string[]): string[] {
  return [`${head} {`, ...lines.map((line) => `\t${line}`), "}"];
}

/** Executes lines in written order; by default Caddy reorders directives. */
function handle(matcher: string, lines: readonly string[]): string[] {
  return block(matcher === "" ? "handle" : `handle ${matcher}`, block("route", lines));
}

function requestMaps(routing: Routing): string[] {
  const suffix: RequestTable = { name: "suffix", of: "{query}", otherwise: "", rules: [["^(.+)$", "?$1"]] };
  const types = [...mediaTypes].map(([extension, type]): Rule => [`[.]${extension}$`, type]);
  const media: RequestTable = {
    name: "media",
    of: "{path}",
    otherwise: mediaType(""),
    rules: [["/SHA256SUMS$", mediaType("SHA256SUMS")], ...types],
  };
  return [...requestTables(routing).toSpliced(1, 0, suffix), media].flatMap(map);
}

function map({ name, of, otherwise, exact = {}, rules = [] }: RequestTable): string[] {
  return block(`map ${sourceOf(of)} {relcat_${name}}`, [
    ...Object.entries(exact).map(([key, result]) => `${quoted(key)} ${quoted(result)}`),
    ...rules.map(([pattern, result]) => `${quoted(`~${pattern}`)} ${quoted(result.replace("$1", `\${1}`))}`),
    `default ${quoted(otherwise)}`,
  ]);
}

const ownPlaceholders = new Map([
  ["{method}", "{method}"],
  ["{query}", "{query}"],
  ["{path}", "{path}"],
  ["{accept}", "{header.Accept}"],
]);

/** Several placeholders are one text. */
function sourceOf(of: string): string {
  const source = of.replace(/{\w+}/g, (name) => ownPlaceholders.get(name) ?? `{relcat_${name.slice(1)}`);
  return source.includes("}", source.indexOf("}") + 1) ? quoted(source) : source;
}

/** Digests of an OCI registry's files: those of tags, and those in other paths. */
export const registryMap = (tags: ReadonlyMap<string, string>): string[] => [
  ...Array.from(tags, ([path, digest]) => `${quoted(`/${path}`)} ${digest}`),
  `${quoted("~^/v2/.+/(sha256:[0-9a-f]+)$")} ${quoted(`\${1}`)}`,
];

/** Caddy treats braces as placeholders; the answer adds those of a JSON object again. */
const withoutBraces = (text: string) => text.replace(/^\{(.*)\}$/, "$1");

/** Data that changes with every release: download addresses, and targets of `latest/`. */
function dataMaps({ downloads, latest, otherLatest }: Routing) {
  const split = (entry: string) => [entry.slice(0, entry.indexOf(" ")), entry.slice(entry.indexOf(" ") + 1)];
  const bare = (status: string) => (status === "400" ? "unnamed" : "none");
  return {
    downloads: [
      ...[...downloads].map(([id, entry]) => [id, ...split(entry).map(quoted)].join(" ")),
      "default none none",
    ],
    latest: block(
      "map `{relcat_scope}|{relcat_min}|{relcat_max}|{relcat_gui}|{relcat_headless}` {relcat_latest_status} {relcat_latest_text}",
      [
        ...[...latest].map(([key, entry]) => [key, ...split(entry).map(withoutBraces)].map(quoted).join(" ")),
        ...otherLatest.map(([pattern, status]) =>
          [`~${pattern}`, status, bare(status)].map(quoted).join(" "),
        ),
      ],
    ),
  };
}

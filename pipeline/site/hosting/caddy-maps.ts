import { mediaType, mediaTypes } from "../../documents/file-headers.ts";
import { type Routing, unknownValue } from "./routing.ts";
import {
  absent,
  acceptRules,
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

/** In backquotes, which our texts never contain. */
export const quoted = (text: string): string => `\`${text}\``;

export const block = (head: string, lines: readonly string[]): string[] => [
  `${head} {`,
  ...lines.map((line) => `\t${line}`),
  "}",
];

/** Executes lines in written order; by default Caddy reorders directives. */
export const handle = (matcher: string, lines: readonly string[]): string[] =>
  block(matcher === "" ? "handle" : `handle ${matcher}`, block("route", lines));

/** Parses requests by chained tables, so that client input never becomes part of a path. */
export function requestMaps(routing: Routing): string[] {
  return [
    ...map("{method}", "method", "other", [], { GET: "read", HEAD: "read", OPTIONS: "options" }),
    ...map("{query}", "suffix", "", [["^(.+)$", `?\${1}`]]),
    ...Object.entries(parameters).flatMap(([short, name]) =>
      map("{query}", `raw_${short}`, absent, [[rawValue(name), `\${1}`]]),
    ),
    ...map("{header.Accept}", "accepted", "none", acceptRules),
    ...map("{relcat_raw_format}", "asked", "bad", formatRules),
    ...map(quoted("{relcat_asked}:{relcat_accepted}"), "format", "bad", [
      ["^accept:(.*)$", `\${1}`],
      ["^(json|html):", `\${1}`],
    ]),
    ...map(quoted("{relcat_asked}:{relcat_accepted}"), "negotiated", "", [], { "accept:html": "page" }),
    ...map("{relcat_raw_ordering}", "ordering", "", orderingRules),
    ...(["system", "type", "min", "max"] as const).flatMap((name) =>
      map(`{relcat_raw_${name}}`, name, unknownValue, routing.values[name]),
    ),
    ...map("{relcat_raw_gui}", "gui", unknownValue, flagRules),
    ...map("{relcat_raw_headless}", "headless", unknownValue, flagRules),
    ...map("{query}", "known", "no", [[onlyKnown, "yes"]]),
    ...map("{query}", "strict", "no", [[strictly, "yes"]]),
    ...map(quoted("{relcat_strict}:{relcat_known}"), "refused", "no", [], { "yes:no": "yes" }),
    ...map("{query}", "other", "no", [[otherFilter, "yes"]]),
    ...map("{query}", "other_latest", "no", [[otherLatestFilter, "yes"]]),
    ...listMaps(routing),
    ...map("{path}", "media", mediaType(""), [
      ["/SHA256SUMS$", mediaType("SHA256SUMS")],
      ...Object.entries(mediaTypes).map(([extension, type]): Rule => [`[.]${extension}$`, type]),
    ]),
  ];
}

function map(
  source: string,
  name: string,
  otherwise: string,
  rules: readonly Rule[],
  exact: Readonly<Record<string, string>> = {},
): string[] {
  return block(`map ${source} {relcat_${name}}`, [
    ...Object.entries(exact).map(([key, result]) => `${quoted(key)} ${quoted(result)}`),
    ...rules.map(([pattern, result]) => `${quoted(`~${pattern}`)} ${quoted(result)}`),
    `default ${quoted(otherwise)}`,
  ]);
}

const listMaps = ({ scopes, otherScopes, lists, otherLists }: Routing) => [
  ...map(quoted("{relcat_system}|{relcat_type}"), "scope", "none", otherScopes, Object.fromEntries(scopes)),
  ...map(
    quoted("{relcat_scope}|{relcat_min}|{relcat_max}"),
    "list",
    "unready",
    otherLists,
    Object.fromEntries(lists),
  ),
  ...map(
    quoted("{relcat_format}:{relcat_other}:{relcat_ordering}:{relcat_list}"),
    "target",
    "unready",
    [["^json:no::(facets/.*)$", `\${1}`]],
    {
      "html:no::api/v1/package/index.json": "api/v1/package/index.html",
      "json:no::api/v1/package/index.json": "api/v1/package/index.json",
      "json:no:-id:api/v1/package/index.json": "api/v1/package/ordering=-id.json",
    },
  ),
];

/** Digests of an OCI registry's files: those of tags, and those in other paths. */
export const registryMap = (tags: ReadonlyMap<string, string>): string[] => [
  ...Array.from(tags, ([path, digest]) => `${quoted(`/${path}`)} ${digest}`),
  `${quoted("~^/v2/.+/(sha256:[0-9a-f]+)$")} ${quoted(`\${1}`)}`,
];

/** Caddy treats braces as placeholders; the answer adds those of a JSON object again. */
const withoutBraces = (text: string) => text.replace(/^\{(.*)\}$/, "$1");

/** Data that changes with every release: download addresses, and targets of `latest/`. */
export function dataMaps({ downloads, latest, otherLatest }: Routing): {
  downloads: string[];
  latest: string[];
} {
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

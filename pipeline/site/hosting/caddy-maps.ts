import { mediaType, mediaTypes } from "../../documents/file-headers.ts";
import { type RequestTable, requestTables } from "./request-tables.ts";
import type { Routing } from "./routing.ts";
import type { Rule } from "./rules.ts";

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

export function requestMaps(routing: Routing): string[] {
  const tables = requestTables(routing, {
    of: "{asked}:{accepted}",
    otherwise: "bad",
    rules: [
      ["^accept:(.*)$", "$1"],
      ["^(json|html):", "$1"],
    ],
  });
  const suffix: RequestTable = { name: "suffix", of: "{query}", otherwise: "", rules: [["^(.+)$", "?$1"]] };
  const types = Object.entries(mediaTypes).map(([extension, type]): Rule => [`[.]${extension}$`, type]);
  const media: RequestTable = {
    name: "media",
    of: "{path}",
    otherwise: mediaType(""),
    rules: [["/SHA256SUMS$", mediaType("SHA256SUMS")], ...types],
  };
  return [...tables.toSpliced(1, 0, suffix), media].flatMap(map);
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
export function dataMaps({ downloads, latest, otherLatest }: Routing) {
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

import { bodies } from "../../documents/api-answers.ts";
import { requestTables } from "./request-tables.ts";
import type { Routing } from "./routing.ts";
import type { Rule } from "./rules.ts";

/** An argument of a directive. Quotes and backslashes are escaped; mod_rewrite still expands `%` and `$` in it. */
export const quoted = (text: string): string => `"${text.replace(/["\\]/g, "\\$&")}"`;

export const variable = (name: string): string => `%{ENV:relcat_${name}}`;

/** A rule that leaves the path as it is; the conditions must all be true. */
export const rule = (flags: string, pattern = "^", ...conditions: readonly string[]): string[] => [
  ...conditions.map((condition) => `RewriteCond ${condition}`),
  `RewriteRule ${quoted(pattern)} - "[${flags}]"`,
];

/** The value of a key in the emitted tables; empty if there is none. */
export const entry = (key: string): string => `\${relcat_tables:${key}}`;

export const when = (name: string, pattern: string): string => `"${variable(name)}" ${quoted(pattern)}`;

/** Runs the rules only for paths that match. */
export const only = (pattern: string, lines: readonly string[]): string[] => [
  ...rule(`S=${count(lines)}`, `!${pattern}`),
  ...lines,
];

/** Runs the rules only if a variable is empty. */
export const unless = (name: string, lines: readonly string[]): string[] => [
  ...rule(`S=${count(lines)}`, "^", when(name, ".")),
  ...lines,
];

const count = (lines: readonly string[]) => lines.filter((line) => line.startsWith("RewriteRule")).length;

/** Sets a variable by the first rule that matches; the last assignment wins, so they are in reverse order. */
export function choose(source: string, name: string, otherwise: string, rules: readonly Rule[]): string[] {
  const set = (value: string) => `E=relcat_${name}:${value.replace("$1", "%1")}`;
  return [
    ...rule(set(otherwise)),
    ...rules.toReversed().flatMap(([pattern, value]) => {
      const hasCapitals = !pattern.startsWith("(?i)");
      const flags = hasCapitals ? "[NV]" : "[NC,NV]";
      return rule(set(value), "^", `"${source}" ${quoted(pattern.replace("(?i)", ""))} ${flags}`);
    }),
  ];
}

const ownVariables = new Map([
  ["query", "%{QUERY_STRING}"],
  ["accept", "%{HTTP:Accept}"],
]);

/** Sets variables by request tables of these names. Exact keys of a table are looked up. */
function chosenBy(routing: Routing, names: readonly string[]): string[] {
  const tables = new Map(requestTables(routing).map((table) => [table.name, table]));
  return names.flatMap((name) => {
    const { of = "", otherwise = "", rules = [] } = tables.get(name) ?? {};
    const source = of.replace(/{(\w+)}/g, (_, each) => ownVariables.get(each) ?? variable(each));
    return choose(source, name, otherwise, rules);
  });
}

export const formatOf = (routing: Routing): string[] => [
  ...chosenBy(routing, ["raw_format", "accepted", "asked"]),
  ...rule(`E=relcat_format:${variable("asked")}`),
  ...rule(`E=relcat_format:${variable("accepted")}`, "^", when("asked", "^accept$")),
  ...rule("E=relcat_cache:page", "^", `"${variable("asked")}:${variable("accepted")}" "^accept:html$"`),
];

/** The scope, the bounds and the flags of a query, and whether other parameters ask for more. */
export function queryOf(routing: Routing): string[] {
  const fields = ["system", "type", "min", "max", "gui", "headless"];
  const raw = [...fields, "ordering"].map((name) => `raw_${name}`);
  const others = ["ordering", "known", "strict", "other", "other_latest", "scope"];
  return [...chosenBy(routing, [...raw, ...fields, ...others]), ...lookUp("scope", ["system", "type"])];
}

/** Sets the variable from the table of the same name, unless the table has no such key. */
export const lookUp = (name: string, keys: readonly string[]): string[] =>
  rule(`E=relcat_${name}:%1`, "^", `"${entry(`${name}:${keys.map(variable).join(",")}`)}" "^(.+)$"`);

/** The file with the list of a query; "unready": no file has it. */
export const listOf = (routing: Routing): string[] => [
  ...chosenBy(routing, ["list"]),
  ...lookUp("list", ["scope", "min", "max"]),
  ...choose(["format", "other", "ordering", "list"].map(variable).join(":"), "file", "unready", [
    ["^json:no::((?:facets/.*|api/v1/package/index[.]json))$", "$1"],
    ["^html:no::api/v1/package/index[.]json$", "api/v1/package/index.html"],
    ["^json:no:-id:api/v1/package/index[.]json$", "api/v1/package/ordering=-id.json"],
  ]),
];

export const tagRows = (tags: ReadonlyMap<string, string>): string[] =>
  Array.from(tags, ([path, digest]) => `tag:/${path} ${digest}`);

/** A value without spaces, which end the value of a table; the server decodes it. */
const encoded = (text: string) => encodeURIComponent(text).replaceAll("%2F", "/");

/** Lookup tables of the requests and of what changes with every release. */
export function tableOf({ scopes, lists, downloads, latest }: Routing, tags: ReadonlyMap<string, string>) {
  const rows = (prefix: string, table: Iterable<readonly [string, string]>) =>
    Array.from(table, ([key, value]) => `${prefix}:${key.replaceAll("|", ",")} ${value}`);
  const split = (text: string) => {
    const [, head = "", rest = ""] = /^(\S+) (.*)$/.exec(text) ?? [];
    return [head, rest] as const;
  };
  const answers = Array.from(latest, ([key, text]) => {
    const [status, rest] = split(text);
    return [key, `${status},${status === "302" ? rest : encoded(rest)}`] as const;
  });
  return [
    ...rows("scope", scopes),
    ...rows("list", lists),
    ...rows("latest", answers),
    ...Array.from(downloads, ([id, text]) => `id:${id} ${split(text).join(",")}`),
    `text:unknown ${encoded(bodies.unknownParameter)}`,
    `text:unnamed ${encoded(bodies.unnamedType)}`,
    ...tagRows(tags),
  ].join("\n");
}

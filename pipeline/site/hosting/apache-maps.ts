import { bodies } from "./answers.ts";
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

/** The format that a request asks for. */
export const formatOf = (): string[] => [
  ...rawParameter("format"),
  ...choose("%{HTTP:Accept}", "accepted", "none", acceptRules),
  ...choose(variable("raw_format"), "asked", "bad", formatRules),
  ...rule(`E=relcat_format:${variable("asked")}`),
  ...rule(`E=relcat_format:${variable("accepted")}`, "^", when("asked", "^accept$")),
  ...rule("E=relcat_cache:page", "^", `"${variable("asked")}:${variable("accepted")}" "^accept:html$"`),
];

const rawParameter = (short: keyof typeof parameters): string[] =>
  choose("%{QUERY_STRING}", `raw_${short}`, absent, [[rawValue(parameters[short]), "$1"]]);

/** The scope, the bounds and the flags of a query, and whether other parameters ask for more. */
export function queryOf({ values, otherScopes }: Routing): string[] {
  const fields = ["system", "type", "min", "max"] as const;
  return [
    ...([...fields, "gui", "headless", "ordering"] as const).flatMap(rawParameter),
    ...fields.flatMap((name) => choose(variable(`raw_${name}`), name, unknownValue, values[name])),
    ...choose(variable("raw_gui"), "gui", unknownValue, flagRules),
    ...choose(variable("raw_headless"), "headless", unknownValue, flagRules),
    ...choose(variable("raw_ordering"), "ordering", "", orderingRules),
    ...choose("%{QUERY_STRING}", "known", "no", [[onlyKnown, "yes"]]),
    ...choose("%{QUERY_STRING}", "strict", "no", [[strictly, "yes"]]),
    ...choose("%{QUERY_STRING}", "other", "no", [[otherFilter, "yes"]]),
    ...choose("%{QUERY_STRING}", "other_latest", "no", [[otherLatestFilter, "yes"]]),
    ...choose(`${variable("system")}|${variable("type")}`, "scope", "none", otherScopes),
    ...lookUp("scope", ["system", "type"]),
  ];
}

/** Sets the variable from the table of the same name, unless the table has no such key. */
export const lookUp = (name: string, keys: readonly string[]): string[] =>
  rule(`E=relcat_${name}:%1`, "^", `"${entry(`${name}:${keys.map(variable).join(",")}`)}" "^(.+)$"`);

/** The file with the list of a query; "unready": no file has it. */
export const listOf = ({ otherLists }: Routing): string[] => [
  ...choose(["scope", "min", "max"].map(variable).join("|"), "list", "unready", otherLists),
  ...lookUp("list", ["scope", "min", "max"]),
  ...choose(["format", "other", "ordering", "list"].map(variable).join(":"), "file", "unready", [
    ["^json:no::((?:facets/.*|api/v1/package/index[.]json))$", "$1"],
    ["^html:no::api/v1/package/index[.]json$", "api/v1/package/index.html"],
    ["^json:no:-id:api/v1/package/index[.]json$", "api/v1/package/ordering=-id.json"],
  ]),
];

/** A registry's tags, in the table. */
export const tagRows = (tags: ReadonlyMap<string, string>): string[] =>
  Array.from(tags, ([path, digest]) => `tag:/${path} ${digest}`);

/** A value without spaces, which end the value of a table; the server decodes it. */
const encoded = (text: string) => encodeURIComponent(text).replaceAll("%2F", "/");

/** Lookup tables of the requests and of what changes with every release. */
export function tableOf({ scopes, lists, downloads, latest }: Routing, tags: ReadonlyMap<string, string>) {
  const rows = (prefix: string, table: ReadonlyMap<string | number, string>) =>
    Array.from(table, ([key, value]) => `${prefix}:${String(key).replaceAll("|", ",")} ${value}`);
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
    ...rows("latest", new Map(answers)),
    ...Array.from(downloads, ([id, text]) => `id:${id} ${split(text).join(",")}`),
    ...rows(
      "text",
      new Map([
        ["unknown", encoded(bodies.unknownParameter)],
        ["unnamed", encoded(bodies.unnamedType)],
      ]),
    ),
    ...tagRows(tags),
  ].join("\n");
}

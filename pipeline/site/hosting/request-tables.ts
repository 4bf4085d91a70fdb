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

/** A lookup table, which each host writes in its own language. */
export interface RequestTable {
  name: string;
  /** `{method}`, `{query}` and `{accept}` of the request, and results of earlier tables by their names. */
  of: string;
  otherwise: string;
  /** Results by value, which are tried before the rules. */
  exact?: Readonly<Record<string, string>>;
  rules?: readonly Rule[];
}

/** The format that was asked for, or else accepted. */
const chosenFormat: Pick<RequestTable, "of" | "otherwise" | "exact" | "rules"> = {
  of: "{asked}:{accepted}",
  otherwise: "bad",
  rules: [
    ["^accept:(.*)$", "$1"],
    ["^(json|html):", "$1"],
  ],
};

/** Chained tables, so that client input never becomes part of a path. @param format replaces `chosenFormat` */
export const requestTables = (
  { values, scopes, otherScopes, lists, otherLists }: Routing,
  format = chosenFormat,
): RequestTable[] => [
  {
    name: "method",
    of: "{method}",
    otherwise: "other",
    exact: { GET: "read", HEAD: "read", OPTIONS: "options" },
  },
  // Numbered groups, because each named group is a variable, and nginx warns when its variable table is full.
  ...Object.entries(parameters).map(([short, name]): RequestTable => {
    return { name: `raw_${short}`, of: "{query}", otherwise: absent, rules: [[rawValue(name), "$1"]] };
  }),
  { name: "accepted", of: "{accept}", otherwise: "none", rules: acceptRules },
  { name: "asked", of: "{raw_format}", otherwise: "bad", rules: formatRules },
  { name: "format", ...format },
  { name: "negotiated", of: "{asked}:{accepted}", otherwise: "", exact: { "accept:html": "page" } },
  { name: "ordering", of: "{raw_ordering}", otherwise: "", rules: orderingRules },
  ...(["system", "type", "min", "max"] as const).map((name) => {
    return { name, of: `{raw_${name}}`, otherwise: unknownValue, rules: values[name] };
  }),
  { name: "gui", of: "{raw_gui}", otherwise: unknownValue, rules: flagRules },
  { name: "headless", of: "{raw_headless}", otherwise: unknownValue, rules: flagRules },
  { name: "known", of: "{query}", otherwise: "no", rules: [[onlyKnown, "yes"]] },
  { name: "strict", of: "{query}", otherwise: "no", rules: [[strictly, "yes"]] },
  { name: "refused", of: "{strict}:{known}", otherwise: "no", exact: { "yes:no": "yes" } },
  { name: "other", of: "{query}", otherwise: "no", rules: [[otherFilter, "yes"]] },
  { name: "other_latest", of: "{query}", otherwise: "no", rules: [[otherLatestFilter, "yes"]] },
  {
    name: "scope",
    of: "{system}|{type}",
    otherwise: "none",
    exact: Object.fromEntries(scopes),
    rules: otherScopes,
  },
  {
    name: "list",
    of: "{scope}|{min}|{max}",
    otherwise: "unready",
    exact: Object.fromEntries(lists),
    rules: otherLists,
  },
  {
    name: "target",
    of: "{format}:{other}:{ordering}:{list}",
    otherwise: "unready",
    exact: {
      "html:no::api/v1/package/index.json": "api/v1/package/index.html",
      "json:no::api/v1/package/index.json": "api/v1/package/index.json",
      "json:no:-id:api/v1/package/index.json": "api/v1/package/ordering=-id.json",
    },
    rules: [["^json:no::(facets/.*)$", "$1"]],
  },
];

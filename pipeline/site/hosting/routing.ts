import type { ListedPackage } from "../../documents/published.ts";
import type { RetractedRecord } from "../../documents/site.ts";
import { readListQuery } from "../../selection/query.ts";
import type { RecordIndex, Row } from "../../selection/record-index.ts";
import { chooseLatest } from "../../selection/select.ts";
import { canBeFacet, emptyFacet, type FacetKey, facetPath, facetSegment } from "../facets.ts";
import { goneBody } from "../release-files.ts";
import { anything, empty, exactly, type Rule } from "./rules.ts";

/** The site's data that determines its hosting; each host writes it in its own language. */
export interface Routing {
  /** Path of the base URL, without a final slash. */
  base: string;
  /** Meaning of raw parameter values: a name, "null", or "unready" if no file has the value. */
  values: Record<"system" | "type" | "min" | "max", readonly Rule[]>;
  /** `system|type` (as names) → the list they select: "whole", `os/…`, `type/…`. */
  scopes: ReadonlyMap<string, string>;
  /** Rules if `scopes` has no entry: "unready" or "none". As in all rule tables, the first match applies. */
  otherScopes: readonly Rule[];
  /** `scope|min|max` → the file with exactly these records. */
  lists: ReadonlyMap<string, string>;
  /** Rules if `lists` has no entry: "unready", or the empty list. */
  otherLists: readonly Rule[];
  /** id → `version URL`. */
  downloads: ReadonlyMap<number, string>;
  /** id → the body of its 410. */
  gone: ReadonlyMap<number, string>;
  /** `scope|min|max|gui_only|headless` → `302 URL`, or `400 body` if the query is ambiguous. */
  latest: ReadonlyMap<string, string>;
  /** Rules if `latest` has no entry: "501", "400" without a type, or "404". */
  otherLatest: readonly Rule[];
}

export interface RoutingSources {
  baseUrl: string;
  /** Newest release first. */
  packages: readonly ListedPackage[];
  retracted: readonly RetractedRecord[];
  rows: readonly Row[];
  index: RecordIndex;
  keys: readonly FacetKey[];
}

/** Fallback of rules; no parameter value has this name. */
export const unknownValue = "-";
export const wholeList = "api/v1/package/index.json";

export function routingOf({ baseUrl, packages, retracted, rows, index, keys }: RoutingSources): Routing {
  const downloads = new Map(
    packages.map(({ record, url }) => [record.id, `${record.version} ${location(url)}`] as const),
  );
  const systems = systemsOfTypes(rows);
  const mixed = [...systems].flatMap(([type, system]) => (system === undefined ? facetSegment(type) : []));
  return {
    base: new URL(baseUrl).pathname.replace(/\/$/, ""),
    values: {
      system: valueRules(rows, "operating_system"),
      type: valueRules(rows, "package_type"),
      min: valueRules(rows, "min_os_version", nullRules),
      max: valueRules(rows, "max_os_version", nullRules),
    },
    scopes: scopeTable(keys, systems),
    otherScopes: [
      [unready, "unready"],
      ...mixed.map((type): Rule => [`^[^|]+[|]${type}$`, "unready"]),
      [anything, "none"],
    ],
    lists: new Map([["whole||", wholeList], ...keys.map((key) => [listKey(key), facetPath(key)] as const)]),
    otherLists,
    downloads,
    gone: new Map(retracted.map((each) => [each.id, JSON.stringify(goneBody(each))] as const)),
    latest: latestTable(rows, index, downloads),
    otherLatest: [
      [unready, "501"],
      ["^(?:whole|os/)", "400"],
      [anything, "404"],
    ],
  };
}

const nullRules: readonly Rule[] = [
  [empty, "null"],
  [exactly("null"), "null"],
];

/** Raw forms of a field's values. A value that is invalid in a path matches a rule, but has no file. */
function valueRules(rows: readonly Row[], field: string, first: readonly Rule[] = []): Rule[] {
  const values = [...new Set(rows.map((row) => row[field]))]
    .filter((value) => typeof value === "string")
    .sort();
  return [
    ["^&$", ""],
    ...first,
    ...values.map((value): Rule => [exactly(value), canBeFacet(value) ? facetSegment(value) : "unready"]),
  ];
}

/** The operating system of each type's records; undefined: several, as imported records may have, or not a facet. */
function systemsOfTypes(rows: readonly Row[]): Map<string, string | undefined> {
  const systems = new Map<string, string | undefined>();
  for (const { package_type: type, operating_system: system } of rows) {
    if (!canBeFacet(type)) continue;
    const isOnly = !systems.has(type) || systems.get(type) === system;
    systems.set(type, isOnly && canBeFacet(system) ? system : undefined);
  }
  return systems;
}

const named = (value: string | undefined) => (value === undefined ? "" : facetSegment(value));

function scopeTable(
  keys: readonly FacetKey[],
  systems: ReadonlyMap<string, string | undefined>,
): Map<string, string> {
  const table = new Map([["|", "whole"]]);
  for (const { system, type } of keys) {
    if (type === undefined) table.set(`${named(system)}|`, scopeOf({ system }));
    else {
      table.set(`|${named(type)}`, scopeOf({ type }));
      const implied = systems.get(type);
      if (implied !== undefined) table.set(`${named(implied)}|${named(type)}`, scopeOf({ type }));
    }
  }
  return table;
}

const scopeOf = ({ system, type }: FacetKey) =>
  type === undefined ? `os/${named(system)}` : `type/${named(type)}`;

const listKey = (key: FacetKey) => [scopeOf(key), named(key.min), named(key.max)].join("|");

const unready = "(?:^|[|])unready(?:[|]|$)";

/** Missing bounds, and bounds without a type, have no file; all other combinations match no record. */
const otherLists: readonly Rule[] = [
  [unready, "unready"],
  ["^none[|]", emptyFacet],
  ["[|]null(?:[|]|$)", "unready"],
  ["^(?:whole|os/)", "unready"],
  [anything, emptyFacet],
];

function latestTable(
  rows: readonly Row[],
  index: RecordIndex,
  downloads: ReadonlyMap<number, string>,
): Map<string, string> {
  const table = new Map<string, string>();
  for (const [key, query] of latestQueries(rows)) {
    const choice = chooseLatest(index, readListQuery(query));
    if (choice.kind === "one") {
      const [, url = ""] = downloads.get(Number(index.value("id", choice.position)))?.split(" ") ?? [];
      table.set(key, `302 ${url}`);
    } else if (choice.kind === "many") {
      table.set(key, `400 ${ambiguous(choice.positions.length, choice.distinguishing)}`);
    }
  }
  return table;
}

const variantFields = ["min_os_version", "max_os_version", "gui_only", "headless"] as const;

/** Queries of `latest/` with values that a type's records have, sorted by their keys in `Routing.latest`. */
function latestQueries(rows: readonly Row[]): (readonly [key: string, query: URLSearchParams])[] {
  const variants = new Map(
    rows.map((row) => [JSON.stringify([row.package_type, ...variantFields.map((field) => row[field])]), row]),
  );
  const queries = new Map<string, URLSearchParams>();
  for (const row of variants.values()) {
    const type = row.package_type;
    if (!canBeFacet(type)) continue;
    for (let chosen = 0; chosen < 1 << variantFields.length; chosen++) {
      const isGiven = (bit: number) => (chosen & (1 << bit)) !== 0;
      const names = variantFields.map((field, bit) => (isGiven(bit) ? nameOf(row[field] ?? null) : ""));
      if (names.includes(undefined)) continue;
      const bounds = variantFields
        .filter((_, bit) => isGiven(bit))
        .map((field) => [field, String(row[field] ?? "")]);
      const query = new URLSearchParams([["package_type", type], ...bounds]);
      queries.set([`type/${facetSegment(type)}`, ...names].join("|"), query);
    }
  }
  return [...queries].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** undefined: unknown to hosts. */
function nameOf(value: unknown): string | undefined {
  if (value === null) return "null";
  if (typeof value === "boolean") return String(value);
  return canBeFacet(value) ? facetSegment(value) : undefined;
}

function ambiguous(count: number, distinguishing: readonly string[]): string {
  const parameters = distinguishing.filter((field) => variantFields.some((each) => each === field));
  const way =
    parameters.length > 0
      ? `tell them apart by one of: ${parameters.join(", ")}`
      : "api/v1/latest.json lists them";
  return JSON.stringify({ detail: `${count} packages match; ${way}.`, parameters });
}

/** A URL that is safe in a header and in quotes of every configuration language. */
function location(url: string): string {
  const href = URL.canParse(url) ? new URL(url).href : url;
  return href.replace(/[^!#%&()*+,\-./0-9:;=?@A-Z[\]_a-z~]/gu, (character) =>
    character === "'" ? "%27" : character === "$" ? "%24" : encodeURIComponent(character),
  );
}

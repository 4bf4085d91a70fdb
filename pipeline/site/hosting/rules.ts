import { filterFields } from "../../selection/fields.ts";
import { facetParameters } from "../facets.ts";

/** A pattern that means the same in PCRE, RE2 and JavaScript, without braces and backslashes. */
export type Rule = readonly [pattern: string, result: string];

/** Represents a missing parameter; no raw value can contain it. */
export const absent = "&";

/** Matches only the empty text; nginx needs another notation. */
export const empty = "^$";
export const anything = "^";

/** Captures the raw value of a parameter, the last one if repeated. */
export const rawValue = (name: string): string => `^(?:.*&)?${name}(?:=([^&]*))?(?:&|$)`;

/** Format requested by an Accept header; the first match applies, weights are ignored. */
export const acceptRules: readonly Rule[] = [
  [empty, "json"],
  ["(?i)(?:^|[, ])application/json(?:[;, ]|$)", "json"],
  ["(?i)(?:^|[, ])text/html(?:[;, ]|$)", "html"],
  ["(?i)(?:^|[, ])application/[*]", "json"],
  ["(?i)(?:^|[, ])text/[*]", "html"],
  ["[*]/[*]", "json"],
];

/** Result of the raw `format`; "accept": the header decides, "bad": not supported. */
export const formatRules: readonly Rule[] = [
  [empty, "accept"],
  ["^&$", "accept"],
  [exactly("json"), "json"],
  [exactly("api"), "html"],
];

const fieldNames = [...filterFields, "data"].join("|");
const minus = "(?:-|%2[Dd])";
const comma = "(?:,|%2[Cc])";
const space = "(?: |[+]|%20)*";

/** Result of the raw `ordering`: "" is the list's order, "other" has no file. */
export const orderingRules: readonly Rule[] = [
  [`^${space}${minus}id${space}(?:${comma}.*)?$`, "-id"],
  [`(?:^|${comma})${space}${minus}?(?:${fieldNames})${space}(?:${comma}|$)`, "other"],
];

/** Parameters with their names in configurations. */
export const parameters = {
  system: "operating_system",
  type: "package_type",
  min: "min_os_version",
  max: "max_os_version",
  gui: "gui_only",
  headless: "headless",
  format: "format",
  ordering: "ordering",
} as const;

/** Parameters that filter the list, those among them that files can answer, and those of `latest/` only. */
const filters: readonly string[] = [...filterFields, "line"];
export const ready: readonly string[] = Object.values(facetParameters);
export const variants: readonly string[] = ["gui_only", "headless"];

/** Parameters that do not filter. */
export const settings: readonly string[] = ["format", "ordering", "strict"];

const parameter = (names: readonly string[]) => `(?:^|&)(?:${names.join("|")})(?:=|&|$)`;

/** A query with a filter that no file can answer. */
export const otherFilter = parameter(filters.filter((name) => !ready.includes(name)));

/** A query of `latest/` with a filter that no file can answer. */
export const otherLatestFilter = parameter(filters.filter((name) => ![...ready, ...variants].includes(name)));

export const onlyKnown = `^&*(?:(?:${[...filters, ...settings].join("|")})(?:=[^&]*)?(?:&+|$))*$`;

/** A query that requests rejection of unknown parameters. */
export const strictly = "(?:^|&)strict=(?:1|true)(?:&|$)";

/** All forms in which a flag may be written. */
export const flagRules: readonly Rule[] = [
  ["^&$", ""],
  ["^(?:1|true)$", "true"],
  ["^(?:0|false)$", "false"],
];

/** Matches a value in any encoding of a query, and nothing else. */
export function exactly(value: string): string {
  const bytes = [...new TextEncoder().encode(value)];
  return `^${bytes.map((byte) => encoded(byte)).join("")}$`;
}

function encoded(byte: number): string {
  const digits = byte
    .toString(16)
    .padStart(2, "0")
    .replace(/[a-f]/g, (digit) => `[${digit.toUpperCase()}${digit}]`);
  const plain = String.fromCharCode(byte);
  if (/[0-9A-Za-z]/.test(plain)) return `(?:${plain}|%${digits})`;
  if (plain === " ") return `(?:[+]|%20)`;
  if (/[._-]/.test(plain)) return `(?:[${plain}]|%${digits})`;
  return `%${digits}`;
}

/** A pattern that matches the path of a site. */
export const escaped = (path: string): string => path.replace(/[.]/g, "[.]");

/** API addresses without their final slash, below the base path. */
export const slashless = "^/api/v1(?:/package(?:/latest|/[1-9][0-9]*(?:/download)?)?)?$";

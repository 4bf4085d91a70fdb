import { filterFields } from "../../selection/fields.ts";
import { facetParameters } from "../facets.ts";

/** A pattern that PCRE, RE2 and JavaScript read alike, without braces and backslashes, and what it stands for. */
export type Rule = readonly [pattern: string, result: string];

/** Stands for a parameter that is not there; no raw value can contain it. */
export const absent = "&";

/** Matches the empty text alone; nginx wants that written in another way. */
export const empty = "^$";
export const anything = "^";

/** The raw value of a parameter, the last one when it is repeated, as the first group. */
export const rawValue = (name: string): string => `^(?:.*&)?${name}(?:=([^&]*))?(?:&|$)`;

/** The rendering that an Accept header asks for: first match wins, weights are not looked at. */
export const acceptRules: readonly Rule[] = [
  [empty, "json"],
  ["(?i)(?:^|[, ])application/json(?:[;, ]|$)", "json"],
  ["(?i)(?:^|[, ])text/html(?:[;, ]|$)", "html"],
  ["(?i)(?:^|[, ])application/[*]", "json"],
  ["(?i)(?:^|[, ])text/[*]", "html"],
  ["[*]/[*]", "json"],
];

/** What follows from the raw `format`; "accept": the header decides, "bad": nothing answers it. */
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

/** What follows from the raw `ordering`: "" leaves the list as it is, "other" is in no file. */
export const orderingRules: readonly Rule[] = [
  [`^${space}${minus}id${space}(?:${comma}.*)?$`, "-id"],
  [`(?:^|${comma})${space}${minus}?(?:${fieldNames})${space}(?:${comma}|$)`, "other"],
];

/** The parameters that are looked at, and what they are called in configurations. */
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

/** Parameters that filter the list, those of them that files answer, and those that only `latest/` answers. */
const filters: readonly string[] = [...filterFields, "line"];
export const ready: readonly string[] = Object.values(facetParameters);
export const variants: readonly string[] = ["gui_only", "headless"];

/** Parameters that filter nothing. */
export const settings: readonly string[] = ["format", "ordering", "strict"];

const parameter = (names: readonly string[]) => `(?:^|&)(?:${names.join("|")})(?:=|&|$)`;

/** A query that has a filter which no file answers. */
export const otherFilter = parameter(filters.filter((name) => !ready.includes(name)));

/** The same at `latest/`. */
export const otherLatestFilter = parameter(filters.filter((name) => ![...ready, ...variants].includes(name)));

/** A query of known parameters only. */
export const onlyKnown = `^&*(?:(?:${[...filters, ...settings].join("|")})(?:=[^&]*)?(?:&+|$))*$`;

/** A query that wants unknown parameters refused. */
export const strictly = "(?:^|&)strict=(?:1|true)(?:&|$)";

/** Flags as they may be written. */
export const flagRules: readonly Rule[] = [
  ["^&$", ""],
  ["^(?:1|true)$", "true"],
  ["^(?:0|false)$", "false"],
];

/** Matches a value however its bytes are percent-encoded, and nothing else. */
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
  if (/[._-]/.test(plain)) return `(?:[${plain}]|%${digits})`;
  return `%${digits}`;
}

/** Addresses of the API that lack their final slash, below the base path. */
export const slashless = "^/api/v1(?:/package(?:/latest|/[1-9][0-9]*(?:/download)?)?)?$";

import { type Field, isField, isFilter } from "./fields.ts";

interface Filter {
  field: Field;
  /** Decoded text of the parameter. */
  text: string;
}

export interface OrderTerm {
  field: Field;
  descending: boolean;
}

export interface ListQuery {
  /** undefined: missing or empty. */
  format: string | undefined;
  filters: readonly Filter[];
  /** Keep only the highest version that passes the filters. */
  latest: boolean;
  /** Keep only versions of this month, `YY.MM`. */
  line: string | undefined;
  /** Empty: the list's own order. */
  ordering: readonly OrderTerm[];
  /** Unknown parameters are an error. */
  strict: boolean;
  /** Distinct names of unknown parameters. */
  unknown: readonly string[];
}

/** Reads decoded parameters; the last of a repeated one applies. */
export function readListQuery(parameters: Iterable<[string, string]>): ListQuery {
  const values = new Map(parameters);
  const filters: Filter[] = [];
  const unknown: string[] = [];
  for (const [name, text] of values) {
    if (isFilter(name) && !(name === "version" && text === "latest"))
      filters.push({ field: name as Field, text });
    else if (!isFilter(name) && !["format", "ordering", "line", "strict"].includes(name)) unknown.push(name);
  }
  return {
    format: values.get("format") || undefined,
    filters,
    latest: values.get("version") === "latest",
    line: values.get("line"),
    ordering: readOrdering(values.get("ordering") ?? ""),
    strict: ["1", "true"].includes(values.get("strict") ?? ""),
    unknown,
  };
}

/**
 * Terms that are not fields are ignored, because existing API clients rely on that; terms after `id` have no effect.
 */
function readOrdering(text: string): OrderTerm[] {
  const terms: OrderTerm[] = [];
  for (const part of text.split(",")) {
    const term = part.trim();
    const field = term.replace(/^-/, "");
    if (!isField(field) || terms.some((known) => known.field === field)) continue;
    terms.push({ field, descending: term.startsWith("-") });
    if (field === "id") break;
  }
  return terms;
}

/** The same text for all queries with the same result; "" for the whole list. */
export function canonicalQuery({ filters, latest, line, ordering }: ListQuery): string {
  const parts = filters.map(({ field, text }) => `${field}=${encodeURIComponent(text)}`).sort();
  if (line !== undefined) parts.push(`line=${encodeURIComponent(line)}`);
  if (latest) parts.push("latest");
  if (ordering.length > 0) {
    const terms = ordering.map(({ field, descending }) => (descending ? `-${field}` : field));
    parts.push(`ordering=${terms.join(",")}`);
  }
  return parts.join("&");
}

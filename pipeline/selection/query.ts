import { type Field, isField, isFilter } from "./fields.ts";

interface Filter {
  field: Field;
  /** As it stands in the query, decoded. */
  text: string;
}

export interface OrderTerm {
  field: Field;
  descending: boolean;
}

/** What a request asks of the list. */
export interface ListQuery {
  /** undefined: not said, or said empty. */
  format: string | undefined;
  filters: readonly Filter[];
  /** Only the highest version among what the filters leave. */
  latest: boolean;
  /** Only versions of this month, `YY.MM`. */
  line: string | undefined;
  /** Empty: the list's own order. */
  ordering: readonly OrderTerm[];
  /** Unknown parameters are an error. */
  strict: boolean;
  /** Names of unknown parameters, once each. */
  unknown: readonly string[];
}

/** Reads the parameters of a query string, decoded; the last of a repeated one counts. */
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

/** Terms that are no field are dropped, as this API's clients rely on; after `id` nothing is left to order. */
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

/** One text for all queries that select the same records in the same order; "" for the whole list as it is. */
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

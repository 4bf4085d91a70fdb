import type { Headers } from "../http/answers.ts";
import { chooseType } from "../http/negotiate.ts";
import type { CatalogSite } from "./site.ts";

/** A request to one route, looked at once. */
export interface Exchange {
  site: CatalogSite;
  request: Request;
  parameters: URLSearchParams;
  /** The segment that `:id` stands for. */
  id: string;
  format: Format;
  /** Headers that every answer of the route carries. */
  headers: Headers;
}

/** How an answer is rendered, and whether `format=` or the Accept header said so. */
export interface Format {
  as: "json" | "html";
  by: "parameter" | "header";
}

const types = ["application/json", "text/html"] as const;

/** @returns what to render, or why nothing can be: an explicit format wins over Accept. */
export function negotiateFormat(
  request: Request,
  parameters: URLSearchParams,
): Format | "unknown-format" | "not-acceptable" {
  return chooseFormat(parameters.getAll("format").at(-1), request.headers.get("accept"));
}

/** @param asked by the parameter; undefined or empty: not */
export function chooseFormat(
  asked: string | undefined,
  accept: string | null,
): Format | "unknown-format" | "not-acceptable" {
  if (asked === "json") return { as: "json", by: "parameter" };
  if (asked === "api") return { as: "html", by: "parameter" };
  if (asked) return "unknown-format";
  const type = chooseType(accept, types);
  if (!type) return "not-acceptable";
  return { as: type === "text/html" ? "html" : "json", by: "header" };
}

import type { Headers } from "../http/answers.ts";
import { chooseType } from "../http/negotiate.ts";
import type { ServerRequest } from "../http/request.ts";
import type { CatalogSite } from "./site.ts";

/** A request as far as the catalog looks at it. */
export type CatalogRequest = Pick<ServerRequest, "method" | "target" | "header" | "read">;

/** A request to one route, looked at once. */
export interface Exchange {
  site: CatalogSite;
  request: CatalogRequest;
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
  request: CatalogRequest,
  parameters: URLSearchParams,
): Format | "unknown-format" | "not-acceptable" {
  const asked = parameters.getAll("format").at(-1);
  if (asked === "json") return { as: "json", by: "parameter" };
  if (asked === "api") return { as: "html", by: "parameter" };
  if (asked) return "unknown-format";
  const type = chooseType(request.header("accept"), types);
  if (!type) return "not-acceptable";
  return { as: type === "text/html" ? "html" : "json", by: "header" };
}

/** The query of a request with its question mark, encoded as addresses have it; "" when there is none. */
export const searchOf = ({ target }: CatalogRequest): string => new URL(target, "http://localhost").search;

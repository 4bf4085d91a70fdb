import type { Headers } from "../http/answers.ts";
import { chooseType } from "../http/negotiate.ts";
import type { ServerRequest } from "../http/request.ts";
import type { CatalogSite } from "./site.ts";

export type CatalogRequest = Pick<ServerRequest, "method" | "target" | "header" | "read">;

export interface Exchange {
  site: CatalogSite;
  request: CatalogRequest;
  parameters: URLSearchParams;
  /** The segment matched by `:id`. */
  id: string;
  format: Format;
  headers: Headers;
}

/** Format of the answer, and whether the client requested it with `format=` or Accept. */
interface Format {
  as: "json" | "html";
  by: "parameter" | "header";
}

const types = ["application/json", "text/html"] as const;

/** @returns the format or an error; an explicit format takes precedence over Accept. */
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

/** Query string with its question mark, URL-encoded; "" without a query. */
export const searchOf = ({ target }: CatalogRequest): string => new URL(target, "http://localhost").search;

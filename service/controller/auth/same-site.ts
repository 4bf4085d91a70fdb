import type { ServerRequest } from "../../http/request.ts";
import { type Caller, originOf } from "../call.ts";
import { Refused } from "../problems.ts";

/**
 * Browsers send cookies, and passwords that they once asked for, with requests of foreign pages too; they name the
 * page in Sec-Fetch-Site, older ones in Origin alone. Programs send neither.
 * @throws Refused for a change that a foreign page asks for
 */
export function requireSameSite(request: ServerRequest, caller: Caller): void {
  if (request.method === "GET" || request.method === "HEAD") return;
  const site = request.header("sec-fetch-site");
  const origin = request.header("origin");
  const isOwnSite = site === null || site === "same-origin" || site === "none";
  const isOwnOrigin = origin === null || origin === originOf(request, caller);
  if (isOwnSite && isOwnOrigin) return;
  throw new Refused("cross-origin", "A page of another site asked for this change.");
}

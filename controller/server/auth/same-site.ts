import type { ServerRequest } from "../../../service/http/request.ts";
import { type Caller, originOf } from "../call.ts";
import { Refused } from "../problems.ts";

/**
 * Protects against cross-site requests: browsers attach cookies and saved passwords to them. Browsers send
 * Sec-Fetch-Site, older ones only Origin; programs send neither.
 * @throws Refused for a change requested by a foreign page
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

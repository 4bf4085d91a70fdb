import type { ServerRequest } from "../../service/http/request.ts";
import { identify } from "./auth/authenticate.ts";
import { recordFailure } from "./auth/login-throttle.ts";
import type { Controller } from "./controller.ts";

/**
 * Tells another server on the same database whether a request's API key may upload packages.
 * @returns "unknown" for an invalid API key; the reason is in the audit log
 */
export async function mayPostPackages(
  controller: Controller,
  request: Pick<ServerRequest, "header">,
): Promise<"yes" | "forbidden" | "unknown"> {
  const now = controller.clock();
  const identified = await identify(controller, request, now);
  if (!identified) return "unknown";
  if ("failure" in identified) {
    await recordFailure(controller, identified, { ip: null, request: null }, now);
    return "unknown";
  }
  const { principal } = identified;
  if (principal.kind !== "key") return "unknown";
  return principal.scopes.has("packages:write") ? "yes" : "forbidden";
}

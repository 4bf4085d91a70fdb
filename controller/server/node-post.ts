import type { ServerRequest } from "../../service/http/request.ts";
import { identify } from "./auth/authenticate.ts";
import { recordFailure } from "./auth/login-throttle.ts";
import type { Controller } from "./controller.ts";

/** Whether a request's API key may upload packages. @returns "unknown" for an invalid key; the audit log says why */
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

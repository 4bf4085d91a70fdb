import { randomUUID } from "node:crypto";
import type { Headers } from "../../service/http/answers.ts";
import { namedInHeader } from "../../service/http/named.ts";
import { problem } from "../../service/http/problem.ts";
import { queryOf, type ServerAnswer, type ServerRequest, wholeAnswer } from "../../service/http/request.ts";
import { allowOf, operationOf, type Route, routerOf } from "../../service/http/router.ts";
import { type Alias, expiryWarningMilliseconds, lackOf, type Principal, refusalOf } from "./access.ts";
import { type Identified, identify, identifyLater, noteUse, recentKey } from "./auth/authenticate.ts";
import { requireSameSite } from "./auth/credentials.ts";
import { countFailure, recordFailure, throttleOf } from "./auth/login-throttle.ts";
import {
  type Answer,
  type Call,
  type ControllerApp,
  canonicalId,
  Refused,
  securityHeaders,
  tooMany,
} from "./call.ts";
import type { Contract } from "./contract.ts";
import { contracts } from "./contracts.ts";
import type { Controller } from "./controller.ts";
import { handlers } from "./handlers.ts";
import { type Allowance, networkOf, RateLimits } from "./limits/rate-limits.ts";
import { readBodyAs, readQuery } from "./request.ts";
import { apiPath, type ControllerOperation, controllerRoutes } from "./routes.ts";

const prefixes = [apiPath, "/-net/api/latest", "/latest"] as const;

/** A request that has found its route, and the headers of its answer. */
interface Incoming
  extends Pick<Call, "controller" | "request" | "caller" | "requestId" | "alias" | "now" | "params"> {
  limits: RateLimits;
  headers: Headers;
}

const routeAt = routerOf(controllerRoutes);

export function controllerApp(controller: Controller): ControllerApp {
  const limits = new RateLimits(controller.counters);
  return async (request, caller) => {
    const now = controller.clock();
    const requestId = requestIdOf(request.header("x-request-id"));
    const headers: Headers = { ...securityHeaders(caller), "X-Request-Id": requestId };
    try {
      const { path, alias } = placeOf(request.path);
      if (alias === "latest") headers["Content-Location"] = apiPath + encoded(path);
      headers["API-Version"] = "v0";
      if (!caller.secure)
        throw new Refused(
          "https-required",
          "Repeat the request over HTTPS: others must not be able to read the credentials.",
        );
      await spend(limits, `address ${networkOf(caller.remote)}`, controller.settings.limits.address, now, {});
      const found = routeAt(path);
      if (!found) throw nothingHere();
      const { route, params } = found;
      const incoming = { controller, request, caller, requestId, alias, now, params, limits, headers };
      return await answerRoute(route, incoming);
    } catch (error) {
      return refused(error, request, headers, controller);
    }
  };
}

const nothingHere = () => new Refused("not-found", "There is nothing at this address.");

const encoded = (path: string) => path.split("/").map(encodeURIComponent).join("/");

/** Addresses with and without the final slash are the same. @returns the path below the prefix */
function placeOf(path: string): { path: string; alias: Alias } {
  for (const prefix of prefixes) {
    if (path !== prefix && !path.startsWith(`${prefix}/`)) continue;
    const rest = path.slice(prefix.length).replace(/\/$/, "");
    return { path: rest, alias: prefix === apiPath ? "v0" : "latest" };
  }
  throw nothingHere();
}

async function answerRoute(route: Route<ControllerOperation>, incoming: Incoming): Promise<ServerAnswer> {
  const { controller, request, alias, params, now, headers } = incoming;
  if (request.method === "OPTIONS")
    return reply({ status: 200, body: described(route) }, { ...headers, Allow: allowOf(route) });
  const operation = operationOf(route, request.method);
  if (!operation)
    throw new Refused("method-not-allowed", `${request.method} is not for this address.`, {
      headers: { Allow: allowOf(route) },
    });
  const contract = contracts[operation];
  const { access, identifies } = contract;
  const later = identifies && identifyLater(controller, request, now, access, alias);
  const early = later?.principal(recentKey(later.id, now));
  const asked = contract.withDevice ? canonicalId(params.id) : null;
  const known = early ? { principal: early } : await authenticate(contract, incoming, asked);
  try {
    return await answerCall(operation, incoming, { ...known, later });
  } catch (error) {
    // The key may have changed since it was read: then that is the reason to refuse.
    if (later) await authenticate(contract, incoming);
    throw error;
  }
}

async function answerCall(
  operation: ControllerOperation,
  incoming: Incoming,
  known: Pick<Call, "principal" | "device" | "later">,
): Promise<ServerAnswer> {
  const { controller, request, caller, now, headers } = incoming;
  const contract = contracts[operation];
  let { principal } = known;
  if (principal) requireSameSite(request, caller);
  if (principal && principal.kind !== "session") await noteUse(controller, principal.id, now);
  await spendRate(contract, principal, incoming);
  const query = readQuery(contract, queryOf(request));
  const { body, ignored } = await readBodyAs(contract, request);
  if (ignored.length > 0) headers["X-Ignored-Fields"] = namedInHeader(ignored);
  // Rights may have changed while the body arrived, because the client decides how long that takes.
  if (body !== undefined && principal && !known.later)
    ({ principal } = await authenticate(contract, incoming));
  const call: Call = { ...known, ...incoming, query: query as Call["query"], body, principal };
  const given = await handlers[operation](call);
  warnOfEnd(headers, principal, now);
  return reply(given, headers);
}

const described = ({ name, description }: Route<ControllerOperation>) => ({
  name,
  description,
  renders: ["application/json"],
  parses: ["application/json"],
});

/** Identifies the caller and checks access. Public operations ignore credentials, even invalid ones. */
async function authenticate(
  { access }: Contract,
  incoming: Incoming,
  asked: string | null = null,
): Promise<Pick<Call, "principal" | "device">> {
  if (access === "anyone") return { principal: undefined };
  const { controller, request, alias, now } = incoming;
  const identified = await identify(controller, request, now, asked);
  if (identified && "failure" in identified) return fail(identified, incoming);
  const { principal, device } = identified ?? { principal: undefined, device: undefined };
  const refusal = refusalOf(access, principal, alias);
  const lack = refusal === "forbidden" && principal ? lackOf(access, principal) : undefined;
  if (refusal)
    throw new Refused(
      refusal,
      lack ?? sentences[refusal],
      refusal === "unauthorized" ? { headers: challenge } : {},
    );
  return { principal, device };
}

const challenge = { "WWW-Authenticate": 'Basic realm="controller", charset="UTF-8"' };
const sentences = {
  unauthorized: "Send the id and the secret of an API key as HTTP Basic credentials.",
  forbidden: "Your role does not allow this.",
  "wrong-alias": "A user's token works below /latest/ only; API keys work here.",
};

async function fail(
  failed: Extract<Identified, { failure: unknown }>,
  { controller, caller: { remote: ip }, requestId: request, now }: Incoming,
): Promise<never> {
  const attempt = [controller, failed.id ?? "", ip, now] as const;
  const wait = (await throttleOf(...attempt)) || (await countFailure(...attempt));
  if (wait > 0) throw tooMany(wait);
  await recordFailure(controller, failed, { ip, request }, now);
  throw new Refused("unauthorized", sentences.unauthorized, { headers: challenge });
}

async function spendRate(
  { rate }: Contract,
  principal: Principal | undefined,
  { controller, limits, caller, now, headers }: Incoming,
): Promise<void> {
  const { limits: most } = controller.settings;
  if (principal) return spend(limits, `${principal.kind} ${principal.id}`, most.key, now, headers);
  if (rate === "enrol") return spend(limits, `enrol ${networkOf(caller.remote)}`, most.enrol, now, headers);
  if (rate === "login") return spend(limits, `login ${networkOf(caller.remote)}`, most.login, now, headers);
}

async function spend(
  limits: RateLimits,
  key: string,
  limit: number,
  now: number,
  headers: Headers,
): Promise<void> {
  const allowance = await limits.spend(key, limit, now);
  if (limit > 0) Object.assign(headers, rateHeaders(allowance));
  if (!allowance.allowed) throw tooMany(allowance.reset);
}

/** Policy and remaining quota, as in draft-ietf-httpapi-ratelimit-headers. */
const rateHeaders = ({ limit, remaining, reset }: Allowance): Headers => ({
  RateLimit: `"minute";r=${remaining};t=${reset}`,
  "RateLimit-Policy": `"minute";q=${limit};w=60`,
});

function warnOfEnd(headers: Headers, principal: Principal | undefined, now: number): void {
  if (!principal || principal.kind === "session" || principal.expires === null) return;
  if (Date.parse(principal.expires) - now < expiryWarningMilliseconds)
    headers["X-Key-Expires"] = principal.expires;
}
const requestIdOf = (given: string | null): string =>
  given !== null && /^[\w.-]{1,64}$/.test(given) ? given : randomUUID();

function reply({ status, body, text, stream, headers: own }: Answer, headers: Headers): ServerAnswer {
  const json = text ?? (body === undefined ? undefined : JSON.stringify(body));
  if (json === undefined && stream === undefined) return { status, headers: { ...headers, ...own } };
  const all = { "Content-Type": "application/json", ...headers, ...own };
  return json === undefined ? { status, headers: all, body: stream } : wholeAnswer(status, all, json);
}

function refused(
  error: unknown,
  { target }: ServerRequest,
  headers: Headers,
  { log }: Controller,
): ServerAnswer {
  const known =
    error instanceof Refused ? error : new Refused("internal", "The server's log has the details.");
  if (known !== error) log(error instanceof Error ? (error.stack ?? error.message) : String(error));
  const { pathname } = new URL(target, "http://localhost");
  return problem(known.details(), pathname, { ...headers, ...known.headers });
}

import { randomUUID } from "node:crypto";
import type { ServerAnswer, ServerRequest } from "../../../service/http/request.ts";
import { routerOf } from "../../../service/http/router.ts";
import { readCredentials, requireSameSite } from "../auth/credentials.ts";
import { type Caller, type ControllerApp, Refused, securityHeaders } from "../call.ts";
import type { Controller } from "../controller.ts";
import { auditPage } from "./audit-rows.ts";
import { changeDevice, decideDevices, devicePage } from "./device-page.ts";
import { devicesPage } from "./devices-page.ts";
import { readForm } from "./form.ts";
import { changeKey, keyPage, keysPage, makeKey } from "./keys-page.ts";
import { decideSerials, serialsPage } from "./serials-page.ts";
import { endedSession, home, requireUser, signIn, signOut } from "./sign-in.ts";
import { answerAsset } from "./templates.ts";
import { accountPage, changeAccount, changeUser, changeUsers, userPage, usersPage } from "./users-page.ts";
import { ApiError, apiClient, page, type SignedIn, type Visit } from "./visit.ts";

interface PageRoute<For extends Visit> {
  path: string;
  GET?: (visit: For) => Promise<ServerAnswer>;
  POST?: (visit: For) => Promise<ServerAnswer>;
}

const routes: readonly PageRoute<SignedIn>[] = [
  { path: "/devices", GET: devicesPage, POST: decideDevices },
  { path: "/devices/:id", GET: devicePage, POST: changeDevice },
  { path: "/serials", GET: serialsPage, POST: decideSerials },
  { path: "/keys", GET: keysPage, POST: makeKey },
  { path: "/keys/:id", GET: keyPage, POST: changeKey },
  { path: "/users", GET: usersPage, POST: changeUsers },
  { path: "/users/:id", GET: userPage, POST: changeUser },
  { path: "/account", GET: accountPage, POST: changeAccount },
  { path: "/audit", GET: auditPage },
  { path: "/signout", POST: signOut },
];

/** Routes that need no session. */
const openRoutes: readonly PageRoute<Visit>[] = [
  { path: "/", GET: home },
  { path: "/signin", POST: signIn },
];

const openRouteAt = routerOf(openRoutes);
const routeAt = routerOf(routes);
const idForm = /^[0-9a-f-]{36}$/;

/** Web pages in front of the API, which does all their work. */
export function withPages(controller: Controller, api: ControllerApp): ControllerApp {
  return async (request, caller) => {
    if (!isForPeople(request)) return api(request, caller);
    const visit = visitOf(controller, api, request, caller);
    try {
      if (!caller.secure) throw new Refused("https-required", "Open this page over HTTPS.");
      return await answerVisit(visit, request, caller);
    } catch (error) {
      return failedPage(visit, error);
    }
  };
}

async function answerVisit(visit: Visit, request: ServerRequest, caller: Caller): Promise<ServerAnswer> {
  const { path } = request;
  const isRead = request.method === "GET" || request.method === "HEAD";
  if (path.startsWith("/assets/") && isRead) return answerAsset(path, visit.headers) ?? unknown();
  const open = openRouteAt(path);
  if (open) return answerRoute(open.route, visit, request, caller, async (visitor) => visitor);
  const found = routeAt(path);
  if (!found || (found.params.id !== undefined && !idForm.test(found.params.id))) return unknown();
  visit.params = found.params;
  return answerRoute(found.route, visit, request, caller, requireUser);
}

/** The first part of each address of a page or an asset. */
const starts = new Set([...routes, ...openRoutes].map(({ path }) => path.split("/")[1])).add("assets");

/** Unknown addresses give browsers a page, and programs a problem document. */
function isForPeople(request: ServerRequest): boolean {
  const { path } = request;
  if (isOfApi.test(path)) return false;
  if (starts.has(path.split("/")[1])) return true;
  return (request.header("accept") ?? "").includes("text/html");
}

const isOfApi = /^\/(-net|latest)(\/|$)/;

function visitOf(controller: Controller, api: ControllerApp, request: ServerRequest, caller: Caller): Visit {
  const requestId = randomUUID();
  return {
    controller,
    url: new URL(request.target, request.origin),
    params: {},
    form: new URLSearchParams(),
    ask: apiClient(api, request, caller, requestId),
    hasSession: readCredentials(null, request.header("cookie")).kind !== "none",
    me: undefined,
    now: controller.clock(),
    headers: { ...securityHeaders(caller), "X-Request-Id": requestId },
  };
}

const unknown = (): never => {
  throw new Refused("not-found", "There is nothing at this address.");
};

async function answerRoute<For extends Visit>(
  { GET, POST }: PageRoute<For>,
  visit: Visit,
  request: ServerRequest,
  caller: Caller,
  asVisitor: (visit: Visit) => Promise<For>,
): Promise<ServerAnswer> {
  const method = request.method === "HEAD" ? "GET" : request.method;
  const handler = method === "GET" ? GET : method === "POST" ? POST : undefined;
  if (!handler) {
    const Allow = [...(GET ? ["GET", "HEAD"] : []), ...(POST ? ["POST"] : [])].join(", ");
    throw new Refused("method-not-allowed", `${method} is not for this page.`, { headers: { Allow } });
  }
  requireSameSite(request, caller);
  try {
    const visitor = await asVisitor(visit);
    if (method === "POST") visitor.form = await readForm(request);
    return await handler(visitor);
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return endedSession(visit);
    throw error;
  }
}

function failedPage(visit: Visit, error: unknown): ServerAnswer {
  const { controller } = visit;
  if (error instanceof Refused) {
    const { title, status, detail } = error.details();
    return page(
      visit,
      "problem",
      title,
      { title, detail, errors: [], back: "" },
      { status, more: error.headers },
    );
  }
  if (!(error instanceof ApiError)) {
    controller.log(error instanceof Error ? (error.stack ?? error.message) : String(error));
    return failedPage(visit, new Refused("internal", "The server's log has the details."));
  }
  const { status, title, message: detail, errors, results, retryAfter } = error;
  const more: Record<string, string> = retryAfter === null ? {} : { "Retry-After": retryAfter };
  const failures = results.filter((result) => result.error !== undefined);
  const listed = [
    ...errors.map((each) => each.detail),
    ...failures.map(({ id, detail = "" }) => `${id}: ${detail}`),
  ].filter((text) => text !== detail);
  const { pathname, search } = visit.url;
  // Returns to the form with its filters; a page that itself failed is retried without its parameters.
  const back = pathname === "/signin" ? "/" : pathname + (visit.form.size > 0 ? search : "");
  return page(visit, "problem", title, { title, detail, errors: listed, back }, { status, more });
}

import { readPath } from "../../../service/http/path.ts";
import { jsonBody, type ServerAnswer, type ServerRequest } from "../../../service/http/request.ts";
import { type Principal, refusalOf, rightsOf, type User } from "../access.ts";
import type { Caller, ControllerApp } from "../call.ts";
import { contracts } from "../contracts.ts";
import type { Device } from "../devices/device-documents.ts";
import { Refused } from "../problems.ts";
import { apiPath, type ControllerOperation, controllerRoutes } from "../routes.ts";

/**
 * Sends the same API request that a program would send, with the visitor's cookie, so that rights, limits and
 * the audit log are the same.
 * @throws Failed for every error response
 */
export type Ask = <Body = unknown>(operation: ControllerOperation, given?: Given) => Promise<Answered<Body>>;

interface Given {
  params?: Record<string, string>;
  query?: Record<string, string | undefined>;
  body?: unknown;
}
interface Answered<Body> {
  body: Body;
  headers: Readonly<Record<string, string>>;
}

/** Error response of the API (RFC 9457). */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly title: string;
  readonly errors: readonly { pointer: string; detail: string }[];
  readonly results: readonly { id: string; error?: string; detail?: string }[];
  readonly retryAfter: string | null;

  constructor(
    { status, title, detail, errors = [], results = [] }: Problem,
    retryAfter: string | null = null,
  ) {
    super(detail);
    this.status = status;
    this.title = title;
    this.errors = errors;
    this.results = results;
    this.retryAfter = retryAfter;
  }
}
type Problem = { status: number; title: string; detail: string } & Partial<
  Pick<ApiError, "errors" | "results">
>;

const addresses = new Map(
  controllerRoutes.flatMap(({ path, operations }) =>
    Object.entries(operations).map(([method, operation]) => [operation, { method, path }] as const),
  ),
);

export function apiClient(
  api: ControllerApp,
  visit: Pick<ServerRequest, "origin" | "header">,
  caller: Caller,
  requestId: string,
): Ask {
  const own: Record<string, string> = { "x-request-id": requestId };
  for (const name of ["cookie", "origin", "sec-fetch-site"]) {
    const value = visit.header(name);
    if (value !== null) own[name] = value;
  }
  return async <Body>(
    operation: ControllerOperation,
    { params = {}, query = {}, body }: Given = {},
  ): Promise<Answered<Body>> => {
    const { method = "GET", path: place = "/" } = addresses.get(operation) ?? {};
    const address = apiPath + place.replace(/:(\w+)/g, (_, name) => encodeURIComponent(params[name] ?? ""));
    const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const target = `${address}?${new URLSearchParams(given)}`;
    const path = readPath(target, "");
    if (path === undefined || path === "bad") throw new Refused("bad-request", "The address cannot be read.");
    return read<Body>(
      await api({ method, target, path, origin: visit.origin, ...jsonBody(body, own) }, caller),
    );
  };
}

async function read<Body>({ status, headers, body: text }: ServerAnswer): Promise<Answered<Body>> {
  const body = text === undefined || text === "" ? undefined : JSON.parse(String(text));
  if (status >= 400) throw new ApiError(body, headers["Retry-After"] ?? null);
  return { body, headers };
}

/** The signed-in user, as far as pages need. */
export interface Me {
  user: User;
  devices: Record<string, Device>;
}

/** Whether the user may do this; pages offer nothing else. */
export function may({ user }: Me, operation: ControllerOperation): boolean {
  const principal: Principal = { kind: "session", id: "", user, scopes: rightsOf(user) };
  return refusalOf(contracts[operation].access, principal, "v0") === undefined;
}

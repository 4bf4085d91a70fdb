import { caching } from "../../../service/http/answers.ts";
import { readPath } from "../../../service/http/path.ts";
import {
  jsonBody,
  type ServerAnswer,
  type ServerRequest,
  wholeAnswer,
} from "../../../service/http/request.ts";
import { nameOfUser, type Principal, refusalOf, rightsOf } from "../access.ts";
import { type Caller, type ControllerApp, Refused } from "../call.ts";
import { type AnswerOf, contracts } from "../contracts.ts";
import type { Controller } from "../controller.ts";
import { addresses, apiPath, type ControllerOperation } from "../routes.ts";
import { digestOf, isSameDigest, type Pepper } from "../secrets.ts";
import { assetPaths, pagePolicy, render } from "./templates.ts";
import { counted } from "./words.ts";

export interface Visit {
  controller: Controller;
  url: URL;
  params: Readonly<Record<string, string>>;
  form: URLSearchParams;
  ask: Ask;
  /** True for any session cookie, valid or not. */
  hasSession: boolean;
  /** undefined before signing in. */
  me: Me | undefined;
  now: number;
  headers: Record<string, string>;
}

export interface SignedIn extends Visit {
  me: Me;
}

const navigation: readonly { path: string; text: string; operation: ControllerOperation }[] = [
  { path: "/devices", text: "Devices", operation: "listDevices" },
  { path: "/serials", text: "Serial numbers", operation: "listAuthDecisions" },
  { path: "/keys", text: "API keys", operation: "listApiKeys" },
  { path: "/users", text: "Users", operation: "listUsers" },
  { path: "/audit", text: "Audit log", operation: "listAudit" },
];

export const firstPageOf = (me: Me): string | undefined =>
  navigation.find(({ operation }) => may(me, operation))?.path;

const pageHeaders = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy": pagePolicy,
  "Cache-Control": caching.none,
  "Cross-Origin-Opener-Policy": "same-origin",
};

/** Browser tabs and bookmarks show no more. */
const maxTitleLength = 50;

/** Renders a page. @param model values of its template, in addition to those of the layout */
export function page(
  { controller, url, headers, me }: Pick<Visit, "controller" | "url" | "headers"> & Partial<Visit>,
  name: string,
  title: string,
  model: object = {},
  { status = 200, more = {} }: { status?: number; more?: Record<string, string> } = {},
): ServerAnswer {
  const layout = {
    title: title.length > maxTitleLength ? `${title.slice(0, maxTitleLength)}…` : title,
    product: controller.settings.organisation ?? "Device management",
    ...assetPaths(),
    nav: me ? navigationOf(me, url.pathname) : [],
    who: me ? nameOfUser(me.user) : "",
    said: readMessage(controller.pepper, url.searchParams.get("said")) ?? "",
  };
  return wholeAnswer(status, { ...headers, ...pageHeaders, ...more }, render(name, { layout, ...model }));
}

const navigationOf = (me: Me, path: string) =>
  navigation
    .filter(({ operation }) => may(me, operation))
    .map((entry) => ({
      href: entry.path,
      text: entry.text,
      current: path === entry.path || path.startsWith(`${entry.path}/`),
    }));

/** Redirects after an action (POST/redirect/GET), so that reloading does not repeat it. */
export function redirectTo(
  { controller, headers }: Visit,
  path: string,
  said?: { code: MessageCode; count?: number },
  more: Record<string, string> = {},
): ServerAnswer {
  const [pathname, search] = path.split("?");
  const query = new URLSearchParams(search);
  if (said) query.set("said", signedMessage(controller.pepper, said.code, said.count));
  const location = query.size > 0 ? `${pathname}?${query}` : path;
  return wholeAnswer(303, { ...headers, "Cache-Control": caching.none, Location: location, ...more }, "");
}

const messages = {
  accepted: (count: number) => `${counted(count, "device")} accepted.`,
  rejected: (count: number) =>
    `${counted(count, "device")} rejected, and ${count === 1 ? "its serial number" : "their serial numbers"} too.`,
  pending: (count: number) => `${counted(count, "device")} set back to pending.`,
  unchanged: () => "Nothing had to be changed.",
  renamed: () => "The device has its new name.",
  assigned: () => "The device is assigned.",
  deleted: () => "The device is deleted; its serial number stays rejected.",
  decided: (count: number) => `${counted(count, "serial number")} decided.`,
  undecided: (count: number) => `${counted(count, "decision")} taken back.`,
  revoked: () => "The key is revoked: it no longer works.",
  added: () => "The user was added, and can sign in with this password.",
  changed: () => "The user's names were changed.",
  role: () => "The user's role was changed.",
  password: () => "The user has a new password, and was signed out everywhere.",
  removed: () => "The user was deleted.",
  "own-names": () => "Your names were changed.",
  "own-password": () => "You have a new password. All your other sessions were signed out.",
  enabled: () => "The user can sign in again.",
  disabled: () => "The user is disabled and signed out everywhere.",
  "signed-out": () => "You are signed out.",
  "signed-in-ended": () => "Your session has ended; sign in again. Nothing was changed.",
} as const satisfies Record<string, (count: number) => string>;

type MessageCode = keyof typeof messages;

/** A message for a URL, signed so that a link from elsewhere cannot make a page show false claims. */
function signedMessage(pepper: Pepper, code: MessageCode, count = 1): string {
  return `${code}.${count}.${macOf(pepper, code, String(count))}`;
}

/** @returns undefined if this server did not sign it */
function readMessage(pepper: Pepper, value: string | null): string | undefined {
  const [, code = "", count = "", mac = ""] =
    /^([a-z-]+)\.(\d{1,4})\.([0-9a-f]{32})$/.exec(value ?? "") ?? [];
  if (!Object.hasOwn(messages, code) || !isSameDigest(mac, macOf(pepper, code, count))) return undefined;
  return messages[code as MessageCode](Number(count));
}

const macOf = (pepper: Pepper, code: string, count: string): string =>
  digestOf(pepper, "check", "message", code, count).slice(0, 32);

/**
 * Sends the request that a program would send, with the visitor's cookie, so that rights, limits and the audit log
 * are the same. @throws ApiError for every error response
 */
type Ask = <Operation extends ControllerOperation>(
  operation: Operation,
  given?: Given,
) => Promise<Answered<AnswerOf<Operation>>>;

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
  return async (operation, { params = {}, query = {}, body } = {}) => {
    const { method = "GET", path: place = "/" } = addresses.get(operation) ?? {};
    const address = apiPath + place.replace(/:(\w+)/g, (_, name) => encodeURIComponent(params[name] ?? ""));
    const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const target = `${address}?${new URLSearchParams(given)}`;
    const path = readPath(target, "");
    if (path === undefined || path === "bad") throw new Refused("bad-request", "The address cannot be read.");
    return read(await api({ method, target, path, origin: visit.origin, ...jsonBody(body, own) }, caller));
  };
}

async function read<Body>({ status, headers, body: text }: ServerAnswer): Promise<Answered<Body>> {
  const body = text === undefined || text === "" ? undefined : JSON.parse(String(text));
  if (status >= 400) throw new ApiError(body, headers["Retry-After"] ?? null);
  return { body, headers };
}

export type Me = AnswerOf<"readMe">;

/** Whether the user may do this; pages offer nothing else. */
export function may({ user }: Me, operation: ControllerOperation): boolean {
  const principal: Principal = { kind: "session", id: "", user, scopes: rightsOf(user) };
  return refusalOf(contracts[operation].access, principal, "v0") === undefined;
}

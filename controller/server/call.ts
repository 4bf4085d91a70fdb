import type { Kysely } from "kysely";
import { allHeaders, caching, type Headers } from "../../service/http/answers.ts";
import type { FieldError, ProblemDetails } from "../../service/http/problem.ts";
import type { ServerAnswer, ServerRequest } from "../../service/http/request.ts";
import { type Alias, type Later, nameOfUser, type Principal, type User } from "./access.ts";
import type { Controller } from "./controller.ts";
import {
  type Actor,
  type AuditEntry,
  appendAuditEntries,
  type Recorded,
  readHead,
} from "./store/audit-log.ts";
import type { Schema } from "./store/schema.ts";

export interface Caller {
  /** IP address of the client. */
  remote: string;
  /** True if no one between here and the client can read the traffic. */
  secure: boolean;
  /** Aborted on shutdown, to end answers that would otherwise never end. */
  closing?: AbortSignal;
  /** True if the client used HTTPS, to this server or to a trusted proxy. */
  https?: boolean;
}

/** A validated request, with everything its handler needs. */
export interface Call<Body = unknown, Query = Record<string, string | undefined>> {
  controller: Controller;
  request: ServerRequest;
  caller: Caller;
  requestId: string;
  alias: Alias;
  /** Milliseconds since 1970, fixed for the whole request. */
  now: number;
  params: Readonly<Record<string, string>>;
  query: Query;
  body: Body;
  principal: Principal | undefined;
  /** Present if the operation identifies the holder of a key itself. */
  later?: Later | undefined;
  /** JSON text of the device in the path, or null if there is none; undefined: not read with the credentials. */
  device?: string | null | undefined;
  /** Overrides the actor in the audit log; the principal by default. */
  actor?: Actor;
}

/** At most one of: a document, its serialized text, a stream. */
export interface Answer {
  status: number;
  body?: unknown;
  text?: string;
  stream?: ReadableStream<string | Uint8Array>;
  headers?: Record<string, string>;
}
// biome-ignore lint/suspicious/noExplicitAny: the contract's schema has validated each handler's input
export type Handler = (call: Call<any, any>) => Answer | Promise<Answer>;

/** The origin that the client sees: behind a TLS proxy, the request itself says http. */
export const originOf = ({ origin }: ServerRequest, { https = false }: Caller): string =>
  https ? origin.replace(/^http:/, "https:") : origin;

/** UUIDs are case-insensitive (RFC 9562, 4). */
export const canonicalId = (id: string | undefined): string => (id ?? "").toLowerCase();

export const at = (milliseconds: number): string => new Date(milliseconds).toISOString();

/** @throws Refused for an anonymous request */
export function principalOf({ principal }: Call): Principal {
  if (!principal) throw new Refused("unauthorized", "Credentials are needed.");
  return principal;
}

/** The caller, if it is a user. @throws Refused for an anonymous request */
export function callingUser(call: Call): User | undefined {
  const principal = principalOf(call);
  return principal.kind === "key" ? undefined : principal.user;
}

export function actorOf({ actor, principal, caller: { remote: ip }, requestId: request }: Call): Actor {
  if (actor) return actor;
  if (!principal) return { kind: "nobody", id: null, name: null, ip, request };
  if (principal.kind === "session")
    return { kind: "user", id: principal.user.id, name: nameOfUser(principal.user), ip, request };
  return { kind: principal.kind, id: principal.id, name: principal.name, ip, request };
}

/** The caller's name for `state_changed_by` and `created_by`. */
export function nameOf(call: Call): string {
  const { kind, id } = actorOf(call);
  return `${kind}:${id}`;
}

/** A transaction together with its audit records: both are committed, or neither. */
export interface Writing {
  transaction: Kysely<Schema>;
  send(statement: Promise<unknown>): void;
  record(...entries: readonly AuditEntry[]): void;
}

export const write = <T>(call: Call, work: (writing: Writing) => Promise<T>): Promise<T> =>
  writeAs(call.controller, actorOf(call), call.now, work);

export function writeAs<T>(
  { database, pepper }: Pick<Controller, "database" | "pepper">,
  actor: Actor,
  now: number,
  work: (writing: Writing) => Promise<T>,
): Promise<T> {
  return database.write(async (transaction, send) => {
    const entries: Recorded[] = [];
    const record = (...more: readonly AuditEntry[]) =>
      void entries.push(...more.map((entry) => ({ entry, actor, at: at(now) })));
    // Shares a round trip with the first statement of the work.
    const last = readHead(transaction, pepper);
    send(last);
    const result = await work({ transaction, send, record });
    appendAuditEntries(transaction, pepper, await last, entries).forEach(send);
    return result;
  });
}

/** Answers every request; an unexpected error becomes a 500. */
export type ControllerApp = (request: ServerRequest, caller: Caller) => Promise<ServerAnswer>;

const localHeaders: Headers = {
  ...allHeaders({}, undefined),
  "Cache-Control": caching.none,
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Cross-Origin-Resource-Policy": "same-origin",
  "X-Frame-Options": "DENY",
};
const remoteHeaders: Headers = { ...localHeaders, "Strict-Transport-Security": "max-age=31536000" };

export const securityHeaders = ({ remote }: Caller): Headers =>
  isLoopback(remote) ? localHeaders : remoteHeaders;

export const isLoopback = (address: string): boolean =>
  address === "127.0.0.1" || address === "::1" || /^127(\.\d{1,3}){3}$/.test(address);

/** All problem types of the API. Slugs are stable, because programs compare them. */
const kinds = {
  "bad-request": [400, "The request cannot be read"],
  invalid: [400, "The request has invalid values"],
  unauthorized: [401, "Credentials are missing or not valid"],
  forbidden: [403, "The credentials do not allow this"],
  "wrong-alias": [403, "A user's token is for /latest/ only"],
  "https-required": [403, "HTTPS is required"],
  "cross-origin": [403, "The request comes from another site"],
  "not-found": [404, "Not found"],
  "method-not-allowed": [405, "Method not allowed"],
  conflict: [409, "The request conflicts with the current state"],
  "limit-reached": [409, "A limit is reached"],
  "too-large": [413, "The body is too large"],
  "unsupported-media-type": [415, "The body is not JSON"],
  "too-many-requests": [429, "Too many requests"],
  internal: [500, "The server failed"],
  "enrolment-full": [503, "No more devices can enrol now"],
  busy: [503, "The server is busy"],
} as const satisfies Record<string, readonly [number, string]>;

export type ProblemKind = keyof typeof kinds;

export const statusOf = (kind: ProblemKind): number => kinds[kind][0];

/** Ends a request; its transaction is rolled back. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly kind: ProblemKind;
  readonly errors: readonly FieldError[] | undefined;
  readonly more: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    kind: ProblemKind,
    detail: string,
    { errors, more = {}, headers = {} }: Partial<Pick<Refused, "errors" | "more" | "headers">> = {},
  ) {
    super(detail);
    this.kind = kind;
    this.errors = errors;
    this.more = more;
    this.headers = headers;
  }

  details(): ProblemDetails {
    const [status, title] = kinds[this.kind];
    const { message: detail, errors, more } = this;
    return { slug: this.kind, title, status, detail, more, ...(errors && { errors }) };
  }
}

export const tooMany = (seconds: number): Refused =>
  new Refused("too-many-requests", `Ask again in ${seconds} s.`, {
    headers: { "Retry-After": String(seconds) },
  });

/** Problem with one value. @param pointer JSON Pointer into the body, or the name of a parameter */
export const invalid = (pointer: string, code: string, detail: string): Refused =>
  new Refused("invalid", detail, { errors: [{ pointer, code, detail }] });

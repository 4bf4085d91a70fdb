import type { Kysely } from "kysely";
import { allHeaders, caching, type Headers } from "../../service/http/answers.ts";
import type { ServerAnswer, ServerRequest } from "../../service/http/request.ts";
import { type Alias, type Later, nameOfUser, type Principal } from "./access.ts";
import type { Controller } from "./controller.ts";
import { Refused } from "./problems.ts";
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

/** The caller in the form of the audit log. */
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
  /** See `Work`. */
  send(statement: Promise<unknown>): void;
  record(...entries: readonly AuditEntry[]): void;
}

/** Runs `work` in a transaction and records its audit entries. @param actor defaults to the caller */
export function write<T>(
  call: Call,
  work: (writing: Writing) => Promise<T>,
  actor: Actor = actorOf(call),
): Promise<T> {
  return writeAs(call.controller, actor, call.now, work);
}

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

/** Headers of every answer, built once. */
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

import type { Kysely } from "kysely";
import type { ServerRequest } from "../http/request.ts";
import type { Alias, Principal } from "./access.ts";
import { type Actor, appendDeeds, type Deed } from "./audit/audit-log.ts";
import type { Controller } from "./controller.ts";
import { Refused } from "./problems.ts";
import type { Schema } from "./store/schema.ts";
import { nameOfUser } from "./users/user-rows.ts";

/** Where a request comes from. */
export interface Caller {
  /** Address of the client. */
  remote: string;
  /** Whether nobody between here and the client can read along. */
  secure: boolean;
  /** Aborts when the server is told to stop: what has no end of its own ends then. */
  closing?: AbortSignal;
  /** Whether the client speaks HTTPS: here, or to a trusted proxy. */
  https?: boolean;
}

/** One request, checked, with what its handler needs. */
export interface Call<Body = unknown, Query = Record<string, string | undefined>> {
  controller: Controller;
  request: ServerRequest;
  caller: Caller;
  requestId: string;
  alias: Alias;
  /** Milliseconds since 1970: one moment for the whole request. */
  now: number;
  params: Readonly<Record<string, string>>;
  query: Query;
  body: Body;
  principal: Principal | undefined;
  /** Whom the audit log names, where that is not the principal. */
  actor?: Actor;
}

/** What a handler answers with: at most one of a document, its text, or what comes bit by bit. */
export interface Answer {
  status: number;
  body?: unknown;
  text?: string;
  stream?: ReadableStream<string | Uint8Array>;
  headers?: Record<string, string>;
}
// biome-ignore lint/suspicious/noExplicitAny: the contract's schema has checked what each handler is given
export type Handler = (call: Call<any, any>) => Answer | Promise<Answer>;

/** This site as the client's browser knows it: behind a proxy the request itself says http. */
export const originOf = ({ origin }: ServerRequest, { https = false }: Caller): string =>
  https ? origin.replace(/^http:/, "https:") : origin;

/** UUIDs are one id however their letters are written (RFC 9562, 4). */
export const canonicalId = (id: string | undefined): string => (id ?? "").toLowerCase();

export const at = (milliseconds: number): string => new Date(milliseconds).toISOString();

/** Who asks. @throws Refused where nobody in particular does */
export function principalOf({ principal }: Call): Principal {
  if (!principal) throw new Refused("unauthorized", "Credentials are needed.");
  return principal;
}

/** Whoever asks, as the audit log names them. */
function actorOf({ actor, principal, caller: { remote: ip }, requestId: request }: Call): Actor {
  if (actor) return actor;
  if (!principal) return { kind: "nobody", id: null, name: null, ip, request };
  if (principal.kind === "session")
    return { kind: "user", id: principal.user.id, name: nameOfUser(principal.user), ip, request };
  return { kind: principal.kind, id: principal.id, name: principal.name, ip, request };
}

/** How `state_changed_by` and `created_by` name whoever asks. */
export function nameOf(call: Call): string {
  const { kind, id } = actorOf(call);
  return `${kind}:${id}`;
}

/** A transaction whose deeds are in the audit log when it is committed, and nowhere when it is not. */
export interface Writing {
  transaction: Kysely<Schema>;
  record(...deeds: readonly Deed[]): void;
}

/** Runs `work` in a transaction, with what it records. @param actor where it is not whoever asks */
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
  return database.write(async (transaction) => {
    const deeds: Deed[] = [];
    const result = await work({ transaction, record: (...more) => void deeds.push(...more) });
    await appendDeeds(transaction, { pepper, at: at(now), actor }, deeds);
    return result;
  });
}

import { randomUUID } from "node:crypto";
import { userInfo } from "node:os";
import { readPath } from "../../service/http/path.ts";
import { jsonBody, queryOf, type ServerRequest } from "../../service/http/request.ts";
import { operationOf, routerOf } from "../../service/http/router.ts";
import { scopes, type User } from "./access.ts";
import { type LogVerdict, verifyLog } from "./audit/verify-log.ts";
import { hashPassword } from "./auth/passwords.ts";
import { type Answer, type Call, Refused, writeAs } from "./call.ts";
import { contracts } from "./contracts.ts";
import type { Controller } from "./controller.ts";
import { handlers } from "./handlers.ts";
import { readBodyAs, readQuery } from "./request.ts";
import { controllerRoutes } from "./routes.ts";
import type { Actor, Head } from "./store/audit-log.ts";
import { blank, insertUser } from "./users/users.ts";

interface HostAnswer {
  status: number;
  /** Parsed JSON. */
  body: unknown;
}

/** Sends a request to the controller's API without a server. */
type AskOnHost = (method: string, path: string, body?: object) => Promise<HostAnswer>;

/**
 * Acts as an Owner, because anyone who can open the database could do as much. The audit log names the
 * operating system account.
 */
export function askOnHost(controller: Controller): AskOnHost {
  const actor = hostActor();
  return async (method, path, body) => {
    try {
      return await read(await run(controller, actor, method, path, body));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const { slug, more, ...details } = error.details();
      return { status: details.status, body: { type: `urn:relcat:problem:${slug}`, ...details, ...more } };
    }
  };
}

/** The operating system account, for the audit log. */
export function hostActor(): Actor {
  const name = accountName();
  return { kind: "host", id: name, name, ip: null, request: null };
}

function accountName(): string {
  const id = process.getuid?.();
  try {
    return userInfo().username;
  } catch {
    // In containers, the user id often has no account.
    return `uid-${id ?? "unknown"}`;
  }
}

async function run(
  controller: Controller,
  actor: Actor,
  method: string,
  target: string,
  body: object | undefined,
): Promise<Answer> {
  const request = requestOf(method, target, body);
  const { operation, params } = operationAt(request);
  const contract = contracts[operation];
  const call: Call = {
    controller,
    request,
    caller: { remote: "", secure: true },
    requestId: randomUUID(),
    alias: "v0",
    now: controller.clock(),
    params,
    query: readQuery(contract, queryOf(request)) as Call["query"],
    body: (await readBodyAs(contract, request)).body,
    principal: { kind: "session", id: "", user: owner, scopes: new Set(scopes) },
    actor,
  };
  return handlers[operation](call);
}

const owner: User = {
  id: "",
  name: null,
  email: null,
  username: null,
  role: "Owner",
  status: "Active",
  authz_devices: true,
  authz_policies: true,
  authz_control_panel: true,
  authz_control_plane: true,
  authz_users: true,
};

function requestOf(method: string, target: string, body: object | undefined): ServerRequest {
  const path = readPath(target, "");
  if (path === undefined || path === "bad") throw new Error(`${target} is not an address`);
  return { method, target, path, origin: "http://localhost", ...jsonBody(body) };
}

const routeAt = routerOf(controllerRoutes);

function operationAt({ method, path }: ServerRequest) {
  const found = routeAt(path);
  const operation = found && operationOf(found.route, method);
  if (!operation) throw new Error(`${method} ${path} is not an operation`);
  return { operation, params: found.params };
}

async function read({ status, body, text, stream }: Answer): Promise<HostAnswer> {
  const json = stream ? (await Array.fromAsync(stream)).join("") : text;
  return { status, body: json === undefined ? body : JSON.parse(json) };
}

/**
 * Creates the first Owner, who can create all other users.
 * @returns false if an Owner exists; then nothing changes
 */
export async function addFirstOwner(
  controller: Controller,
  email: string,
  password: string,
): Promise<boolean> {
  const now = controller.clock();
  const hashed = await hashPassword(password);
  return writeAs(controller, hostActor(), now, async (writing) => {
    const known = await writing.transaction.selectFrom("users").select("id").limit(1).executeTakeFirst();
    if (known) return false;
    await insertUser(writing, { ...blank(email, now), role: "Owner", password: hashed });
    return true;
  });
}

/** Validates a user's email address and password. @returns a message for each error */
export function userFaults(email: string, password: string): string[] {
  const checked = contracts.upsertUser.body?.schema.safeParse({ email, password });
  return (checked?.error?.issues ?? []).map(({ path, message }) => `${path.join(".")}: ${message}`);
}

export { untilStopped } from "../../service/http/node-server.ts";
export type { Head, LogVerdict };

/** Verifies the audit log, and that it matches the database. @param known a head noted earlier */
export const verifyAudit = ({ database, pepper }: Controller, known?: Head): Promise<LogVerdict> =>
  verifyLog(database, pepper, known);

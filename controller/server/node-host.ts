import { randomUUID } from "node:crypto";
import { userInfo } from "node:os";
import { readPath } from "../../service/http/path.ts";
import { jsonBody, queryOf } from "../../service/http/request.ts";
import { operationOf, routerOf } from "../../service/http/router.ts";
import { scopes } from "./access.ts";
import { verifyLog } from "./audit/verify-log.ts";
import { userOfRow } from "./auth/authenticate.ts";
import { hashPassword } from "./auth/passwords.ts";
import { type Answer, Refused, writeAs } from "./call.ts";
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

const routeAt = routerOf(controllerRoutes);

/**
 * Sends requests to the controller's API without a server. Acts as an Owner, because anyone who can open the database
 * could do as much. The audit log names the operating system account.
 */
export function askOnHost(controller: Controller) {
  const actor = hostActor();
  return async (method: string, target: string, given?: object): Promise<HostAnswer> => {
    const path = readPath(target, "");
    if (path === undefined || path === "bad") throw new Error(`${target} is not an address`);
    const found = routeAt(path);
    const operation = found && operationOf(found.route, method);
    if (!operation) throw new Error(`${method} ${path} is not an operation`);
    const contract = contracts[operation];
    const request = { method, target, path, origin: "http://localhost", ...jsonBody(given) };
    try {
      const answer = await handlers[operation]({
        controller,
        request,
        caller: { remote: "", secure: true },
        requestId: randomUUID(),
        alias: "v0",
        now: controller.clock(),
        params: found.params,
        query: readQuery(contract, queryOf(request)),
        body: (await readBodyAs(contract, request)).body,
        principal: { kind: "session", id: "", user: owner, scopes: new Set(scopes) },
        actor,
      });
      return await read(answer);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const { slug, more, ...details } = error.details();
      return { status: details.status, body: { type: `urn:relcat:problem:${slug}`, ...details, ...more } };
    }
  };
}

export function hostActor(): Actor {
  const name = accountName();
  return { kind: "host", id: name, name, ip: null, request: null };
}

function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    // In containers, the user id often has no account.
    return `uid-${process.getuid?.() ?? "unknown"}`;
  }
}

const owner = userOfRow({ ...blank(null, 0), ordinal: 0, id: "", role: "Owner" });

async function read({ status, body, text, stream }: Answer): Promise<HostAnswer> {
  const json = stream ? (await Array.fromAsync(stream)).join("") : text;
  return { status, body: json === undefined ? body : JSON.parse(json) };
}

/** Creates the first Owner. @returns false if there is a user already; then nothing changes */
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

/** Verifies the audit log, and that it matches the database. @param known a head noted earlier */
export const verifyAudit = ({ database, pepper }: Controller, known?: Head) =>
  verifyLog(database, pepper, known);

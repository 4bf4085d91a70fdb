import { randomBytes, randomUUID } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { readRequest, send } from "../../service/http/node-request.ts";
import {
  type Client,
  type ListenOptions,
  type RequestEntry,
  startServer,
} from "../../service/http/node-server.ts";
import { problem } from "../../service/http/problem.ts";
import type { ServerAnswer } from "../../service/http/request.ts";
import { controllerApp } from "./app.ts";
import { isLoopback, Refused, securityHeaders } from "./call.ts";
import type { Controller, Settings } from "./controller.ts";
import { localCounters, sharedCounters } from "./limits/rate-limits.ts";
import { withPages } from "./pages/site.ts";
import { digestOf, isSameDigest, type Pepper, pepperBytes } from "./secrets.ts";
import { migrate, missingSteps } from "./store/migrations.ts";
import { openPostgres } from "./store/postgres.ts";
import type { Database } from "./store/schema.ts";
import { openSqlite } from "./store/sqlite.ts";

export { settings } from "./controller.ts";

/** The controller cannot be opened; the message says what to do. */
export class NotReady extends Error {
  override readonly name = "NotReady";
}

export interface OpenOptions {
  /** Path of a file, or postgres://… */
  database: string;
  /** Hexadecimal; by default read from the file next to the SQLite file. */
  pepper: string | undefined;
  settings: Settings;
  clock: () => number;
  log: (message: string) => void;
  /** Creates the database and the pepper if they are missing. */
  create?: boolean;
  /** Accepts a schema that needs `migrate`. */
  outdated?: boolean;
}

export const isPostgres = (database: string) => /^postgres(ql)?:\/\//.test(database);

export const pepperFile = (database: string): string => `${database}.pepper`;

/** @throws NotReady for a missing file, a wrong pepper, or a schema that needs `migrate` */
export async function openController({
  database: place,
  pepper: given,
  settings,
  clock,
  log,
  create = false,
  outdated = false,
}: OpenOptions): Promise<Controller> {
  if (!isPostgres(place) && !create && !existsSync(place))
    throw new NotReady(
      `There is no database ${place}: create one with relcat controller init --database ${place}`,
    );
  const pepper = readPepper(place, given, create);
  const database = isPostgres(place)
    ? await openPostgres(place, (error) => log(`database: ${error.message}`))
    : openSqlite(place);
  try {
    if (create) await migrate(database.read as never, database.kind);
    const missing = await missingSteps(database.read as never, database.kind);
    if (missing && missing.length > 0 && !outdated)
      throw new NotReady(
        `The database lacks ${missing.join(", ")}: relcat controller migrate --database ${place}`,
      );
    const id = missing && (await requireSamePepper(database, pepper, create));
    if (id === undefined)
      throw new NotReady(`The database has no controller yet: relcat controller init --database ${place}`);
    const counters = database.kind === "sqlite" ? localCounters() : sharedCounters(database);
    return { database, pepper, settings, counters, id, clock, log };
  } catch (error) {
    await database.close();
    throw error;
  }
}

function readPepper(database: string, given: string | undefined, create: boolean): Pepper {
  if (given !== undefined) return parsePepper(given, "RELCAT_PEPPER");
  const file = pepperFile(database);
  if (isPostgres(database))
    throw new NotReady(
      `RELCAT_PEPPER is not set: export RELCAT_PEPPER=$(openssl rand -hex ${pepperBytes}), and keep it`,
    );
  if (existsSync(file)) return parsePepper(readFileSync(file, "utf8").trim(), file);
  if (!create || existsSync(database))
    throw new NotReady(`The pepper is missing: put ${file} back, or set RELCAT_PEPPER`);
  const pepper = randomBytes(pepperBytes);
  writeFileSync(file, `${pepper.toString("hex")}\n`, { mode: 0o600, flag: "wx" });
  return pepper;
}

function parsePepper(text: string, where: string): Pepper {
  if (/^[0-9a-f]{64,}$/i.test(text)) return Buffer.from(text, "hex");
  throw new NotReady(`${where} is not ${pepperBytes} bytes in hexadecimal`);
}

/** A wrong pepper would make every credential fail without a visible reason. @returns the controller's id, if there is one */
async function requireSamePepper({ read, note }: Database, pepper: Pepper, create: boolean) {
  const rows = await read
    .selectFrom("meta")
    .selectAll()
    .where("key", "in", ["controller", "pepper"])
    .execute();
  const values = new Map(rows.map(({ key, value }) => [key, value]));
  const known = values.get("controller");
  const check = digestOf(pepper, "check", "pepper");
  if (known !== undefined && isSameDigest(values.get("pepper") ?? "", check)) return known;
  if (known !== undefined)
    throw new NotReady("The pepper is not the one that this database was created with");
  if (!create) return undefined;
  const id = randomUUID();
  await note((database) =>
    database
      .insertInto("meta")
      .values([
        { key: "controller", value: id },
        { key: "pepper", value: check },
      ])
      .execute(),
  );
  return id;
}

export interface ControllerServer {
  url: string;
  /** Stops accepting requests and finishes the current ones; the database stays open. */
  close(): Promise<void>;
}

/** Starts a server. @throws EADDRINUSE, EACCES for the address */
export async function serveController(
  controller: Controller,
  options: ListenOptions,
): Promise<ControllerServer> {
  const app = withPages(controller, controllerApp(controller));
  const closing = new AbortController();
  const answer = async (incoming: IncomingMessage, { remote, https }: Client): Promise<ServerAnswer> => {
    const request = incoming.method === "TRACE" ? undefined : readRequest(incoming, options.host);
    const caller = { remote, https, secure: https || isLoopback(remote), closing: closing.signal };
    return request ? app(request, caller) : badRequest(remote);
  };
  const log = (entry: RequestEntry) => options.log({ ...entry, path: withoutSecrets(entry.path) });
  const server = await startServer({ ...options, log }, (incoming, outgoing, client) => {
    answer(incoming, client)
      .then((given) => send(outgoing, given))
      .catch((error) => {
        controller.log(error instanceof Error ? (error.stack ?? error.message) : String(error));
        outgoing.destroy();
      });
  });
  return {
    url: server.url,
    close() {
      closing.abort();
      return server.close();
    },
  };
}

function badRequest(remote: string): ServerAnswer {
  const headers = {
    "X-Request-Id": randomUUID(),
    ...securityHeaders({ remote, secure: false }),
    Connection: "close",
  };
  return problem(new Refused("bad-request", "The request cannot be read.").details(), "", headers);
}

/** Omits parameters and all that looks like a secret, because people paste secrets into addresses by mistake. */
const withoutSecrets = (target: string): string =>
  (target.split("?", 1)[0] ?? "").replace(/[a-z][\w-]{0,30}[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi, "…");

import { argon2Sync, generateKeyPairSync, type KeyObject, randomUUID, sign } from "node:crypto";
import { join } from "node:path";
import pg from "pg";
import type { Role, Scope } from "../../controller/server/access.ts";
import { sessionCookie } from "../../controller/server/auth/credentials.ts";
import { at, writeAs } from "../../controller/server/call.ts";
import { type Controller, type Settings, settings as usual } from "../../controller/server/controller.ts";
import { openController, serveController } from "../../controller/server/node.ts";
import { digestOf, newSession } from "../../controller/server/secrets.ts";
import { blank, insertUser } from "../../controller/server/users/users.ts";
import type { ListenOptions } from "../../service/http/node-server.ts";
import { afterFile } from "../support/after-file.ts";
import { temporaryFolder } from "../support/run.ts";

export type DatabaseKind = "sqlite" | "postgres";

/** Database of this run: SQLite in `npm test`, PostgreSQL in the slow run. */
export const databaseKind: DatabaseKind = process.env.RELCAT_TEST_POSTGRES ? "postgres" : "sqlite";

export const pepper = "ab".repeat(32);
export const password = "correct horse battery staple";

/** A hash of the password at the lowest cost: hundreds of tests sign in. */
const hashed = `$argon2id$v=19$m=8,t=1,p=1$${"A".repeat(22)}$${argon2Sync("argon2id", {
  message: password,
  nonce: Buffer.alloc(16),
  ...{ memory: 8, passes: 1, parallelism: 1, tagLength: 32 },
})
  .toString("base64")
  .replace("=", "")}`;

/** A new, empty database: a path or an address. PostgreSQL is only there in the slow run. */
export async function newDatabase(kind = databaseKind): Promise<string> {
  const server = process.env.RELCAT_TEST_POSTGRES;
  if (kind === "sqlite") return join(temporaryFolder(), "controller.db");
  const name = `t${randomUUID().replaceAll("-", "")}`;
  const client = new pg.Client({ connectionString: `${server}/postgres` });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  return `${server}/${name}`;
}

export interface TestController {
  controller: Controller;
  /** Where its database is. */
  database: string;
  url: string;
  /** `${url}/-net/api/v0` */
  api: string;
  /** Log messages other than requests. */
  said: string[];
  /** Sets the clock, which otherwise does not move. */
  setTime(milliseconds: number): void;
  now(): number;
  call: Ask;
  makeUser(
    role: Role,
    flags?: Partial<Record<"authz_devices" | "authz_control_panel" | "authz_users", 1>>,
  ): Promise<TestUser>;
  /** Credentials of a new API key, as the Authorization header. */
  makeKey(scopes?: readonly Scope[], days?: number): Promise<TestKey>;
  enroll(device?: Partial<EnrollFields>, pair?: KeyPair): Promise<Enrolled>;
  close(): Promise<void>;
}

export interface TestUser {
  id: string;
  email: string;
  /** Headers that sign in. */
  headers: Record<string, string>;
}
export interface TestKey {
  id: string;
  key: string;
  headers: Record<string, string>;
}
export interface Answered {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of all kinds
  json: any;
}
type Ask = (
  method: string,
  path: string,
  options?: { headers?: Record<string, string> | undefined; body?: unknown },
) => Promise<Answered>;

interface EnrollFields {
  name: string | null;
  serial: string | null;
  device_type: string | null;
  device_os: string | null;
  version: string | null;
}
export interface KeyPair {
  publicKey: string;
  privateKey: KeyObject;
}
export interface Enrolled extends Answered {
  id: string;
  pair: KeyPair;
}

/** Start time of all tests. */
export const start = Date.parse("2026-03-21T10:00:00.000Z");

/** Serves a controller on a new database, or on the given one. */
export async function testController({
  settings = {},
  database,
  serve = {},
}: {
  settings?: Partial<Settings>;
  database?: string;
  serve?: Partial<ListenOptions>;
} = {}): Promise<TestController> {
  const place = database ?? (await newDatabase());
  const said: string[] = [];
  let time = start;
  const controller = await openController({
    database: place,
    pepper,
    settings: { ...usual, limits: { key: 0, address: 0, enrol: 0, login: 0 }, ...settings },
    clock: () => time,
    log: (message) => void said.push(message),
    create: true,
  });
  const server = await serveController(controller, {
    host: "127.0.0.1",
    port: 0,
    clock: () => performance.now(),
    log: () => {},
    ...serve,
  });
  let isOpen = true;
  const close = async () => {
    if (!isOpen) return;
    isOpen = false;
    await server.close();
    await controller.database.close();
  };
  afterFile(close);
  const api = `${server.url}/-net/api/v0`;
  const call = caller(api);
  const makeUser = userMaker(controller);
  return {
    controller,
    database: place,
    url: server.url,
    api,
    said,
    setTime: (milliseconds) => {
      time = milliseconds;
    },
    now: () => time,
    call,
    makeUser,
    makeKey: async (scopes, days) => {
      const { headers } = await makeUser("Owner");
      const body = { ...(scopes && { scopes }), ...(days !== undefined && { expires_in_days: days }) };
      const { json } = await call("POST", "/api_keys", { headers, body });
      return { id: json.id, key: json.key, headers: basic(json.id, json.key) };
    },
    enroll: (device, pair = newPair()) => enroll(call, device, pair),
    close,
  };
}

export const basic = (id: string, key: string) => ({
  authorization: `Basic ${Buffer.from(`${id}:${key}`).toString("base64")}`,
});

/** @param api paths are below it; an object as body is sent as JSON, text as it is */
export function caller(api: string): Ask {
  return async (method, path, { headers = {}, body } = {}) => {
    const sent = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
    const response = await fetch(`${api}${path}`, {
      method,
      redirect: "manual",
      headers: { ...(sent !== undefined && { "content-type": "application/json" }), ...headers },
      ...(sent !== undefined && { body: sent }),
    });
    const text = await response.text();
    const isJson = /json/.test(response.headers.get("content-type") ?? "") && text !== "";
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: isJson ? JSON.parse(text) : undefined,
    };
  };
}

const nobody = { kind: "host", id: null, name: "test", ip: null, request: null } as const;

function userMaker(controller: Controller): TestController["makeUser"] {
  return async (role, flags = {}) => {
    const email = `${role}-${randomUUID()}@example.com`.toLowerCase();
    const user = { ...blank(email, controller.clock()), role, ...flags, password: hashed };
    await writeAs(controller, nobody, controller.clock(), (writing) => insertUser(writing, user));
    const cookie = await openSession(controller, user.id, email);
    return { id: user.id, email, headers: { cookie } };
  };
}

/** Signs in without checking the password, which is slow by design. @returns the cookie */
async function openSession(controller: Controller, id: string, name: string): Promise<string> {
  const [secret, now] = [newSession(), controller.clock()];
  const session = {
    digest: digestOf(controller.pepper, "session", secret),
    user_id: id,
    created_at: at(now),
    expires_at: at(now + 12 * 3_600_000),
  };
  const actor = { kind: "user", id, name, ip: "127.0.0.1", request: randomUUID() } as const;
  await writeAs(controller, actor, now, async ({ transaction, record }) => {
    await transaction.insertInto("sessions").values(session).execute();
    record({ code: "session.opened", target: { kind: "user", id } });
  });
  return `${sessionCookie}=${secret}`;
}

export function newPair(): KeyPair {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const der = publicKey.export({ format: "der", type: "spki" });
  return { publicKey: der.subarray(12).toString("base64"), privateKey };
}

/** The enrolment of a device, with its proof. */
export function enrollBody(nonce: string, device: Partial<EnrollFields>, { publicKey, privateKey }: KeyPair) {
  const fields = { name: null, serial: null, device_type: null, device_os: null, version: null, ...device };
  const { name, serial, device_type, device_os, version } = fields;
  const text = JSON.stringify([
    "relcat-enroll-1",
    nonce,
    publicKey,
    name,
    serial,
    device_type,
    device_os,
    version,
  ]);
  return {
    ...fields,
    public_key: publicKey,
    nonce,
    proof: sign(null, Buffer.from(text), privateKey).toString("base64"),
  };
}

async function enroll(call: Ask, device: Partial<EnrollFields> = {}, pair: KeyPair): Promise<Enrolled> {
  const { json } = await call("GET", "/device/enroll");
  const answer = await call("POST", "/device/enroll", { body: enrollBody(json.nonce, device, pair) });
  return { ...answer, id: answer.json?.id, pair };
}

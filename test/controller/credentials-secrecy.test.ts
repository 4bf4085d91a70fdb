import { createHash, randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import pg from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import { openController } from "../../controller/server/node.ts";
import type { RequestEntry } from "../../service/http/node-server.ts";
import { fromElsewhere, proxied } from "./access-principals.ts";
import { basic, databaseKind, password, pepper, type TestController, testController } from "./support.ts";

/** Secrets that must not appear anywhere, by name. */
const secrets = new Map<string, string>([
  ["the pepper", pepper],
  ["a user's password", password],
]);
const secret = (name: string, value: string) => {
  secrets.set(name, value);
  return value;
};

const logged: RequestEntry[] = [];
/** All answers except those that show a new secret. */
const answers: string[] = [];
let controller: TestController;
let stored: string;

beforeAll(async () => {
  controller = await testController({ serve: { ...proxied, log: (entry) => void logged.push(entry) } });
  await useEverySecret();
  await failWithEverySecret();
  stored = await contentsOf(controller.database);
});

async function ask(method: string, path: string, headers: Record<string, string>, body?: unknown) {
  const answer = await controller.call(method, path, { headers, body });
  answers.push([...answer.headers].join("\n") + answer.text);
  return answer;
}

async function useEverySecret(): Promise<void> {
  const { call, makeUser, enroll } = controller;
  const owner = await makeUser("Owner");
  secret("a session", owner.headers.cookie?.split("=")[1] ?? "");
  const made = async (name: string, path: string, headers: Record<string, string>) => {
    const { json } = await call("POST", path, { headers });
    return { id: json.id as string, key: secret(name, json.key), headers: basic(json.id, json.key) };
  };
  const key = await made("an API key", "/api_keys", owner.headers);
  await made("an exchanged key", "/api_keys/me/rotate", key.headers);
  const token = await made("a token", "/user/tokens", owner.headers);
  const revoked = await made("a revoked key", "/api_keys", owner.headers);
  await ask("DELETE", `/api_keys/${revoked.id}`, owner.headers);

  const device = await enroll({ serial: "SN-9001" });
  const accept = { devices: [{ id: device.id, state: "accepted" }] };
  await ask("POST", "/device/state", key.headers, accept);
  secret("a device's token", (await enroll({}, device.pair)).json.token);
  const fresh = secret("a new password", "a password that nobody reads");
  const body = { email: "grace@example.com", password: fresh };
  const { json } = await ask("POST", "/user/upsert", owner.headers, body);
  const login = await call("POST", "/user/login", { body: { email: json.email, password: fresh } });
  secret("another session", login.headers.get("set-cookie")?.split(/[=;]/)[1] ?? "");
  const changed = secret("a changed password", "a password that was changed");
  const cookie = login.headers.get("set-cookie")?.split(";")[0] ?? "";
  const change = { password: changed, current_password: fresh };
  await ask("POST", "/user/me", { cookie }, change);

  for (const path of ["/device", "/api_keys", "/api_keys/me", "/users", "/audit_log?limit=1000"])
    await ask("GET", path, path === "/api_keys/me" ? key.headers : owner.headers);
  await ask("GET", "/user/me", token.headers);
}

async function failWithEverySecret(): Promise<void> {
  const mistyped = secret("a mistyped password", "a password with a tpyo");
  const misplaced = secret("a password for a name", "what belongs below");
  const guess = secret("a guessed key", `rck_${randomUUID()}`);
  const attempts: [string, string, Record<string, string>, unknown?][] = [
    ["POST", "/user/login", {}, { email: "grace@example.com", password: mistyped }],
    ["POST", "/user/login", {}, { email_or_username: misplaced, password: mistyped }],
    ["POST", "/user/login", {}, { email: "grace@example.com", [mistyped]: mistyped }],
    ["POST", "/user/login", {}, `{"email": "grace@example.com", "password": "${mistyped}`],
    ["POST", "/user/login", { "content-type": "text/plain" }, mistyped],
    ["GET", "/device", basic(randomUUID(), guess)],
    ["GET", "/device", basic(guess, guess)],
    ["GET", "/device", { authorization: `Bearer ${guess}` }],
    ["GET", "/device", { cookie: `relcat-session=${guess}` }],
    ["GET", `/device?key=${guess}`, {}],
    ["GET", `/device?password=${encodeURIComponent(mistyped)}`, {}],
  ];
  for (const [method, path, headers, body] of attempts)
    await controller.call(method, path, { headers: { ...fromElsewhere(), ...headers }, body });
  // An address is repeated only to the client that sent it.
  await controller.call("GET", `/api_keys/${guess}`, { headers: fromElsewhere() });
}

/** The database with its log, or every table, as text. */
async function contentsOf(database: string): Promise<string> {
  if (databaseKind === "sqlite") {
    const folder = dirname(database);
    const files = readdirSync(folder).filter((name) => name.startsWith(basename(database)));
    expect(files).toContain(`${basename(database)}-wal`);
    return files.map((name) => readFileSync(join(folder, name), "latin1")).join("\n");
  }
  const client = new pg.Client({ connectionString: database });
  await client.connect();
  const { rows } = await client.query("select tablename from pg_tables where schemaname = 'public'");
  const tables: string[] = [];
  for (const { tablename } of rows)
    tables.push(JSON.stringify((await client.query(`select * from ${tablename}`)).rows));
  await client.end();
  return tables.join("\n");
}

/** Forms of a secret: plain, encoded, or as an unkeyed digest. */
function forms(value: string): string[] {
  const bytes = Buffer.from(value);
  const uuid = /[0-9a-f-]{36}$/.exec(value)?.[0];
  const digests = ["sha256", "sha1", "md5", "sha512"].flatMap((algorithm) => {
    const digest = createHash(algorithm).update(bytes);
    const whole = digest.digest();
    return [whole.toString("hex"), whole.toString("base64")];
  });
  return [value, bytes.toString("base64").replace(/=+$/, ""), bytes.toString("hex"), ...digests].concat(
    uuid === undefined ? [] : [uuid],
  );
}

describe("a search for all secrets", () => {
  const found = (text: string) =>
    [...secrets]
      .filter(([, value]) => forms(value).some((form) => text.includes(form)))
      .map(([name]) => name);

  test("knows every kind of secret, and finds a planted one", () => {
    expect(secrets.size).toBe(14);
    for (const value of secrets.values()) expect(value.length).toBeGreaterThan(12);
    // The search must find a planted secret.
    expect(found(`x${secrets.get("a token")}x`)).toEqual(["a token"]);
  });

  test("finds none in the database", () => {
    expect(stored).toContain("SN-9001");
    expect(stored).toContain("auth.failed");
    expect(found(stored)).toEqual([]);
  });

  test("finds none in the log of requests", () => {
    const text = JSON.stringify(logged);
    expect(text).toContain("/-net/api/v0/user/login");
    expect(found(text)).toEqual([]);
  });

  test("finds none in the server's log", () => {
    expect(found(controller.said.join("\n"))).toEqual([]);
  });

  test("finds none in a later answer", () => {
    expect(answers.length).toBeGreaterThan(8);
    expect(found(answers.join("\n"))).toEqual([]);
  });
});

describe("a copy of the database", () => {
  test("cannot be opened with another pepper", async () => {
    const opening = openController({
      database: controller.database,
      pepper: "cd".repeat(32),
      settings: controller.controller.settings,
      clock: Date.now,
      log: () => {},
    });
    await expect(opening).rejects.toThrow("The pepper is not the one that this database was created with");
  });

  test("has nothing that signs in: a digest is not a key", async () => {
    const { read } = controller.controller.database;
    const rows = await read.selectFrom("keys").select(["id", "digest", "previous_digest"]).execute();
    const sessions = await read.selectFrom("sessions").select("digest").execute();
    expect([rows.length, sessions.length]).toEqual([3, 2]);
    for (const { id, digest } of rows) {
      const headers = { ...fromElsewhere(), ...basic(id, `rck_${digest}`) };
      expect((await controller.call("GET", "/device", { headers })).status).toBe(401);
    }
    for (const { digest } of sessions) {
      const headers = { ...fromElsewhere(), cookie: `relcat-session=${digest.slice(0, 43)}` };
      expect((await controller.call("GET", "/device", { headers })).status).toBe(401);
    }
  });
});

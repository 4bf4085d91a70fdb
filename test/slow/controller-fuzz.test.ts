import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { scopes } from "../../controller/server/access.ts";
import { asker } from "../controller/contract-ask.ts";
import { readDocument } from "../controller/contract-document.ts";
import {
  basic,
  type DatabaseKind,
  newDatabase,
  password,
  type TestController,
  testController,
} from "../controller/support.ts";
import { often, seed } from "../support/effort.ts";
import { type MadeUp, requestsTo } from "./controller-requests.ts";

const runs = often(1000, 60);
const requests = 50;

/** Credentials are created again if an earlier request ended them. */
class Wallet {
  readonly #controller: TestController;
  readonly #email: string;
  #held: Record<string, string>[] = [];

  constructor(controller: TestController, email: string) {
    this.#controller = controller;
    this.#email = email;
  }

  static readonly kinds = 8;

  /** None; a session with and without Origin; a key with all scopes, and with one; a token; invalid ones. */
  of(kind: number): Record<string, string> {
    const [session = {}, all = {}, one = {}, token = {}] = this.#held;
    const nonsense = [basic(randomUUID(), `rck_${randomUUID()}`), { authorization: "Basic nonsense" }];
    const { cookie = "" } = session;
    return [{}, session, { cookie }, all, one, token, ...nonsense][kind] ?? {};
  }

  async renew(): Promise<void> {
    const ask = asker(this.#controller.controller, "/latest");
    const isGood = async (headers: Record<string, string> | undefined, path: string) =>
      headers !== undefined && (await ask("GET", path, { headers })).status === 200;
    const json = { "content-type": "application/json" };
    const [session, ...keys] = this.#held;
    if (!(await isGood(session, "/user/me"))) {
      const body = JSON.stringify({ email: this.#email, password });
      const { headers } = await ask("POST", "/user/login", { headers: json, body });
      const cookie = headers.get("set-cookie")?.split(";")[0] ?? "";
      this.#held = [{ cookie }, ...keys];
    }
    const [signedIn = {}] = this.#held;
    const wanted: [path: string, scopes: readonly string[]][] = [
      ["/api_keys", scopes],
      ["/api_keys", ["devices:read"]],
      ["/user/tokens", scopes],
    ];
    for (const [index, [path, asked]] of wanted.entries()) {
      if (await isGood(this.#held[index + 1], "/api_keys/me")) continue;
      const body = JSON.stringify({ scopes: asked });
      const { text } = await ask("POST", path, { headers: { ...json, ...signedIn }, body });
      const { id, key } = JSON.parse(text);
      this.#held[index + 1] = basic(id, key);
    }
  }
}

/** Adds data to the database. */
async function furnish(controller: TestController): Promise<string[]> {
  const devices = [];
  for (const serial of ["SN-1001", "SN-1002", null, "SN-1003", "SN-1004"])
    devices.push((await controller.enroll({ serial, name: serial })).id);
  const keys = [await controller.makeKey(), await controller.makeKey()];
  const users = [await controller.makeUser("User"), await controller.makeUser("FullAdministrator")];
  return [...devices, ...[...keys, ...users].map(({ id }) => id)];
}

const databases: DatabaseKind[] = often(["sqlite", "postgres"], ["sqlite"]);

test.each(databases)("any request has an answer of the description, and never a 500 (%s)", async (kind) => {
  const controller = await testController({ database: await newDatabase(kind) });
  const ids = await furnish(controller);
  const wallet = new Wallet(controller, (await controller.makeUser("Owner")).email);
  const document = await readDocument(asker(controller.controller));
  const tally = new Map<number, number>();
  const send = async (madeUp: MadeUp) => {
    const { operation, prefix, path, body, remote } = madeUp;
    const headers = { ...madeUp.headers, ...wallet.of(madeUp.credentials) };
    const answer = await asker(controller.controller, prefix)(operation.method, path, {
      headers,
      body,
      remote,
    });
    tally.set(answer.status, (tally.get(answer.status) ?? 0) + 1);
    const wrong = isElsewhere(answer.text) ? undefined : document.wrongWith(operation, answer);
    expect(wrong, `${operation.operationId} ${answer.status} ${answer.text.slice(0, 300)}`).toBeUndefined();
    expect(answer.status).not.toBe(500);
  };
  const batches = fc.array(requestsTo(document, { ids, credentials: Wallet.kinds }), {
    minLength: requests,
    maxLength: requests,
  });
  await fc.assert(
    fc.asyncProperty(batches, async (batch) => {
      await wallet.renew();
      await Promise.all(batch.map(send));
    }),
    { numRuns: runs, seed, endOnFailure: true },
  );
  expect(controller.said).toEqual([]);
  // The fuzz test must reach the operations. Few requests conflict: the seed decides how many.
  expect([...tally.values()].reduce((sum, count) => sum + count, 0)).toBe(runs * requests);
  for (const status of [200, 201, 204, 400, 401, 403, 404, 409])
    expect([status, tally.get(status) ?? 0]).toEqual([status, expect.toSatisfy((count) => count > 0)]);
});

/** Text that cannot be an id makes another address, which has no operation. */
const isElsewhere = (text: string): boolean =>
  /"detail":"(There is nothing at this address|The address cannot be read)\."/.test(text);

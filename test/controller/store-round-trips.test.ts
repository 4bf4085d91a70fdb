import { StatementSync } from "node:sqlite";
import pg from "pg";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { allScopes, insertDevices } from "./state-support.ts";
import { databaseKind, type TestController, type TestKey, testController } from "./support.ts";

let controller: TestController;
let key: TestKey;
let ids: string[];
beforeAll(async () => {
  controller = await testController();
  key = await controller.makeKey(allScopes);
  ids = await insertDevices(controller, 1010, (index) => ({ serial: `SN-${index}` }));
  // The first use of a key is noted, and each connection prepares its statements.
  for (const id of ids.slice(0, 3)) await controller.call("GET", `/device/${id}`, key);
});

afterEach(() => vi.restoreAllMocks());

interface Traffic {
  /** How often a statement was sent that had to wait for the answer to an earlier one. */
  roundTrips: number;
  statements: string[];
}

/** Counts what `work` sends to the database. */
async function trafficOf(work: () => Promise<unknown>): Promise<Traffic> {
  const traffic: Traffic = { roundTrips: 0, statements: [] };
  if (databaseKind === "postgres") watchPostgres(traffic);
  else watchSqlite(traffic);
  await work();
  return traffic;
}

function watchPostgres(traffic: Traffic): void {
  const { query } = pg.Client.prototype;
  let isAnswered = true;
  vi.spyOn(pg.Client.prototype, "query").mockImplementation(function (this: pg.Client, ...args: unknown[]) {
    const [given] = args as [string | { text: string }];
    traffic.statements.push(typeof given === "string" ? given : given.text);
    if (isAnswered) traffic.roundTrips++;
    isAnswered = false;
    const sent = query.apply(this, args as never) as unknown as Promise<unknown>;
    const answered = () => {
      isAnswered = true;
    };
    sent.then(answered, answered);
    return sent as never;
  });
}

/** SQLite has no network: each statement counts. */
function watchSqlite(traffic: Traffic): void {
  for (const method of ["all", "run"] as const) {
    const original = StatementSync.prototype[method] as (...values: unknown[]) => never;
    vi.spyOn(StatementSync.prototype, method as "run").mockImplementation(function (
      this: StatementSync,
      ...values
    ) {
      traffic.roundTrips++;
      traffic.statements.push(this.sourceSQL);
      return original.apply(this, values);
    });
  }
}

describe("a request with a key", () => {
  test("reads one device in one round trip", async () => {
    const traffic = await trafficOf(async () => {
      expect((await controller.call("GET", `/device/${ids[5]}`, key)).json.id).toBe(ids[5]);
    });
    expect(traffic).toMatchObject({ roundTrips: 1, statements: [expect.stringMatching(/^select/)] });
  });

  test("learns in one round trip that there is no such device", async () => {
    const traffic = await trafficOf(async () => {
      expect((await controller.call("GET", `/device/${crypto.randomUUID()}`, key)).status).toBe(404);
    });
    expect(traffic.roundTrips).toBe(1);
  });
});

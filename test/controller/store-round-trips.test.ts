import { StatementSync } from "node:sqlite";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { identify } from "../../controller/server/auth/authenticate.ts";
import { readHead } from "../../controller/server/store/audit-log.ts";
import { allScopes, breakDatabase, each, insertDevices, setStates } from "./state-support.ts";
import { basic, databaseKind, type TestController, type TestKey, testController } from "./support.ts";

let controller: TestController;
let key: TestKey;
let ids: string[];
beforeAll(async () => {
  // Before there are connections, which keep the function that they send with.
  if (databaseKind === "postgres") watchPostgres();
  else watchSqlite();
  controller = await testController();
  key = await controller.makeKey(allScopes);
  ids = await insertDevices(controller, 1010, (index) => ({ serial: `SN-${index}` }));
  // The first use of a key is noted, and each connection prepares its statements.
  for (const id of ids.slice(0, 3)) await controller.call("GET", `/device/${id}`, key);
});
afterAll(() => vi.restoreAllMocks());

/** How often a statement was sent that had to wait for the answer to an earlier one. SQLite has no network. */
let roundTrips = 0;
let statements: string[] = [];

/** Statements that read or change rows, without those that begin, lock, announce and end a transaction. */
const rowStatements = () => statements.filter((text) => !/^(begin|commit|select pg_)/.test(text.trim()));

/** Counts what `work` sends to the database. */
async function counted<T>(work: Promise<T>): Promise<T> {
  [roundTrips, statements] = [0, []];
  return await work;
}

type Callback = (...result: unknown[]) => void;

function watchPostgres(): void {
  const query = pg.Client.prototype.query as (...args: unknown[]) => unknown;
  let isAnswered = true;
  const answered = () => {
    isAnswered = true;
  };
  const before =
    (callback: Callback) =>
    (...result: unknown[]) => {
      answered();
      callback(...result);
    };
  vi.spyOn(pg.Client.prototype, "query").mockImplementation(function (this: pg.Client, ...args: unknown[]) {
    const [given] = args as [string | { text: string }];
    statements.push(typeof given === "string" ? given : given.text);
    if (isAnswered) roundTrips++;
    isAnswered = false;
    const all = args.map((arg) => (typeof arg === "function" ? before(arg as Callback) : arg));
    const sent = query.apply(this, all);
    if (sent instanceof Promise) sent.then(answered, answered);
    return sent as never;
  });
}

function watchSqlite(): void {
  for (const method of ["all", "run"] as const) {
    const original = StatementSync.prototype[method] as (...values: unknown[]) => never;
    vi.spyOn(StatementSync.prototype, method as "run").mockImplementation(function (
      this: StatementSync,
      ...values
    ) {
      statements.push(this.sourceSQL);
      return original.apply(this, values);
    });
  }
}

const most = (count: number) => (databaseKind === "postgres" ? count : 0);

describe("a request with a key", () => {
  test("reads one device with one statement", async () => {
    const { json } = await counted(controller.call("GET", `/device/${ids[5]}`, key));
    expect([json.id, statements.length]).toEqual([ids[5], 1]);
  });

  test("needs no second statement for a device that does not exist", async () => {
    const { status } = await counted(controller.call("GET", `/device/${crypto.randomUUID()}`, key));
    expect([status, statements.length]).toEqual([404, 1]);
  });

  test.runIf(databaseKind === "postgres")("looks rejections up by their serial numbers", async () => {
    await counted(setStates(controller, key, each([ids[7] ?? ""], "accepted")));
    const read = statements.find((text) => text.includes("'rejection'")) ?? "";
    const client = new pg.Client(controller.database);
    await client.connect();
    await client.query(`set plan_cache_mode = force_generic_plan; prepare reading as ${read}`);
    const { rows } = await client.query("explain execute reading('[]', '[]', '[]')");
    await client.end();
    const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
    expect(plan).toContain("using serials_pkey on serials");
    expect(plan).not.toContain("Seq Scan on serials");
  });

  test("changes the state of one device in two round trips", async () => {
    for (const state of ["accepted", "rejected", "accepted", "pending"] as const) {
      const { json } = await counted(setStates(controller, key, each([ids[6] ?? ""], state)));
      expect([json.changed, roundTrips]).toEqual([1, most(2)]);
    }
  });

  test("changes the states of 1,000 devices in two round trips, with at most four statements", async () => {
    // SQLite has no statement that changes two tables: it needs another one for rejected serial numbers.
    const fifth = databaseKind === "postgres" ? 4 : 5;
    const cases = [
      ["accepted", 4],
      ["pending", 4],
      ["rejected", fifth],
      ["accepted", fifth],
    ] as const;
    for (const [state, count] of cases) {
      const { json } = await counted(setStates(controller, key, each(ids.slice(10), state)));
      expect([json.changed, roundTrips]).toEqual([1000, most(2)]);
      expect(rowStatements().length).toBeLessThanOrEqual(count);
    }
  });
});

describe("requests that arrive together", () => {
  test("are identified with one statement, each with its own key and device", async () => {
    const [other, missing] = [await controller.makeKey(), crypto.randomUUID()];
    const pairs = [
      [basic(key.id, key.key), ids[8]],
      [basic(other.id, other.key), ids[9]],
      [basic(other.id, key.key), ids[8]],
      [basic(missing, key.key), ids[8]],
      [basic(key.id, key.key), missing],
    ] as const;
    const found = await counted(
      Promise.all(
        pairs.map(([{ authorization }, id]) =>
          identify(
            controller.controller,
            { header: (name) => (name === "authorization" ? authorization : null) },
            controller.now(),
            id,
          ),
        ),
      ),
    );
    expect(statements).toHaveLength(1);
    expect(
      found.map((each) =>
        each && "principal" in each
          ? [each.principal.id, each.device && JSON.parse(each.device).id]
          : each?.failure,
      ),
    ).toEqual([[key.id, ids[8]], [other.id, ids[9]], "wrong", "unknown", [key.id, null]]);
  });
});

describe("requests that wait together", () => {
  test("share transactions, and each is answered for itself", async () => {
    const repair = await breakDatabase(controller, {
      event: "update",
      table: "devices",
      when: `new.id = '${ids[3]}'`,
    });
    const [unknown, broken] = [crypto.randomUUID(), ids[3] ?? ""];
    const asked = [...ids.slice(20, 60), unknown, broken, ids[20] ?? ""];
    const answers = await counted(
      Promise.all(
        asked.map((id, index) => setStates(controller, key, each([id], index > 40 ? "rejected" : "pending"))),
      ),
    );
    await repair();
    expect(answers.map(({ status }) => status)).toEqual([...Array(40).fill(200), 404, 500, 200]);
    if (databaseKind === "postgres")
      expect(statements.filter((text) => text === "commit").length).toBeLessThan(asked.length);
    const { database, pepper } = controller.controller;
    const rows = await database.read.selectFrom("audit_log").select("target_id").execute();
    expect(rows.filter(({ target_id }) => target_id === ids[20])).toHaveLength(6);
    expect(rows.filter(({ target_id }) => target_id === broken)).toEqual([]);
    expect((await readHead(database.read, pepper)).seq).toBe(rows.length);
  });
});

describe("a key that was revoked in another process", () => {
  test.each([
    ["a change", (id: string, state: string) => ({ devices: [{ id, state }] })],
    ["a body with errors", () => ({ devices: [] })],
  ])("is refused for %s, although it was read within the last minute", async (_, bodyOf) => {
    const other = await controller.makeKey(allScopes);
    const post = (state: string) =>
      controller.call("POST", "/device/state", { headers: other.headers, body: bodyOf(ids[7] ?? "", state) });
    await post("rejected");
    const before = (await controller.call("GET", `/device/${ids[7]}`, key)).text;
    await controller.controller.database.note((database) =>
      database.updateTable("keys").set({ revoked_at: "2026" }).where("id", "=", other.id).execute(),
    );
    const { status, json } = await post("accepted");
    expect([status, json.detail]).toEqual([
      401,
      "Send the id and the secret of an API key as HTTP Basic credentials.",
    ]);
    expect((await controller.call("GET", `/device/${ids[7]}`, key)).text).toBe(before);
  });
});

import { sql } from "kysely";
import { beforeEach, describe, expect, test } from "vitest";
import { type ChainVerdict, type Head, verifyChain } from "../../service/controller/audit/audit-log.ts";
import { each, insertDevices, setStates } from "./state-support.ts";
import { type TestController, type TestKey, testController } from "./support.ts";

let controller: TestController;
let key: TestKey;
let ids: string[];
beforeEach(async () => {
  controller = await testController();
  key = await controller.makeKey();
  ids = await insertDevices(controller, 3);
  await setStates(controller, key, each(ids, "accepted"));
});

const verify = (known?: Head): Promise<ChainVerdict> => {
  const { database, pepper } = controller.controller;
  return verifyChain(database.read, pepper, known);
};
async function head(): Promise<Head> {
  const verdict = await verify();
  if (verdict.verdict !== "whole") throw new Error(verdict.why);
  return verdict.head;
}

/** What somebody can do who has the database, but not the pepper. */
async function attack(...statements: string[]): Promise<void> {
  const { database } = controller.controller;
  const disarm =
    database.kind === "sqlite"
      ? ["drop trigger if exists audit_log_no_update", "drop trigger if exists audit_log_no_delete"]
      : ["alter table audit_log disable trigger user"];
  await database.write(async (transaction) => {
    for (const statement of [...disarm, ...statements]) await sql.raw(statement).execute(transaction);
  });
}

const setHead = (value: string) => `update meta set value = ${value} where key = 'audit_head'`;

test("what was written is whole", async () => {
  // Owner, session, key, three devices.
  expect((await head()).seq).toBe(6);
});

describe("a changed value", () => {
  const columns = {
    at: "'2026-03-21T10:00:00.001Z'",
    actor_kind: "'user'",
    actor_id: "'x'",
    actor_name: "'x'",
    ip: "'127.0.0.2'",
    request_id: "'x'",
    code: "'device.renamed'",
    target_kind: "'serial'",
    target_id: "'x'",
    before: `'{"state":"rejected"}'`,
    after: `'{"state":"rejectee"}'`,
    hash: "'0' || substr(hash, 2)",
  };
  test.each(Object.entries(columns))(
    "of %s is found, in the first, a middle and the last row",
    async (column, value) => {
      const { seq: last } = await head();
      const { database } = controller.controller;
      for (const seq of [1, 4, last]) {
        const row = await database.read
          .selectFrom("audit_log")
          .selectAll()
          .where("seq", "=", seq)
          .executeTakeFirstOrThrow();
        const other =
          column === "hash" ? `'${row.hash.replace(/^./, (digit) => (digit === "0" ? "1" : "0"))}'` : value;
        const set = `update audit_log set "${column}" = ${other} where seq = ${seq}`;
        await attack(set);
        expect(await verify()).toMatchObject({ verdict: "broken", seq });
        const original = (row as unknown as Record<string, string | null>)[column];
        await attack(set.replace(other, original == null ? "null" : `'${original}'`));
        expect(await verify()).toMatchObject({ verdict: "whole" });
      }
    },
  );

  test("that is emptied is not the same as one that was never there", async () => {
    await attack("update audit_log set before = '' where before is null");
    expect(await verify()).toMatchObject({ verdict: "broken" });
  });
});

describe("rows", () => {
  test.each([1, 3])("that are gone are found: %i", async (seq) => {
    await attack(`delete from audit_log where seq = ${seq}`);
    expect(await verify()).toMatchObject({ verdict: "broken", seq });
  });

  test("that are gone from the end are found", async () => {
    await attack("delete from audit_log where seq > 4");
    expect(await verify()).toMatchObject({ verdict: "broken", seq: 5, why: "rows 5 to 6 are missing" });
  });

  test("that were exchanged are found", async () => {
    await attack(
      "update audit_log set seq = 99 where seq = 4",
      "update audit_log set seq = 4 where seq = 5",
      "update audit_log set seq = 5 where seq = 99",
    );
    expect(await verify()).toMatchObject({ verdict: "broken", seq: 4 });
  });

  test("that were put at the end are found", async () => {
    const columns =
      "at, actor_kind, actor_id, actor_name, ip, request_id, code, target_kind, target_id, before, after, hash";
    await attack(
      `insert into audit_log (seq, ${columns}) select seq + 1, ${columns} from audit_log where seq = 6`,
    );
    expect(await verify()).toMatchObject({ verdict: "broken", seq: 7 });
  });
});

describe("the note of the end", () => {
  test.each(["'5 x y'", "''", "value || 'x'", "replace(value, '6 ', '5 ')"])(
    "set to %s is found",
    async (value) => {
      await attack(setHead(value));
      expect(await verify()).toMatchObject({ verdict: "broken" });
    },
  );

  test("that is gone is found", async () => {
    await attack("delete from meta where key = 'audit_head'");
    expect(await verify()).toMatchObject({ verdict: "broken" });
  });

  test("is not made good again by whoever writes next", async () => {
    const { database } = controller.controller;
    const { hash } = await database.read
      .selectFrom("audit_log")
      .select("hash")
      .where("seq", "=", 4)
      .executeTakeFirstOrThrow();
    await attack("delete from audit_log where seq > 4", setHead(`'4 ${hash} ${"0".repeat(64)}'`));
    expect((await setStates(controller, key, each(ids, "rejected"))).status).toBe(200);
    expect(await verify()).toMatchObject({ verdict: "broken", seq: 5 });
  });
});

describe("a head that somebody wrote down", () => {
  test("is still in the log later", async () => {
    const known = await head();
    await setStates(controller, key, each(ids, "rejected"));
    expect(await verify(known)).toMatchObject({ verdict: "whole", head: { seq: 9 } });
  });

  test("tells an older copy of the whole database from the one there was", async () => {
    const note = await controller.controller.database.read
      .selectFrom("meta")
      .selectAll()
      .where("key", "=", "audit_head")
      .executeTakeFirstOrThrow();
    await setStates(controller, key, each(ids, "rejected"));
    const known = await head();
    await attack("delete from audit_log where seq > 6", setHead(`'${note.value}'`));
    expect(await verify()).toMatchObject({ verdict: "whole" });
    expect(await verify(known)).toMatchObject({ verdict: "broken", seq: 6 });
    await setStates(controller, key, each(ids, "pending"));
    await setStates(controller, key, each(ids, "accepted"));
    expect(await verify(known)).toMatchObject({ verdict: "broken", seq: known.seq });
  });
});

test("with another pepper nothing is right", async () => {
  const verdict = await verifyChain(controller.controller.database.read, Buffer.alloc(32, 1));
  expect(verdict).toMatchObject({ verdict: "broken" });
});

test("thousands of rows are checked while others are written", async () => {
  const many = await insertDevices(controller, 1000);
  for (const state of ["accepted", "rejected"] as const) await setStates(controller, key, each(many, state));
  const [verdict] = await Promise.all([verify(), setStates(controller, key, each(many, "pending"))]);
  expect(verdict).toMatchObject({ verdict: "whole" });
  expect((await head()).seq).toBe(3006);
});

import { sql } from "kysely";
import { beforeEach, describe, expect, test } from "vitest";
import { type LogVerdict, verifyLog } from "../../controller/server/audit/verify-log.ts";
import type { Head } from "../../controller/server/store/audit-log.ts";
import { statementsOf } from "../../controller/server/store/migrations.ts";
import { each, recordedDevices, setStates } from "./state-support.ts";
import { databaseKind, type TestController, type TestKey, testController } from "./support.ts";

let controller: TestController;
let key: TestKey;
let ids: string[];
beforeEach(async () => {
  controller = await testController();
  key = await controller.makeKey();
  ids = await recordedDevices(controller, 3);
  await setStates(controller, key, each(ids, "accepted"));
});

const verify = (known?: Head): Promise<LogVerdict> => {
  const { database, pepper } = controller.controller;
  return verifyLog(database, pepper, known);
};
async function head(): Promise<Head> {
  const verdict = await verify();
  if (verdict.verdict !== "whole") throw new Error(verdict.why);
  return verdict.head;
}

const triggers = statementsOf("sqlite").filter((statement) => statement.startsWith("create trigger"));
const fromOne = "audit_log add constraint audit_log_from_1 check (seq >= 1) not valid";

/**
 * Runs statements like an attacker who has the database but not the pepper: once without the guards, and once
 * with the guards restored.
 */
async function attack(...statements: string[]): Promise<void> {
  const [disarm, arm] =
    controller.controller.database.kind === "sqlite"
      ? [triggers.map((trigger) => `drop trigger ${trigger.split(" ")[2]}`), triggers]
      : [
          [
            "alter table audit_log disable trigger user",
            "alter table audit_log drop constraint audit_log_from_1",
          ],
          ["alter table audit_log enable trigger user", `alter table ${fromOne}`],
        ];
  await runSql(...disarm, ...statements, ...arm);
}

const runSql = (...statements: string[]): Promise<void> =>
  controller.controller.database.write(async (transaction) => {
    for (const statement of statements) await sql.raw(statement).execute(transaction);
  });

const setHead = (value: string) => `update meta set value = ${value} where key = 'audit_head'`;

test("verify accepts an unchanged log", async () => {
  // Owner, session, key, three devices enrolled, and accepted.
  expect((await head()).seq).toBe(9);
});

describe("verify detects a change", () => {
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
    "to %s in the first, a middle and the last row",
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

  test("from NULL to an empty value", async () => {
    await attack("update audit_log set before = '' where before is null");
    expect(await verify()).toMatchObject({ verdict: "broken" });
  });
});

describe("verify detects the rows", () => {
  test.each([1, 3])("deleted from the log: %i", async (seq) => {
    await attack(`delete from audit_log where seq = ${seq}`);
    expect(await verify()).toMatchObject({ verdict: "broken", seq });
  });

  test("deleted at the end", async () => {
    await attack("delete from audit_log where seq > 8");
    expect(await verify()).toMatchObject({ verdict: "broken", seq: 9, why: "row 9 is missing" });
    await attack("delete from audit_log where seq > 4");
    expect(await verify()).toMatchObject({ verdict: "broken", seq: 5, why: "rows 5 to 9 are missing" });
  });

  test.each([0, -1, -7])("inserted with the number %i", async (seq) => {
    const columns =
      "at, actor_kind, actor_id, actor_name, ip, request_id, code, target_kind, target_id, before, after, hash";
    const copy = `insert into audit_log (seq, ${columns}) select ${seq}, ${columns} from audit_log where seq = 1`;
    await expect(runSql(copy)).rejects.toThrow(/from.1/);
    await attack(copy);
    const why = `row ${seq} was not written by the controller, which numbers from 1`;
    expect(await verify()).toEqual({ verdict: "broken", seq, why });
  });

  test.each(["9007199254740993", "9223372036854775807"])(
    "added at the end with the number %s, which is no number of JavaScript",
    async (seq) => {
      const columns =
        "at, actor_kind, actor_id, actor_name, ip, request_id, code, target_kind, target_id, before, after, hash";
      await attack(
        `insert into audit_log (seq, ${columns}) select ${seq}, ${columns} from audit_log where seq = 9`,
      );
      const why = "the row after row 9 was not written by the controller, which numbers rows without gaps";
      expect(await verify()).toEqual({ verdict: "broken", seq: 10, why });
      const { headers } = await controller.makeUser("Owner");
      const list = await controller.call("GET", "/audit_log?limit=1", { headers });
      expect([list.status, list.json.audit_log[0].seq]).toEqual([200, Number(seq)]);
    },
  );

  test("deleted together with the head, even after later writes", async () => {
    const { id } = await controller.controller.database.read
      .selectFrom("users")
      .select("id")
      .executeTakeFirstOrThrow();
    await attack("delete from audit_log", "delete from meta where key = 'audit_head'");
    const why = `user ${id} is in the database, but not in the log`;
    expect(await verify()).toEqual({ verdict: "broken", seq: 0, why });
    await setStates(controller, key, each(ids, "rejected"));
    expect(await verify()).toEqual({ verdict: "broken", seq: 0, why });
  });

  test("exchanged with each other", async () => {
    await attack(
      "update audit_log set seq = 99 where seq = 4",
      "update audit_log set seq = 4 where seq = 5",
      "update audit_log set seq = 5 where seq = 99",
    );
    expect(await verify()).toMatchObject({ verdict: "broken", seq: 4 });
  });

  test("added at the end", async () => {
    const columns =
      "at, actor_kind, actor_id, actor_name, ip, request_id, code, target_kind, target_id, before, after, hash";
    await attack(
      `insert into audit_log (seq, ${columns}) select seq + 1, ${columns} from audit_log where seq = 9`,
    );
    expect(await verify()).toMatchObject({ verdict: "broken", seq: 10 });
  });
});

describe("verify detects the head", () => {
  test.each(["'5 x y'", "''", "value || 'x'", "replace(value, '9 ', '8 ')"])("set to %s", async (value) => {
    await attack(setHead(value));
    expect(await verify()).toMatchObject({ verdict: "broken" });
  });

  test("deleted from the database", async () => {
    await attack("delete from meta where key = 'audit_head'");
    expect(await verify()).toMatchObject({ verdict: "broken" });
  });

  test("inconsistent with the rows, even after the next write", async () => {
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

describe("a head that was exported earlier", () => {
  test("is still in the log later", async () => {
    const known = await head();
    await setStates(controller, key, each(ids, "rejected"));
    expect(await verify(known)).toMatchObject({ verdict: "whole", head: { seq: 12 } });
  });

  test("distinguishes an older copy of the whole database", async () => {
    const note = await controller.controller.database.read
      .selectFrom("meta")
      .selectAll()
      .where("key", "=", "audit_head")
      .executeTakeFirstOrThrow();
    await setStates(controller, key, each(ids, "rejected"));
    const known = await head();
    // An older copy also has the older states.
    await attack(
      "delete from audit_log where seq > 9",
      setHead(`'${note.value}'`),
      "update devices set state = 'accepted'",
    );
    expect(await verify()).toMatchObject({ verdict: "whole" });
    expect(await verify(known)).toMatchObject({ verdict: "broken", seq: 9 });
    await setStates(controller, key, each(ids, "pending"));
    await setStates(controller, key, each(ids, "accepted"));
    expect(await verify(known)).toMatchObject({ verdict: "broken", seq: known.seq });
  });
});

describe("verify detects a changed guard of the database:", () => {
  const isSqlite = databaseKind === "sqlite";
  const attacks: [string, string[], string][] = isSqlite
    ? [
        ...["no_update", "no_delete", "from_1"].map((name): [string, string[], string] => [
          `a dropped trigger audit_log_${name}`,
          [`drop trigger audit_log_${name}`],
          `the trigger audit_log_${name} is missing: the database lets the log be changed`,
        ]),
        [
          "a trigger that does nothing",
          [
            "drop trigger audit_log_no_update",
            "create trigger audit_log_no_update before update on audit_log begin select 1; end",
          ],
          "the trigger audit_log_no_update was changed",
        ],
        [
          "a trigger on another table",
          ["create trigger quiet after update on devices begin select 1; end"],
          "the trigger quiet was added",
        ],
        [
          "a table that takes numbers twice",
          [
            "create table copy as select * from audit_log",
            "drop table audit_log",
            "alter table copy rename to audit_log",
            ...triggers,
          ],
          "the table audit_log was changed",
        ],
      ]
    : [
        [
          "a trigger that is switched off",
          ["alter table audit_log disable trigger audit_log_no_change"],
          "the trigger audit_log_no_change was changed",
        ],
        [
          "a dropped trigger",
          ["drop trigger audit_log_no_truncate on audit_log"],
          "the trigger audit_log_no_truncate is missing: the database lets the log be changed",
        ],
        [
          "a function that does nothing",
          [
            "create or replace function audit_log_only_grows() returns trigger language plpgsql as $$ begin return new; end $$",
          ],
          "the function audit_log_only_grows was changed",
        ],
        [
          "a dropped constraint",
          ["alter table audit_log drop constraint audit_log_from_1"],
          "the constraint audit_log_from_1 is missing: the database lets the log be changed",
        ],
        [
          "a rule that swallows rows",
          ["create rule quiet as on insert to audit_log do instead nothing"],
          "the rule quiet was added",
        ],
      ];
  test.each(attacks)("%s", async (_, statements, why) => {
    await runSql(...statements);
    expect(await verify()).toEqual({ verdict: "broken", seq: 0, why });
  });
});

describe("verify detects a change that was made by SQL:", () => {
  const copied = (table: string, from: string) =>
    `insert into devices (${from}, id, public_key) select ${from}, 'x', 'x' from ${table} limit 1`;
  const fields = "state, version, created_at, state_changed_at";
  test.each([
    [
      "a device's state",
      "update devices set state = 'pending'",
      /^device .* differs in state from what the log recorded$/,
    ],
    ["a new device", copied("devices", fields), /^device x is in the database, but not in the log$/],
    ["a device that is gone", "delete from devices", /^device .* was removed from the database, but not in/],
    [
      "a role",
      "update users set role = 'FullAdministrator'",
      /^user .* differs in role from what the log recorded$/,
    ],
    [
      "a right",
      "update users set authz_users = 1",
      /^user .* differs in authz_users from what the log recorded$/,
    ],
    [
      "a status",
      "update users set status = 'Disabled'",
      /^user .* differs in status from what the log recorded$/,
    ],
    ["a user who is gone", "delete from users", /^user .* was removed from the database/],
    [
      "a key's scopes",
      "update keys set scopes = '[]'",
      /^key .* differs in scopes from what the log recorded$/,
    ],
    [
      "a key that is disabled",
      "update keys set disabled = 1",
      /^key .* differs in disabled from what the log recorded$/,
    ],
    ["a key that is gone", "delete from keys", /^key .* was removed from the database, but not in the log$/],
    ...["'2999-01-01T00:00:00.000Z'", "null", "''"].map((value): [string, string, RegExp] => [
      `a key's expiry: ${value}`,
      `update keys set expires_at = ${value}`,
      /^key .* differs in expires_at from what the log recorded$/,
    ]),
    [
      "a replaced secret that is valid again",
      "update keys set previous_digest = digest, previous_until = '2999-01-01T00:00:00.000Z'",
      /^key .* differs in previous_until from what the log recorded$/,
    ],
    ["a key's owner", "update keys set owner = 'x'", /^key .* differs in owner from what the log recorded$/],
    [
      "a key that is revoked",
      "update keys set revoked_at = '2026-03-21T10:00:00.000Z'",
      /^key .* is revoked, but not in the log$/,
    ],
    [
      "a device's user",
      "update devices set assigned_to_user = 'x'",
      /^device .* differs in assigned_to_user from what the log recorded$/,
    ],
    [
      "a decision in advance",
      "insert into serials (serial_key, serial, enforce_state, source, created_at) values ('sn-9', 'SN-9', 'accepted', 'decision', '')",
      /^the decision on serial number sn-9 is not what the log recorded$/,
    ],
  ])("%s", async (_, statement, why) => {
    await runSql(statement);
    expect(await verify()).toEqual({ verdict: "broken", seq: 0, why: expect.stringMatching(why) });
  });

  describe("after the lives of a key, a user, a device and a serial number", () => {
    let user: string;
    let token: string;
    let device: string;
    beforeEach(async () => {
      const { headers } = await controller.makeUser("Owner");
      const full = await controller.makeUser("FullAdministrator");
      user = full.id;
      const ask = async (method: string, path: string, body?: object, by = headers) => {
        const answer = await controller.call(method, path, { headers: by, body });
        expect([path, answer.status < 300]).toEqual([path, true]);
        return answer.json;
      };
      await ask("POST", `/api_keys/${key.id}/rotate`);
      const own = await controller.makeKey();
      await ask("POST", "/api_keys/me/rotate", { overlap_hours: 0 }, own.headers);
      await ask("POST", `/api_keys/${own.id}/rotate`);
      await ask("DELETE", `/api_keys/${own.id}`);
      token = (await ask("POST", "/user/tokens", {}, full.headers)).id;
      device = ids[0] ?? "";
      await ask("POST", "/device/assign", { device_id: device, user_id: user });
      const decide = (serial: string, enforce_state: string) =>
        ask("POST", "/device/auth_decisions", { auth_decisions: [{ serial, enforce_state }] });
      for (const state of ["rejected", "accepted", "none", "retain"]) await decide("SN-8", state);
      expect(await verify()).toMatchObject({ verdict: "whole" });
      await ask("POST", "/user/upsert", { id: user, status: "Disabled" });
      await ask("DELETE", `/user/${user}`);
      expect(await verify()).toMatchObject({ verdict: "whole" });
      await ask("POST", "/user/upsert", { id: user, email: "again@example.com" });
    });

    test.each([
      ["nothing", () => "update meta set value = value", undefined],
      [
        "a token of a deleted user",
        () => `update keys set revoked_at = null where id = '${token}'`,
        /^key .* is in force, but/,
      ],
      [
        "the earlier user of a device",
        () => `update devices set assigned_to_user = '${user}' where id <> '${device}'`,
        /^device .* differs in assigned_to_user/,
      ],
      [
        "a user whose id was used again",
        () => `delete from users where id = '${user}'`,
        /^user .* was removed/,
      ],
      [
        "an earlier decision",
        () => "update serials set enforce_state = 'accepted'",
        /^the decision on serial number sn-8 is not/,
      ],
      [
        "the machine of a decision",
        () => "update serials set device_id = 'x'",
        /^the decision on serial number sn-8 is not/,
      ],
    ])("%s", async (_, statement, why) => {
      await runSql(statement());
      expect(await verify()).toMatchObject(
        why ? { verdict: "broken", seq: 0, why: expect.stringMatching(why) } : { verdict: "whole" },
      );
    });

    test("a deleted user who was inserted again", async () => {
      const { headers } = await controller.makeUser("Owner");
      const upsert = (body: object) => controller.call("POST", "/user/upsert", { headers, body });
      const copy =
        "role, status, authz_devices, authz_policies, authz_control_panel, authz_users, created_at";
      await runSql(`create table kept as select * from users where id = '${user}'`);
      await upsert({ id: user, status: "Disabled" });
      await controller.call("DELETE", `/user/${user}`, { headers });
      expect(await verify()).toMatchObject({ verdict: "whole" });
      await runSql(`insert into users (id, email, ${copy}) select id, email, ${copy} from kept`);
      const why = `user ${user} is in the database, but not in the log`;
      expect(await verify()).toEqual({ verdict: "broken", seq: 0, why });
    });
  });

  test("a revoked key that is valid again", async () => {
    const { headers } = await controller.makeUser("Owner");
    const spare = await controller.makeKey();
    const { call } = controller;
    await call("POST", `/api_keys/${spare.id}`, { headers, body: { disabled: true } });
    await call("POST", `/api_keys/${spare.id}`, { headers, body: { disabled: false } });
    await call("DELETE", `/api_keys/${spare.id}`, { headers });
    expect(await verify()).toMatchObject({ verdict: "whole" });
    await runSql("update keys set revoked_at = null");
    const why = `key ${spare.id} is in force, but the log records that it was revoked`;
    expect(await verify()).toEqual({ verdict: "broken", seq: 0, why });
  });
});

test("verify with another pepper fails", async () => {
  const verdict = await verifyLog(controller.controller.database, Buffer.alloc(32, 1));
  expect(verdict).toMatchObject({ verdict: "broken" });
});

test("thousands of rows are verified during writes", async () => {
  const many = await recordedDevices(controller, 1000);
  for (const state of ["accepted", "rejected"] as const) await setStates(controller, key, each(many, state));
  const [verdict] = await Promise.all([verify(), setStates(controller, key, each(many, "pending"))]);
  expect(verdict).toMatchObject({ verdict: "whole" });
  expect((await head()).seq).toBe(4009);
});

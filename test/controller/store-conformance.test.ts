import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pepperFile } from "../../controller/server/node.ts";
import { MigrationFailed, migrate, missingSteps } from "../../controller/server/store/migrations.ts";
import { openPostgres } from "../../controller/server/store/postgres.ts";
import type { Database } from "../../controller/server/store/schema.ts";
import { openSqlite } from "../../controller/server/store/sqlite.ts";
import { afterFile } from "../support/after-file.ts";
import { databaseKind, newDatabase } from "./support.ts";

const opened: Database[] = [];
afterAll(() => Promise.all(opened.map((database) => database.close())));

async function open(place: string): Promise<Database> {
  const database =
    databaseKind === "sqlite"
      ? openSqlite(place)
      : await openPostgres(place, (error) => {
          throw error;
        });
  opened.push(database);
  return database;
}

async function openNew(): Promise<{ place: string; database: Database }> {
  const place = await newDatabase();
  const database = await open(place);
  await migrate(database.read as never, database.kind);
  return { place, database };
}

let database: Database;
let place: string;
beforeAll(async () => {
  ({ database, place } = await openNew());
});

const put = (key: string, value: string) => (transaction: Database["read"]) =>
  transaction.insertInto("meta").values({ key, value }).execute();
const readValue = async ({ read }: Pick<Database, "read">, key: string) =>
  (await read.selectFrom("meta").select("value").where("key", "=", key).executeTakeFirst())?.value;

/** A proxy before a database. While it is frozen, connections stay open and carry nothing. */
async function freezable(place: string) {
  const { port } = new URL(place);
  const sockets = new Set<Socket>();
  let isFrozen = false;
  const carry = (from: Socket, to: Socket) => {
    from.on("data", (bytes) => isFrozen || to.write(bytes)).on("error", () => {});
    from.on("close", () => to.destroy());
    sockets.add(from);
  };
  const proxy = createServer((socket) => {
    const server = connect(Number(port), "127.0.0.1");
    carry(socket, server);
    carry(server, socket);
  });
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  afterFile(() => {
    proxy.close();
    for (const socket of sockets) socket.destroy();
  });
  const address = place.replace(port, String((proxy.address() as AddressInfo).port));
  return { address, freeze: () => (isFrozen = true), thaw: () => (isFrozen = false) };
}

describe("transactions", () => {
  test("are visible to all connections after the commit", async () => {
    const other = await open(place);
    await database.write(async (transaction) => {
      await put("one", "1")(transaction);
      expect([await readValue(database, "one"), await readValue(other, "one")]).toEqual([
        undefined,
        undefined,
      ]);
      expect(await readValue({ read: transaction }, "one")).toBe("1");
    });
    expect([await readValue(database, "one"), await readValue(other, "one")]).toEqual(["1", "1"]);
  });

  test("roll back completely after any error, and do not affect the next one", async () => {
    const failing = [
      async () => {
        throw new Error("decided so");
      },
      async (transaction: Database["read"]) => sql`select * from nothing`.execute(transaction),
      put("two", "again"),
    ];
    for (const fail of failing) {
      const written = database.write(async (transaction) => {
        await put("two", "2")(transaction);
        await fail(transaction);
      });
      await expect(written).rejects.toThrow();
      expect(await readValue(database, "two")).toBeUndefined();
    }
    await database.write(put("two", "2"));
    expect(await readValue(database, "two")).toBe("2");
  });

  test("are serialized over all connections, so that no step is lost", async () => {
    // A second writer of SQLite blocks its process. Tests of the command line use two processes.
    const other = databaseKind === "sqlite" ? database : await open(place);
    await database.write(put("count", "0"));
    const count = (to: Database) =>
      to.write(async (transaction) => {
        const value = Number(await readValue({ read: transaction }, "count")) + 1;
        await transaction
          .updateTable("meta")
          .set({ value: String(value) })
          .where("key", "=", "count")
          .execute();
      });
    await Promise.all(Array.from({ length: 100 }, (_, index) => count(index % 2 ? database : other)));
    expect(await readValue(database, "count")).toBe("100");
  });

  test.runIf(databaseKind === "postgres")(
    "leave readers their connections while many writers wait",
    async () => {
      const other = await open(place);
      const { promise: held, resolve: release } = Promise.withResolvers<void>();
      const { promise: isHeld, resolve: holds } = Promise.withResolvers<void>();
      const holding = other.write(() => {
        holds();
        return held;
      });
      await isHeld;
      const waiting = Array.from({ length: 20 }, (_, index) => database.write(put(`waiting ${index}`, "")));
      expect(await readValue(database, "one")).toBe("1");
      release();
      await Promise.all([holding, ...waiting]);
    },
  );

  test.runIf(databaseKind === "postgres")(
    "fail after a time limit if the server stops answering, and succeed when it answers again",
    async () => {
      const { address, freeze, thaw } = await freezable(place);
      const other = await openPostgres(address, () => {}, 500);
      freeze();
      await expect(readValue(other, "one")).rejects.toThrow(/timeout/);
      await expect(other.write(put("frozen", ""))).rejects.toThrow(/timeout|terminated/);
      thaw();
      expect(await readValue(other, "one")).toBe("1");
      freeze();
      await expect(readValue(other, "one")).rejects.toThrow(/timeout/);
      await other.close();
      thaw();
    },
  );

  test("keep small notes beside them", async () => {
    await Promise.all([
      database.write(put("three", "3")),
      database.note((writer) => put("four", "4")(writer)),
      database.write(put("five", "5")),
    ]);
    expect(await Promise.all(["three", "four", "five"].map((key) => readValue(database, key)))).toEqual([
      "3",
      "4",
      "5",
    ]);
  });

  test("assign ordinals in order", async () => {
    const user = () => ({
      id: randomUUID(),
      email: randomUUID(),
      role: "User",
      status: "Active",
      created_at: "",
    });
    const flags = { authz_devices: 0, authz_policies: 0, authz_control_panel: 0, authz_users: 0 };
    const ids: string[] = [];
    const add = () =>
      database.write(async (transaction) => {
        const values = { ...user(), ...flags, name: null, username: null, password: null };
        await transaction.insertInto("users").values(values).execute();
        ids.push(values.id);
      });
    await Promise.all(Array.from({ length: 20 }, add));
    await database.write((transaction) =>
      transaction
        .deleteFrom("users")
        .where("id", "=", ids[19] ?? "")
        .execute(),
    );
    await add();
    const rows = await database.read
      .selectFrom("users")
      .select(["id", "ordinal"])
      .orderBy("ordinal")
      .execute();
    expect(rows.map(({ id }) => id)).toEqual([...ids.slice(0, 19), ids[20]]);
    // Numbers are never reused, because pages that begin after one would miss a row.
    expect(rows.at(-1)?.ordinal).toBeGreaterThan(20);
  });
});

describe("commits", () => {
  /** Resolves with the next commit notification. */
  const notified = (to: Database) => {
    let stop = () => {};
    const heard = new Promise<void>((resolve) => {
      stop = to.onCommit(resolve);
    });
    return heard.finally(() => stop());
  };

  test("are reported to this process and to others", { tags: ["long"] }, async () => {
    const other = await open(place);
    for (const writer of [database, other]) {
      const [here, there] = [notified(database), notified(other)];
      await writer.write((transaction) => put(randomUUID(), "")(transaction));
      await Promise.all([here, there]);
    }
  });

  test("are not reported to a removed listener", async () => {
    let heard = 0;
    const stop = database.onCommit(() => void heard++);
    stop();
    const once = notified(database);
    await database.write((transaction) => put(randomUUID(), "")(transaction));
    await once;
    expect(heard).toBe(0);
  });
});

describe("migrations", () => {
  test("upgrade an empty database once", async () => {
    const fresh = await open(await newDatabase());
    expect(await missingSteps(fresh.read as never, fresh.kind)).toBe(undefined);
    expect((await migrate(fresh.read as never, fresh.kind))[0]).toBe("0001-devices-users-keys-audit");
    expect(await migrate(fresh.read as never, fresh.kind)).toEqual([]);
    expect(await missingSteps(fresh.read as never, fresh.kind)).toEqual([]);
  });

  test("keep users, their order and earlier ordinals", async () => {
    const place = await newDatabase();
    const older = await open(place);
    await migrate(older.read as never, older.kind, "0002-audit-numbers-from-1");
    const insert = (id: string) => `insert into users (id, email, role, status, authz_devices, authz_policies,
      authz_control_panel, authz_users, created_at) values ('${id}', '${id}@example.com', 'User', 'Active', 0, 1, 0, 1, 'x')`;
    for (const statement of [
      insert("one"),
      insert("two"),
      insert("three"),
      "delete from users where id = 'three'",
    ])
      await sql.raw(statement).execute(older.read);
    const users = () => older.read.selectFrom("users").selectAll().orderBy("ordinal").execute();
    const before = await users();
    const step = "0003-users-without-email";
    expect(await migrate(older.read as never, older.kind, step)).toEqual([step]);
    expect(await users()).toEqual(before);
    await sql.raw(insert("four")).execute(older.read);
    expect((await users()).at(-1)).toMatchObject({ ordinal: 4, id: "four" });
    const unnamed = sql.raw("update users set email = null").execute(older.read);
    await expect(unnamed).rejects.toThrow(/check/i);
  });

  test("sort the devices of an older database by name", async () => {
    const older = await open(await newDatabase());
    await migrate(older.read as never, older.kind, "0003-users-without-email");
    const names = Array.from({ length: 1001 }, (_, index) => `Laptop-${1001 - index}`);
    const rows = names.map((name) => `('${name}', '${name}', '${name}', 'pending', 1, '2026', '2026')`);
    const columns = "id, name, public_key, state, version, created_at, state_changed_at";
    await sql.raw(`insert into devices (${columns}) values ${rows.join(", ")}`).execute(older.read);
    expect(await migrate(older.read as never, older.kind)).toEqual(["0004-devices-by-name"]);
    const sorted = await older.read.selectFrom("devices").select("name").orderBy("name_key").execute();
    expect(sorted.map(({ name }) => name)).toEqual(names.toReversed());
  });

  test.runIf(databaseKind === "postgres")("create a controller in each schema", async () => {
    const { place: first, database } = await openNew();
    await sql`create schema other`.execute(database.read);
    const second = await open(`${first}?options=-csearch_path%3Dother`);
    expect(await missingSteps(second.read as never, second.kind)).toBe(undefined);
    await migrate(second.read as never, second.kind);
    await second.write(put("controller", "second"));
    expect(await missingSteps(second.read as never, second.kind)).toEqual([]);
    expect(await readValue(database, "controller")).toBe(undefined);
  });

  test("never change a database of a newer version", async () => {
    const { database: newer } = await openNew();
    await sql`insert into kysely_migration (name, timestamp) values ('9999-later', '2030-01-01')`.execute(
      newer.read,
    );
    await expect(migrate(newer.read as never, newer.kind)).rejects.toThrow(MigrationFailed);
    await expect(missingSteps(newer.read as never, newer.kind)).rejects.toThrow(/9999-later.*newer/);
  });
});

describe("the audit log", () => {
  const row = (seq: number) => ({
    seq,
    at: "2026-03-21T10:00:00.000Z",
    actor_kind: "host",
    actor_id: null,
    actor_name: null,
    ip: null,
    request_id: null,
    code: "device.state",
    target_kind: null,
    target_id: null,
    before: null,
    after: null,
    hash: "0",
  });
  beforeAll(() =>
    database.write((transaction) =>
      transaction
        .insertInto("audit_log")
        .values([row(1), row(2)])
        .execute(),
    ),
  );

  const changes = {
    update: "update audit_log set actor_name = 'nobody'",
    delete: "delete from audit_log where seq = 2",
    replace:
      databaseKind === "sqlite"
        ? "insert or replace into audit_log select * from audit_log"
        : "delete from audit_log",
    ...(databaseKind === "postgres" && { truncate: "truncate audit_log" }),
  };
  test.each(Object.entries(changes))("refuses %s", async (_, statement) => {
    const written = database.write((transaction) => sql.raw(statement).execute(transaction));
    await expect(written).rejects.toThrow("the audit log only grows");
    const rows = await database.read.selectFrom("audit_log").selectAll().orderBy("seq").execute();
    expect(rows).toEqual([row(1), row(2)]);
  });

  test("refuses a duplicate number", async () => {
    const written = database.write((transaction) =>
      transaction.insertInto("audit_log").values(row(2)).execute(),
    );
    await expect(written).rejects.toThrow(/unique/i);
  });
});

test("the database refuses an unknown state, and a token without acceptance", async () => {
  const device = (fields: object) => ({
    id: randomUUID(),
    public_key: randomUUID(),
    state: "pending",
    version: 1,
    created_at: "",
    state_changed_at: "",
    ...fields,
  });
  for (const fields of [
    { state: "approved" },
    { token_digest: "x" },
    { state: "rejected", token_digest: "x" },
  ]) {
    const written = database.write((transaction) =>
      transaction
        .insertInto("devices")
        .values(device(fields) as never)
        .execute(),
    );
    await expect(written).rejects.toThrow(/check/i);
  }
});

test("a pepper is in a file next to its database", () => {
  expect(pepperFile("/data/controller.db")).toBe("/data/controller.db.pepper");
});

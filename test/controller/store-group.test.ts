import { sql } from "kysely";
import { expect, test } from "vitest";
import { grouped } from "../../controller/server/store/group.ts";
import type { Database } from "../../controller/server/store/schema.ts";
import { queue } from "../../shared/queue.ts";
import { testController } from "./support.ts";

const put = (key: string) => (transaction: Database["read"]) =>
  transaction.insertInto("meta").values({ key, value: "" }).execute();

async function keysOf({ read }: Database): Promise<string[]> {
  const rows = await read.selectFrom("meta").select("key").where("key", "like", "w%").execute();
  return rows.map(({ key }) => key).sort();
}

test("a failing writer in a group rolls back only its own part", async () => {
  const { database } = (await testController()).controller;
  const written = Array.from({ length: 30 }, (_, index) =>
    database.write(async (transaction) => {
      await put(`w${index}`)(transaction);
      if (index % 3 === 1) throw new Error("decided so");
      if (index % 3 === 2) await sql`select * from nothing`.execute(transaction);
      return index;
    }),
  );
  const settled = await Promise.allSettled(written);
  expect(settled.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []))).toEqual([
    0, 3, 6, 9, 12, 15, 18, 21, 24, 27,
  ]);
  expect(await keysOf(database)).toEqual(
    [0, 3, 6, 9, 12, 15, 18, 21, 24, 27].map((index) => `w${index}`).sort(),
  );
});

/** A fake connection for tests of the order alone. */
const nowhere = { executeQuery: async () => ({ rows: [] }) } as unknown as Database["read"];

test("writers are answered after the commit, and all fail with it", async () => {
  const said: string[] = [];
  const commits = [true, false];
  const write = grouped(
    queue(),
    async (work) => {
      await work(nowhere);
      const isCommitted = commits.shift();
      said.push(isCommitted ? "committed" : "lost");
      if (!isCommitted) throw new Error("the disk is full");
    },
    Number.POSITIVE_INFINITY,
  );
  const both = () =>
    Promise.allSettled(
      ["one", "two"].map((name) =>
        write(async () => void said.push(name)).finally(() => said.push(`answered ${name}`)),
      ),
    );
  expect((await both()).map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]);
  expect((await both()).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(said).toEqual([
    ...["one", "two", "committed", "answered one", "answered two"],
    ...["one", "two", "lost", "answered one", "answered two"],
  ]);
});

test("a transaction that cannot begin fails one writer, and the others try again", async () => {
  let tries = 0;
  const write = grouped(
    queue(),
    async (work) => {
      if (++tries === 1) throw new Error("locked");
      await work(nowhere);
    },
    Number.POSITIVE_INFINITY,
  );
  const settled = await Promise.allSettled(["one", "two", "three"].map((name) => write(async () => name)));
  expect(settled.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled"]);
  expect(tries).toBe(2);
});

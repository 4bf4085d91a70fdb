import { join } from "node:path";
import type { Postgres } from "../../test/support/postgres.ts";
import { type Contender, controller, limit } from "./contenders.ts";
import { type Fleet, makeFleet } from "./fleet.ts";
import type { Questions } from "./load.ts";
import { newDatabase, pgbench } from "./postgres.ts";

/** Contenders that are asked in turn; `against` names the one that each is measured by. */
export interface Case {
  title: string;
  text: string;
  contenders(): Promise<Contender[]>;
  against: Readonly<Record<string, string>>;
}

interface Place {
  folder: string;
  postgres: Postgres;
}

interface Fleets {
  sqlite: Fleet;
  postgres: Fleet;
}

async function fleets({ folder, postgres }: Place, name: string, devices: number): Promise<Fleets> {
  return {
    sqlite: await makeFleet(join(folder, `${name}.db`), devices),
    postgres: await makeFleet(await newDatabase(postgres, name), devices),
  };
}

const names = { sqlite: "SQLite", one: "PostgreSQL", two: "PostgreSQL, two processes" };

async function controllers({ sqlite, postgres }: Fleets, questions: Questions): Promise<Contender[]> {
  return [
    await controller(names.sqlite, sqlite, questions),
    await controller(names.one, postgres, questions),
    await controller(names.two, postgres, questions, 2),
  ];
}

const twoByOne = { [names.two]: names.one };
const hono = "bare hono handler";
const raw = "raw update by bare node:http";
const [select, update] = ["pgbench, select 1", "pgbench, update of a row"] as const;

export async function allCases(place: Place): Promise<Case[]> {
  const small = await fleets(place, "small", 1000);
  const large = await fleets(place, "large", 100_000);
  // Its own: what a limit writes must not be in the way of the others.
  const other = await makeFleet(join(place.folder, "other.db"), 100_000);
  const one: Questions = { kind: "one", connections: 16 };
  // Once in vain: the next ones find it compiled.
  await (await controller(names.sqlite, small.sqlite, one)).stop();
  const list: Questions = { kind: "list", connections: 2 };
  const single: Questions = { kind: "single", connections: 16, states: ["accepted", "pending"] };
  const bulk: Questions = { kind: "bulk", connections: 4, states: ["accepted", "pending"] };
  const rejecting: Questions = { ...bulk, states: ["accepted", "rejected"] };
  const postgresAgainst = (limitName: string) => ({ [names.one]: limitName, ...twoByOne });
  return [
    {
      title: "One device of 100,000",
      text: `Aims: half of what a bare hono handler answers, on SQLite; a quarter of pgbench's select 1, on PostgreSQL.
On SQLite, the two statements take a fifth of the process's time, the socket a fifth, the HMAC of the key's secret a tenth, and garbage collection a fifteenth. The rest is spread over routing, rights and headers.`,
      contenders: async () => [
        await limit("hono", hono, other, one),
        ...(await controllers(large, one)),
        await pgbench(place.postgres, place.folder, select, one.connections),
      ],
      against: { [names.sqlite]: hono, ...postgresAgainst(select) },
    },
    {
      title: "List of 1,000 devices",
      text: "",
      contenders: () => controllers(small, list),
      against: twoByOne,
    },
    {
      title: "List of 100,000 devices",
      text: "Streamed. Aim: less than 200 MB.",
      contenders: () => controllers(large, { ...list, seconds: 6 }),
      against: twoByOne,
    },
    {
      title: "State of one device of 100,000",
      text: `Durable before it is answered, with its row of the audit log. Aim: 0.3 of pgbench's update, on PostgreSQL.
pgbench sends one prepared statement. relcat reads a request and checks its key, changes a device and appends to the audit log, in two round trips that requests share. With PostgreSQL, sockets take a quarter of the process's time, garbage collection a tenth, and the rest is spread.`,
      contenders: async () => [
        await limit("update", raw, other, single),
        ...(await controllers(large, single)),
        await pgbench(place.postgres, place.folder, update, single.connections),
      ],
      against: { [names.sqlite]: raw, ...postgresAgainst(update) },
    },
    {
      title: "State of 1,000 devices of 100,000 at once",
      text: `Durable before it is answered, with 1,000 rows of the audit log. Aim: half of the raw update, on SQLite.
The raw update writes no audit log. SQLite's statements take half of the process's time, the HMACs of the audit log an eighth, and garbage collection a fifteenth.`,
      contenders: async () => [await limit("update", raw, other, bulk), ...(await controllers(large, bulk))],
      against: { [names.sqlite]: raw, ...twoByOne },
    },
    {
      title: "The same, rejecting and accepting in turn",
      text: "Serial numbers are rejected and freed along with their devices.",
      contenders: () => controllers(large, rejecting),
      against: twoByOne,
    },
  ];
}

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { type Postgres, postgresProgram } from "../../test/support/postgres.ts";
import type { Contender } from "./contenders.ts";
import { seconds } from "./load.ts";

export async function newDatabase({ url }: Postgres, name: string): Promise<string> {
  const client = new pg.Client({ connectionString: `${url}/postgres` });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  return `${url}/${name}`;
}

const rows = 100_000;
const statements = {
  "pgbench, select 1": "select 1;\n",
  "pgbench, update of a row": `\\set id random(1, ${rows})\nupdate limits set n = n + 1 where id = :id;\n`,
};

/** What PostgreSQL does without anybody between it and who asks. */
export async function pgbench(
  postgres: Postgres,
  folder: string,
  name: keyof typeof statements,
  connections: number,
): Promise<Contender> {
  const client = new pg.Client({ connectionString: `${postgres.url}/postgres` });
  await client.connect();
  await client.query("create table if not exists limits (id integer primary key, n integer not null)");
  await client.query(
    `insert into limits select number, 0 from generate_series(1, ${rows}) number on conflict do nothing`,
  );
  await client.end();
  const file = join(folder, "pgbench.sql");
  const options = ["-n", "-f", file, "-c", `${connections}`, "-j", "1", "-T", `${seconds}`, "-M", "prepared"];
  const place = ["-h", "127.0.0.1", "-p", `${postgres.port}`, "-U", "postgres", "postgres"];
  return {
    name,
    load() {
      writeFileSync(file, statements[name]);
      const text = execFileSync(postgresProgram("pgbench"), [...options, ...place], {
        encoding: "utf8",
        stdio: "pipe",
      });
      return { perSecond: Number(/tps = ([\d.]+)/.exec(text)?.[1]), count: 0, cpu: Number.NaN };
    },
    stop: async () => undefined,
  };
}

import { type Postgres, startPostgres } from "../support/postgres.ts";

let postgres: Postgres | undefined;

/** A PostgreSQL of its own for the suites that run against one. */
export async function setup(): Promise<void> {
  postgres = await startPostgres();
  process.env.RELCAT_TEST_POSTGRES = postgres.url;
}

export const teardown = async () => postgres?.stop();

import { type Postgres, startPostgres } from "../support/postgres.ts";

let postgres: Postgres | undefined;

/** Starts the PostgreSQL of the suites that need one. */
export async function setup(): Promise<void> {
  postgres = await startPostgres();
  process.env.RELCAT_TEST_POSTGRES = postgres.url;
}

export const teardown = async () => postgres?.stop();

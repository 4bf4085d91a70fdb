import type { Kysely } from "kysely";
import type { Schema } from "./schema.ts";

export type DatabaseKind = "sqlite" | "postgres";

/** @param send for statements whose results are not needed: they share a round trip with the commit */
export type Work<T> = (
  transaction: Kysely<Schema>,
  send: (statement: Promise<unknown>) => void,
) => Promise<T>;

/** A controller's database: PostgreSQL for several processes, or the SQLite file of one. */
export interface Database {
  kind: DatabaseKind;
  /** Reads committed data only. */
  read: Kysely<Schema>;
  /**
   * Runs `work` in a transaction that excludes all other writers, so that decisions based on its reads still
   * hold at commit and deadlocks cannot occur.
   */
  write<T>(work: Work<T>): Promise<T>;
  /** For small writes that need no ordering, such as the time of last use. */
  note(work: (database: Kysely<Schema>) => Promise<unknown>): Promise<void>;
  /**
   * Calls the listener after each commit of any process.
   * @returns a function that unsubscribes
   */
  onCommit(listener: () => void): () => void;
  close(): Promise<void>;
}

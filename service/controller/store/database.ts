import type { Kysely } from "kysely";
import type { Schema } from "./schema.ts";

export type DatabaseKind = "sqlite" | "postgres";

/** A controller's database: the one that several processes share, or the file of one. */
export interface Database {
  kind: DatabaseKind;
  /** For reading what is committed. */
  read: Kysely<Schema>;
  /** Another number after every commit, by whichever process; not there where asking is no cheaper than a query. */
  version?: () => number;
  /**
   * Runs `work` in a transaction, alone among all writers of this database: what it decides from what it reads
   * holds until it is committed, and two of them never wait for each other in a circle.
   */
  write<T>(work: (transaction: Kysely<Schema>) => Promise<T>): Promise<T>;
  /** Small writes outside of any order, such as times of last use. */
  note(work: (database: Kysely<Schema>) => Promise<unknown>): Promise<void>;
  /**
   * Calls after each commit, of this process or another one.
   * @returns ends it
   */
  onCommit(listener: () => void): () => void;
  close(): Promise<void>;
}

/** In words about files, because readers of a message do not know that a lock or a controller is a database. */
const sqliteReasons: Readonly<Record<number, string>> = {
  5: "another process is writing to it",
  8: "it may not be written",
  10: "the disk reports an error",
  13: "no space is left",
  14: "it cannot be opened",
  26: "it is a file of another program",
};

/** The reason in an error of SQLite; undefined if only its own words describe it. */
export const sqliteReason = (error: unknown): string | undefined =>
  sqliteReasons[((error as { errcode?: number }).errcode ?? 0) & 0xff];

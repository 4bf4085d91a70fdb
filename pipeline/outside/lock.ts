import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import { failure } from "../errors.ts";
import { accessFailure } from "./access-failure.ts";

/** Left in every folder relcat writes to; git-ignored, never published. */
export const lockFile = ".relcat-lock";

/** SQLITE_NOTADB */
const notADatabase = 26;

const patience = 30_000;
const step = 50;

/**
 * Runs `work` as the only relcat that writes below `folder`. The lock is a transaction on a SQLite file,
 * so the kernel frees it when a process dies, however it dies.
 * @throws RelcatError lock-held after 30 s, naming the holder
 */
export async function withLock<T>(
  folder: string,
  pid: number,
  onWait: (holder: number) => void,
  work: () => Promise<T> | T,
): Promise<T> {
  const database = open(folder);
  try {
    await acquire(database, folder, pid, onWait);
    return await work();
  } finally {
    database.close();
  }
}

function open(folder: string): DatabaseSync {
  try {
    mkdirSync(folder, { recursive: true });
    return new DatabaseSync(join(folder, lockFile));
  } catch (error) {
    throw isSqlite(error) ? unusable(folder, error) : accessFailure(`cannot lock ${folder}`, error);
  }
}

async function acquire(
  database: DatabaseSync,
  folder: string,
  pid: number,
  onWait: (holder: number) => void,
) {
  for (let waited = 0; ; waited += step) {
    if (hold(database, folder, pid)) return;
    const holder = holderOf(database);
    if (waited === 0) onWait(holder);
    if (waited >= patience) {
      const who = holder === 0 ? "another relcat" : `the relcat with process id ${holder}`;
      throw failure(
        "lock-held",
        `${who} is writing to ${folder}`,
        "Wait for it to finish, then run the command again.",
      );
    }
    await wait(step);
  }
}

/** The holder's id must be readable while the lock is held: it is committed first, then the lock is taken. */
function hold(database: DatabaseSync, folder: string, pid: number): boolean {
  try {
    database.exec("BEGIN IMMEDIATE; CREATE TABLE IF NOT EXISTS holder (pid INTEGER); DELETE FROM holder");
    database.prepare("INSERT INTO holder VALUES (?)").run(pid);
    database.exec("COMMIT; BEGIN IMMEDIATE");
    if (holderOf(database) === pid) return true;
    database.exec("ROLLBACK");
    return false;
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    if (isBusy(error)) return false;
    throw unusable(folder, error);
  }
}

/** The file may be anybody's by its name, and the folder somebody else's. */
function unusable(folder: string, error: unknown) {
  const file = join(folder, lockFile);
  const { errcode, errstr = String(error) } = error as { errcode?: number; errstr?: string };
  const hint =
    errcode === notADatabase
      ? "It holds nothing but the lock: make sure that no relcat runs there, and remove it."
      : "Check the permissions of the folder and of the file, and the free space.";
  return failure("file-access", `cannot lock ${file}: ${errstr}`, hint, undefined, error);
}

function holderOf(database: DatabaseSync): number {
  try {
    const row = database.prepare("SELECT pid FROM holder").get();
    return typeof row?.pid === "number" ? row.pid : 0;
  } catch {
    return 0; // Between two holders there may be no row, or no table yet: nobody to name.
  }
}

const isSqlite = (error: unknown) => (error as { code?: string }).code === "ERR_SQLITE_ERROR";
const isBusy = (error: unknown) => [5, 6].includes((error as { errcode?: number }).errcode ?? 0);

import { createHash } from "node:crypto";
import { accessSync, constants, existsSync, lstatSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import { failure } from "../../shared/errors.ts";
import { sqliteReason } from "../../shared/sqlite-reasons.ts";
import { accessFailure, refuseSpecial } from "./access-failure.ts";
import { readIfPresent } from "./files.ts";
import { realPlace } from "./real-folders.ts";

export interface CommandContext {
  /** Milliseconds since 1970. */
  clock: number;
  pid: number;
  /** A time given by the user, and its source (--now, SOURCE_DATE_EPOCH). */
  explicitTime?: { name: string; value: string } | undefined;
  /** Decide and check everything, and write nothing. */
  dryRun?: boolean | undefined;
  /** Called once if another relcat holds the lock; 0: its process id is unknown. */
  onWait: (holder: number) => void;
}

/** In the releases folder, where git ignores it, and in the folder of a site, which does not serve it. */
export const lockFile = ".relcat-lock";

/** SQLITE_READONLY, SQLITE_FULL, SQLITE_CANTOPEN and SQLITE_NOTADB */
const [readOnly, full, cannotOpen, notADatabase] = [8, 13, 14, 26];

const maxWaitMilliseconds = 30_000;
const step = 50;

/**
 * Runs `work` with an exclusive lock on `folder`. The lock is a transaction on a SQLite file, so the kernel
 * releases it whenever the process ends.
 * @throws RelcatError lock-held after 30 s, naming the holder
 */
export const withLock = <T>(folder: string, pid: number, onWait: OnWait, work: Work<T>): Promise<T> =>
  holding(join(folder, lockFile), folder, pid, onWait, work);

/** Like withLock, except that a dry run takes no lock, so that it leaves no lock file behind. */
export const withWriteLock = async <T>(
  folder: string,
  { dryRun, pid, onWait }: Pick<CommandContext, "dryRun" | "pid" | "onWait">,
  work: Work<T>,
): Promise<T> => (dryRun ? work() : withLock(folder, pid, onWait, work));

/**
 * Like withLock, for an output folder, which may not exist yet. The lock file is outside of it, because the folder is
 * copied to servers, and the same for all paths to the folder.
 */
export const withOutputLock = <T>(out: string, pid: number, onWait: OnWait, work: Work<T>): Promise<T> =>
  holding(outputLock(out), out, pid, onWait, work);

type OnWait = CommandContext["onWait"];
type Work<T> = () => Promise<T> | T;

/** Next to the folder; if that is not writable, in the system's temporary folder. */
function outputLock(out: string): string {
  const place = realPlace(out);
  const hash = createHash("sha256").update(place).digest("hex").slice(0, 32);
  const parent = dirname(place);
  try {
    mkdirSync(parent, { recursive: true });
    accessSync(parent, constants.W_OK);
  } catch {
    const own = process.env.XDG_RUNTIME_DIR;
    return own ? join(own, "relcat", `${hash}.lock`) : join(tmpdir(), `relcat-${hash}.lock`);
  }
  const name = basename(place);
  return join(parent, `${lockFile}-${Buffer.byteLength(name) > 200 ? hash : name}`);
}

async function holding<T>(
  file: string,
  folder: string,
  pid: number,
  onWait: OnWait,
  work: Work<T>,
): Promise<T> {
  const database = open(file);
  try {
    for (let waited = 0; !isAcquired(database, file); waited += step) {
      const holder = holderOf(file);
      if (waited === 0) onWait(holder);
      if (waited >= maxWaitMilliseconds) throw held(folder, holder);
      await wait(step);
    }
    noteHolder(file, pid);
    try {
      return await work();
    } finally {
      rmSync(holderFile(file), { force: true });
    }
  } finally {
    database.close();
  }
}

function open(file: string): DatabaseSync {
  for (const each of [file, holderFile(file)])
    if (lstatSync(each, { throwIfNoEntry: false })?.isSymbolicLink()) throw isLink(each);
  try {
    mkdirSync(dirname(file), { recursive: true });
    return new DatabaseSync(file);
  } catch (error) {
    throw isSqlite(error) ? unusable(file, error) : accessFailure(`cannot lock ${dirname(file)}`, error);
  }
}

/** SQLite would write to the link's target. */
const isLink = (file: string) =>
  failure(
    "site-tampered",
    `${file} is a symbolic link, expected the file of a lock`,
    "Nothing was written through it. Remove it, find out who made it, and run the command again.",
  );

const held = (folder: string, holder: number) =>
  failure(
    "lock-held",
    `${holder === 0 ? "another relcat" : `the relcat with process id ${holder}`} is writing to ${folder}`,
    "Wait for it to finish, then run the command again.",
  );

/** @returns false: another process has the lock */
function isAcquired(database: DatabaseSync, file: string): boolean {
  try {
    database.exec("BEGIN IMMEDIATE");
    return true;
  } catch (error) {
    if (isBusy(error)) return false;
    throw unusable(file, error);
  }
}

/** Others read the holder's process id from a file of its own, so that the bytes of the lock file never change. */
const holderFile = (file: string): string => `${file}-holder`;

function noteHolder(file: string, pid: number): void {
  try {
    refuseSpecial(holderFile(file));
    writeFileSync(holderFile(file), `${pid}\n`);
  } catch (error) {
    throw accessFailure(`cannot lock ${dirname(file)}`, error);
  }
}

/** The file may belong to another program, and the folder to another user. */
function unusable(file: string, error: unknown) {
  const { errcode = 0 } = error as { errcode?: number };
  const reason =
    errcode === full ? { code: "ENOSPC" } : [readOnly, cannotOpen].includes(errcode) && denied(file);
  if (reason) return accessFailure(`cannot lock ${file}`, reason);
  const hint =
    errcode === notADatabase
      ? "It contains only the lock: make sure that no relcat is running there, and remove it."
      : "Check the permissions of the folder and of the file, and the free space.";
  return failure(
    "file-access",
    `cannot lock ${file}: ${sqliteReason(error) ?? String(error)}`,
    hint,
    undefined,
    error,
  );
}

/** The reason why SQLite cannot write, which it does not name. */
function denied(file: string): unknown {
  try {
    accessSync(existsSync(file) ? file : dirname(file), constants.W_OK);
    return undefined;
  } catch (error) {
    return error;
  }
}

/** 0 between two holders. */
function holderOf(file: string): number {
  const text = readIfPresent(holderFile(file));
  return Number.parseInt(new TextDecoder().decode(text), 10) || 0;
}

const isSqlite = (error: unknown) => (error as { code?: string }).code === "ERR_SQLITE_ERROR";
const isBusy = (error: unknown) => [5, 6].includes((error as { errcode?: number }).errcode ?? 0);

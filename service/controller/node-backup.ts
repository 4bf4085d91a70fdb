import {
  closeSync,
  existsSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { syncToDisk } from "../../pipeline/system/files.ts";
import { writeAs } from "./call.ts";
import type { Settings } from "./controller.ts";
import { NotReady, openController, pepperFile } from "./node.ts";
import { hostActor, type LogVerdict, verifyAudit } from "./node-host.ts";
import { migrate } from "./store/migrations.ts";
import { openPostgres } from "./store/postgres.ts";
import { openSqlite } from "./store/sqlite.ts";

/** A file is there already; nothing was written. */
export class FileExists extends Error {
  override readonly name = "FileExists";
}

/** What would be restored was changed behind the controller's back. */
export class BackupBroken extends Error {
  override readonly name = "BackupBroken";
}

export interface BackupOptions {
  /** A SQLite file; a server may be writing to it. */
  database: string;
  file: string;
  /** Hexadecimal; undefined leaves it out of the backup. */
  pepper: string | undefined;
}

/** Writes a whole copy, as of one moment, or nothing. @throws FileExists */
export function backUp({ database, file, pepper }: BackupOptions): void {
  refuseExisting(file);
  if (pepper !== undefined) refuseOtherPepper(file, pepper);
  const part = copyOf(database, file);
  if (pepper !== undefined) writePepper(file, pepper);
  place(part, file);
}

/** The pepper of a SQLite file, where it lies beside it. */
export const pepperBeside = (database: string): string | undefined =>
  existsSync(pepperFile(database)) ? readFileSync(pepperFile(database), "utf8").trim() : undefined;

export interface RestoreOptions {
  file: string;
  database: string;
  /** Hexadecimal. */
  pepper: string;
  settings: Settings;
  clock: () => number;
  log: (message: string) => void;
}

/**
 * Makes a database of a backup, once its audit log is proved; a row of that log says that it was restored.
 * @throws FileExists, BackupBroken, NotReady
 */
export async function restore({ file, database, pepper, ...opening }: RestoreOptions): Promise<void> {
  if (!existsSync(file)) throw new NotReady(`There is no backup ${file}`);
  refuseExisting(database);
  refuseOtherPepper(database, pepper);
  const part = copyOf(file, database);
  try {
    await proveRestored({ database: part, pepper, ...opening }, basename(file));
  } catch (error) {
    remove(part);
    throw error instanceof NotReady ? new NotReady(error.message.replaceAll(part, file)) : error;
  }
  writePepper(database, pepper);
  place(part, database);
}

async function proveRestored(opening: Omit<RestoreOptions, "file">, from: string): Promise<void> {
  await migrateDatabase(opening);
  const controller = await openController(opening);
  try {
    const verdict: LogVerdict = await verifyAudit(controller);
    if (verdict.verdict === "broken") throw new BackupBroken(verdict.why);
    const { seq } = verdict.head;
    await writeAs(controller, hostActor(), controller.clock(), async ({ record }) =>
      record({ code: "database.restored", after: { from, rows: seq } }),
    );
  } finally {
    await controller.database.close();
  }
}

/** Brings a database to this version's form. @returns the steps that ran */
export async function migrateDatabase({
  database: where,
  log,
}: Pick<RestoreOptions, "database" | "log">): Promise<string[]> {
  const isPostgres = /^postgres(ql)?:\/\//.test(where);
  if (!isPostgres && !existsSync(where)) throw new NotReady(`There is no database ${where}`);
  const database = isPostgres ? await openPostgres(where, ({ message }) => log(message)) : openSqlite(where);
  try {
    const tables = await database.read.introspection.getTables();
    if (!tables.some(({ name }) => name === "meta"))
      throw new NotReady(`${where} is no controller's database`);
    return await migrate(database.read as never, database.kind);
  } finally {
    await database.close();
  }
}

function refuseExisting(file: string): void {
  if (existsSync(file)) throw new FileExists(`${file} is there already`);
}

function refuseOtherPepper(database: string, pepper: string): void {
  const beside = pepperBeside(database);
  if (beside === undefined || beside === pepper) return;
  throw new FileExists(`${pepperFile(database)} holds another pepper`);
}

/** A copy beside where it will be, as of one moment: SQLite reads in one transaction whatever is written meanwhile. */
function copyOf(from: string, to: string): string {
  removeAbandoned(to);
  const part = `${to}.${process.pid}.part`;
  closeSync(openSync(part, "wx", 0o600));
  const database = new DatabaseSync(from, { timeout: 10_000 });
  try {
    database.prepare("vacuum into ?").run(part);
  } catch (error) {
    remove(part);
    throw error;
  } finally {
    database.close();
  }
  syncToDisk(part);
  return part;
}

/** What killed runs left. */
function removeAbandoned(to: string): void {
  const folder = dirname(to);
  for (const name of readdirSync(folder)) {
    if (name.startsWith(`${basename(to)}.`) && /\.\d+\.part$/.test(name)) remove(join(folder, name));
  }
}

/** Gives it its name; a link, because that never takes another file's place. */
function place(part: string, file: string): void {
  try {
    linkSync(part, file);
  } finally {
    remove(part);
  }
  syncToDisk(dirname(file));
}

function remove(part: string): void {
  for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(`${part}${suffix}`, { force: true });
}

/** Before the database: one without its pepper would be of no use. */
function writePepper(database: string, pepper: string): void {
  const file = pepperFile(database);
  if (existsSync(file)) return;
  const part = `${file}.${process.pid}.part`;
  writeFileSync(part, `${pepper}\n`, { mode: 0o600, flag: "wx", flush: true });
  place(part, file);
}

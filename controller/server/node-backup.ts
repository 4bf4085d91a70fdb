import { closeSync, existsSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { renameToFree, syncToDisk } from "../../shared/disk.ts";
import { failure } from "../../shared/errors.ts";
import { writeAs } from "./call.ts";
import { isPostgres, NotReady, type OpenOptions, openController, pepperFile } from "./node.ts";
import { hostActor, verifyAudit } from "./node-host.ts";
import { migrate, missingSteps } from "./store/migrations.ts";
import { openPostgres } from "./store/postgres.ts";
import { openSqlite } from "./store/sqlite.ts";

/**
 * Writes a complete, consistent copy or nothing.
 * @param database path of the SQLite file; a server may be writing to it
 * @param pepper hexadecimal; undefined: the backup contains none
 * @throws RelcatError if the file exists
 */
export function backUp(database: string, file: string, pepper: string | undefined): void {
  refuseExisting(file);
  if (pepper !== undefined) refuseOtherPepper(file, pepper);
  const part = copyOf(database, file);
  if (pepper !== undefined) writePepper(file, pepper);
  place(part, file);
}

export const pepperBeside = (database: string): string | undefined =>
  existsSync(pepperFile(database)) ? readFileSync(pepperFile(database), "utf8").trim() : undefined;

type RestoreOptions = OpenOptions & { file: string; pepper: string };

/**
 * Verifies the backup's audit log, and records the restore in it.
 * @throws RelcatError for a file that exists and for a changed log; NotReady
 */
export async function restore({ file, database, pepper, ...opening }: RestoreOptions): Promise<void> {
  if (!existsSync(file)) throw new NotReady(`There is no backup ${file}`);
  refuseExisting(database);
  refuseOtherPepper(database, pepper);
  const part = copyOf(file, database);
  try {
    await proveRestored({ database: part, pepper, ...opening }, file);
  } catch (error) {
    remove(part);
    throw error instanceof NotReady ? new NotReady(error.message.replaceAll(part, file)) : error;
  }
  writePepper(database, pepper);
  place(part, database);
}

async function proveRestored(opening: OpenOptions, file: string): Promise<void> {
  await migrateDatabase(opening);
  const controller = await openController(opening);
  try {
    const verdict = await verifyAudit(controller);
    if (verdict.verdict === "broken")
      throw failure(
        "audit-broken",
        `${file} was changed outside the controller: ${verdict.why}`,
        "Restore another backup; nothing was written.",
      );
    const after = { from: basename(file), rows: verdict.head.seq };
    await writeAs(controller, hostActor(), controller.clock(), async ({ record }) =>
      record({ code: "database.restored", after }),
    );
  } finally {
    await controller.database.close();
  }
}

/** Migrates a database to the current schema. @returns the steps that ran */
export async function migrateDatabase({
  database: where,
  log,
}: Pick<OpenOptions, "database" | "log">): Promise<string[]> {
  if (!isPostgres(where) && !existsSync(where)) throw new NotReady(`There is no database ${where}`);
  const database = isPostgres(where)
    ? await openPostgres(where, ({ message }) => log(message))
    : openSqlite(where);
  try {
    if (!(await missingSteps(database.read as never, database.kind)))
      throw new NotReady(`${where} is not the database of a controller`);
    return await migrate(database.read as never, database.kind);
  } finally {
    await database.close();
  }
}

function refuseExisting(file: string): void {
  if (existsSync(file)) throw fileExists(`${file} already exists`);
}

const fileExists = (what: string) =>
  failure("file-exists", `${what}; nothing was written`, "Give another name, or move it away.");

function refuseOtherPepper(database: string, pepper: string): void {
  const ownPepper = pepperBeside(database);
  if (ownPepper === undefined || ownPepper === pepper) return;
  throw fileExists(`${pepperFile(database)} contains a different pepper`);
}

/** A consistent copy next to its final path: SQLite's backup reads in one transaction, even during writes. */
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

/** Removes temporary files of killed runs. */
function removeAbandoned(to: string): void {
  const folder = dirname(to);
  for (const name of readdirSync(folder))
    if (name.startsWith(`${basename(to)}.`) && /\.\d+\.part$/.test(name)) remove(join(folder, name));
}

function place(part: string, file: string): void {
  try {
    renameToFree(part, file);
  } finally {
    remove(part);
  }
  syncToDisk(dirname(file));
}

function remove(part: string): void {
  for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(`${part}${suffix}`, { force: true });
}

/** Written before the database, which would be useless without its pepper. */
function writePepper(database: string, pepper: string): void {
  const file = pepperFile(database);
  if (existsSync(file)) return;
  const part = `${file}.${process.pid}.part`;
  writeFileSync(part, `${pepper}\n`, { mode: 0o600, flag: "wx", flush: true });
  place(part, file);
}

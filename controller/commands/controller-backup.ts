import { answer, type Host, say, sayNext } from "../../cli/terminal/host.ts";
import { UsageError } from "../../cli/terminal/usage.ts";
import { listed, shellWord } from "../../cli/terminal/words.ts";
import { failure } from "../../shared/errors.ts";
import { isPostgres, pepperFile, settings } from "../server/node.ts";
import { backUp, migrateDatabase, pepperBeside, restore } from "../server/node-backup.ts";
import { explained, open, shownDatabase } from "./controller-open.ts";

/** `relcat controller backup`: a consistent copy, even while the server runs. */
export async function backUpController(
  file: string,
  { database, withPepper }: { database: string; withPepper?: true },
  host: Host,
): Promise<void> {
  refusePostgres(
    database,
    `pg_dump --format=custom --file=${shellWord(file)} ${shellWord(shownDatabase(database))}`,
  );
  // Opened like in other commands, so that an unusable database is not backed up unnoticed; before `migrate` too.
  const controller = await open(database, host, { outdated: true });
  await controller.database.close();
  const pepper = withPepper ? Buffer.from(controller.pepper).toString("hex") : undefined;
  await explained(file, () => backUp(database, file, pepper));
  answer<"controller-backup">(
    host,
    { file, pepper: pepper === undefined ? null : pepperFile(file) },
    () => `Wrote ${file}.`,
  );
  say(
    host,
    pepper === undefined
      ? "The backup does not contain the pepper. Keep the pepper in another place: without it the backup is useless."
      : `The pepper is in ${pepperFile(file)}: anyone who has both can do what the controller can.`,
  );
  sayNext(host, `relcat controller restore ${shellWord(file)} --database NEW.db, to restore it`);
}

export async function restoreController(
  file: string,
  { database }: { database: string },
  host: Host,
): Promise<void> {
  refusePostgres(database, `pg_restore --dbname=${shellWord(shownDatabase(database))} ${shellWord(file)}`);
  const pepper = host.environment.RELCAT_PEPPER || pepperBeside(file) || pepperBeside(database);
  if (!pepper)
    throw failure(
      "controller-database",
      `the pepper of ${file} is missing`,
      `Put it into ${pepperFile(file)}, or set RELCAT_PEPPER.`,
    );
  const log = (message: string) => say(host, message);
  await explained(file, () => restore({ file, database, pepper, settings, clock: Date.now, log }));
  answer<"controller-restore">(
    host,
    { database, file },
    () => `Restored ${file} as ${database}; its audit log is intact.`,
  );
  say(
    host,
    "Changes after the backup are lost: keys that were revoked and devices that were rejected since then have their earlier state.",
  );
  sayNext(host, `relcat controller serve --database ${shellWord(database)}`);
}

function refusePostgres(database: string, line: string): void {
  if (!isPostgres(database)) return;
  throw new UsageError("PostgreSQL has its own tools for this", `Run ${line}; RELCAT_PEPPER is kept apart.`);
}

export async function migrateController({ database }: { database: string }, host: Host): Promise<void> {
  const steps = await explained(database, () =>
    migrateDatabase({ database, log: (message) => say(host, message) }),
  );
  answer<"controller-migrate">(host, { steps }, () =>
    steps.length === 0 ? "The database already has the schema of this version." : `Done: ${listed(steps)}.`,
  );
}

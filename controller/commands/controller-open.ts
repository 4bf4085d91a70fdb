import { existsSync } from "node:fs";
import { answer, type Host, say, sayNext } from "../../cli/terminal/host.ts";
import { UsageError } from "../../cli/terminal/usage.ts";
import { shellWord } from "../../cli/terminal/words.ts";
import { failure, RelcatError } from "../../shared/errors.ts";
import { sqliteReason } from "../../shared/sqlite-reasons.ts";
import type { OpenOptions } from "../server/node.ts";
import { isPostgres, NotReady, openController, pepperFile, settings as usual } from "../server/node.ts";
import { addFirstOwner, userFaults } from "../server/node-host.ts";
import { newPassword } from "./prompts.ts";

type Opened = Awaited<ReturnType<typeof openController>>;

/** Address of a database without its password, for messages. */
export const shownDatabase = (database: string): string =>
  database.replace(/^(\w+:\/\/[^:/@]*):.*@/, "$1:***@").replace(/([?&]password=)[^&]*/g, "$1***");

export async function withController<T>(
  database: string,
  host: Host,
  work: (controller: Opened) => Promise<T>,
  options: Partial<OpenOptions> = {},
): Promise<T> {
  const controller = await open(database, host, options);
  try {
    return await explained(database, () => work(controller));
  } finally {
    await controller.database.close();
  }
}

export const open = (database: string, host: Host, options: Partial<OpenOptions> = {}): Promise<Opened> =>
  explained(database, () =>
    openController({
      database,
      pepper: host.environment.RELCAT_PEPPER || undefined,
      settings: usual,
      clock: Date.now,
      log: (message) => host.messages.write(`${message}\n`),
      ...options,
    }),
  );

/** @throws RelcatError for an unusable database, with a hint */
export async function explained<T>(database: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw explainDatabase(error, database);
  }
}

/** Turns a database error into a problem with its location; other errors stay as they are. */
function explainDatabase(error: unknown, database: string): unknown {
  if (!(error instanceof Error) || error instanceof RelcatError) return error;
  const { code = "", path, message: text } = error as NodeJS.ErrnoException;
  const shown = shownDatabase(database);
  const usualHint = isPostgres(database)
    ? "The database must exist, and its role needs the right to create tables. PGPASSWORD can contain the password."
    : "--database takes the file that relcat controller init created, or postgres://…";
  const unusable = (reason: string, hint = "") =>
    failure("controller-database", reason, hint ? sentenceOf(hint) : usualHint, undefined, error);
  if (error instanceof NotReady || error.name === "MigrationFailed") {
    const [message = "", ...hints] = text
      .replaceAll(`--database ${database}`, `--database ${shellWord(shown)}`)
      .replaceAll(database, shown)
      .split(/: (?=relcat |put |export |use |create )/);
    return unusable(sentence(message), hints.join(": "));
  }
  if (code === "ERR_SQLITE_ERROR") return unusable(`${shown} cannot be used: ${sqliteReason(error) ?? text}`);
  // The file of a certificate has a path. A bug has another class, and no code.
  if (!isPostgres(database) || path !== undefined || (code === "" && error.constructor !== Error))
    return error;
  const isLost =
    /^(ECONNRESET|EPIPE)$/.test(code) ||
    /^(Connection terminated|Query read timeout|timeout ex(?:pired|ceeded))/.test(text);
  // Read-only, out of resources, or stopped: nothing is wrong with the address or the role.
  const hint = /^(25|5[357])/.test(code) ? "PostgreSQL's log has the details." : "";
  // PostgreSQL's own codes have digits.
  if (!isLost && !/^E[A-Z]+$/.test(code)) return unusable(`${shown} cannot be used: ${text}`, hint);
  const reason = isLost ? `the connection to ${shown} was lost` : `cannot reach ${shown} (${code})`;
  return failure("network", reason, "Is the database server running?", undefined, error);
}

/** Keeps upper-case names of variables. */
const sentence = (text: string) => text.replace(/^[A-Z](?=[a-z ])/, (first) => first.toLowerCase());
const sentenceOf = (hint: string) =>
  hint.startsWith("relcat ")
    ? `Run ${hint}`
    : hint.replace(/^(?!export )[a-z]/, (first) => first.toUpperCase());

export async function initController(
  { database, email }: { database: string; email: string },
  host: Host,
): Promise<void> {
  const password = await newPassword(host);
  const [fault] = userFaults(email, password);
  if (fault !== undefined)
    throw new UsageError(
      `the first Owner cannot be created: ${fault}`,
      "Give --email, and a password of 12 characters or more.",
    );
  const isNew = await withController(
    database,
    host,
    (controller) => addFirstOwner(controller, email, password),
    { create: true },
  );
  const shown = shownDatabase(database);
  if (!isNew) {
    throw failure(
      "controller-exists",
      `${shown} already has its first Owner; nothing was changed`,
      `relcat controller users add --database ${shellWord(shown)} adds more users.`,
    );
  }
  answer<"controller-init">(
    host,
    { database: shown, email, role: "Owner" },
    () => `Created a controller in ${shown}; its Owner is ${email}.`,
  );
  const pepper = pepperFile(database);
  if (existsSync(pepper)) say(host, `Keep ${pepper} too: without it no key or password can be checked.`);
  sayNext(host, `relcat controller serve --database ${shellWord(shown)}`);
}

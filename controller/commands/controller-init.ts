import { existsSync } from "node:fs";
import { answer, type Host, say, sayNext } from "../../cli/terminal/host.ts";
import { newPassword } from "../../cli/terminal/prompts.ts";
import { UsageError } from "../../cli/terminal/usage.ts";
import { shellWord } from "../../cli/terminal/words.ts";
import { exitStatus } from "../../shared/errors.ts";
import { pepperFile } from "../server/node.ts";
import { addFirstOwner, userFaults } from "../server/node-host.ts";
import { refusal, shownDatabase, withController } from "./controller-open.ts";

/** `relcat controller init`: creates a database, its pepper and the first Owner. */
export async function initController(
  { database, email }: { database: string; email: string },
  host: Host,
): Promise<number> {
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
    {
      create: true,
    },
  );
  const shown = shownDatabase(database);
  if (!isNew) {
    throw refusal(
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
  return exitStatus.done;
}

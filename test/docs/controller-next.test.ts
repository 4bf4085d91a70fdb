/** @module-tag long */
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { afterFile } from "../support/after-file.ts";
import {
  folderFor,
  type MadeController,
  ownerEmail,
  ownerPassword,
  startRelcat,
} from "../support/controller.ts";

const nextOf = (stderr: string): string => /^Next: (.*)$/m.exec(stderr)?.[1] ?? "";

/** The arguments of the relcat command with this beginning in a line. */
function commandIn(line: string, beginning: string): string[] {
  const [command = ""] = line.slice(line.indexOf(beginning)).split(", ");
  expect(command.startsWith(beginning), line).toBe(true);
  return command.split(" ").slice(1);
}

/** Runs the server that a line names, on a free port. @returns its own line */
async function serve({ folder, env }: MadeController, line: string): Promise<string> {
  const server = startRelcat(folder, env, [...commandIn(line, "relcat controller serve"), "--port", "0"]);
  afterFile(() => {
    server.kill("SIGTERM");
    return server;
  });
  for await (const said of createInterface(server.stderr)) if (nextOf(said) !== "") return nextOf(said);
  throw new Error("the server says nothing");
}

const addressIn = (line: string): string => /--url (\S+)$/.exec(line)?.[1] ?? "";

/** The guide's own server goes on while its blocks run, so these lines are pasted one after the other, not in copies. */
test("each Next line of the controller's commands works when it is pasted", async () => {
  const made = folderFor();
  const paste = async (line: string, beginning: string, input?: string) =>
    nextOf((await made.succeed(commandIn(line, beginning), input)).stderr);
  const words = ["controller", "init", "--database", "controller.db", "--email", ownerEmail];
  const init = nextOf((await made.succeed(words, `${ownerPassword}\n`)).stderr);
  const served = await serve(made, init);
  const url = addressIn(served);
  expect(served).toBe(`open ${url}/ in a browser, or relcat login --url ${url}`);
  expect((await fetch(`${url}/`)).status).toBe(200);

  const login = await paste(served, "relcat login", `${ownerEmail}\n${ownerPassword}\n`);
  await paste(login, "relcat devices list");
  await paste(login, "relcat controller keys create");
  const enroll = ["devices", "enroll", "--url", url, "--name", "laptop-7", "--key-file", "laptop-7.pem"];
  await paste(nextOf((await made.succeed(enroll)).stderr), "relcat devices accept");
  expect((await made.succeed(enroll)).stdout).toMatch(/ is accepted\.$/);

  const backup = ["controller", "backup", "backup.db", "--database", "controller.db", "--with-pepper"];
  const saved = nextOf((await made.succeed(backup)).stderr);
  const restored = await serve(made, await paste(saved, "relcat controller restore"));
  expect((await fetch(`${addressIn(restored)}/-net/api/v0/ok`)).status).toBe(200);

  const verified = await made.succeed(["controller", "audit", "verify", "--database", "controller.db"]);
  const [option = ""] = /--head(?= LINE)/.exec(nextOf(verified.stderr)) ?? [];
  const [head = ""] = verified.stdout.split("\n").slice(-1);
  await made.succeed(["controller", "audit", "verify", "--database", "controller.db", option, head]);
});

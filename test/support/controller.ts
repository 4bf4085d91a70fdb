import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { execa } from "execa";
import { caller, enrollBody, newPair } from "../controller/support.ts";
import { afterFile } from "./after-file.ts";
import { program, relcat, temporaryFolder } from "./run.ts";

export const ownerPassword = "correct horse battery staple";
export const ownerEmail = "owner@example.com";

type Env = Record<string, string | undefined>;

/** Starts a command that runs until it is stopped. */
export const startRelcat = (folder: string, env: Env, args: readonly string[]) =>
  execa(process.execPath, [program, ...args], { cwd: folder, env, reject: false });
export type Running = ReturnType<typeof startRelcat>;

/** A controller in a new folder, made with the users' commands. */
export interface MadeController {
  folder: string;
  env: Env;
  /** Runs a command there; `input` is the user's input. */
  run(args: readonly string[], input?: string, env?: Env): ReturnType<typeof relcat>;
  /** Like `run`, for commands that must succeed. */
  succeed(args: readonly string[], input?: string, env?: Env): ReturnType<typeof relcat>;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into documents of all kinds
  json(args: readonly string[], input?: string, env?: Env): Promise<any>;
}

export interface ServedController extends MadeController {
  url: string;
  server: Running;
  /** Ends the server, as `kill` does. */
  stop(signal?: "SIGTERM" | "SIGKILL"): Promise<unknown>;
  /** Serves the same database again, at the same address. */
  again(): Promise<void>;
  /** Enrols a device. @returns its id */
  enroll(fields: Partial<DeviceWords>): Promise<string>;
}

interface DeviceWords {
  name: string;
  serial: string;
}

/** Empty strings hide variables of the test run's environment. */
const nothing = {
  RELCAT_API_KEY_ID: "",
  RELCAT_API_KEY: "",
  RELCAT_CONTROLLER_URL: "",
  RELCAT_PEPPER: "",
};

export function folderFor(more: Env = {}): MadeController {
  const folder = temporaryFolder();
  const env: Env = { ...nothing, XDG_STATE_HOME: join(folder, "state"), ...more };
  const run: MadeController["run"] = (args, input = "", own = {}) =>
    relcat(folder, args, { input, env: { ...env, ...own } });
  const succeed: MadeController["succeed"] = async (args, input, own) => {
    const result = await run(args, input, own);
    if (result.exitCode !== 0)
      throw new Error(`relcat ${args.join(" ")}: ${result.exitCode}\n${result.stderr}`);
    return result;
  };
  const json: MadeController["json"] = async (args, input, own) =>
    JSON.parse((await succeed([...args, "--json"], input, own)).stdout);
  return { folder, env, run, succeed, json };
}

/** controller.db with an Owner, not served. */
export async function madeController(): Promise<MadeController> {
  const made = folderFor();
  await made.succeed(
    ["controller", "init", "--database", "controller.db", "--email", ownerEmail],
    `${ownerPassword}\n`,
  );
  return made;
}

const unlimited = ["--limit-key", "0", "--limit-address", "0", "--limit-enrol", "0", "--limit-login", "0"];

/** Served, with an API key in the environment of its commands. */
export async function servedController(
  options: readonly string[] = unlimited,
  scopes: readonly string[] = ["devices:read", "devices:state", "devices:write", "users:read", "audit:read"],
): Promise<ServedController> {
  const made = await madeController();
  const words = scopes.flatMap((scope) => ["--scope", scope]);
  const key = await made.json(["controller", "keys", "create", "--database", "controller.db", ...words]);
  let server = start(made, ["--port", "0", ...options]);
  const url = await addressOf(server);
  Object.assign(made.env, {
    RELCAT_CONTROLLER_URL: url,
    RELCAT_API_KEY_ID: key.id,
    RELCAT_API_KEY: key.key,
  });
  const call = caller(`${url}/-net/api/v0`);
  return {
    ...made,
    url,
    server,
    async stop(signal = "SIGTERM") {
      server.kill(signal);
      return server;
    },
    async again() {
      server = start(made, ["--port", new URL(url).port, ...options]);
      await addressOf(server);
    },
    async enroll(fields) {
      const { json } = await call("GET", "/device/enroll");
      const body = enrollBody(json.nonce, { name: `device ${randomUUID()}`, ...fields }, newPair());
      return (await call("POST", "/device/enroll", { body })).json.id;
    },
  };
}

function start({ folder, env }: MadeController, options: readonly string[]): Running {
  const args = ["controller", "serve", "--database", "controller.db", "--json", ...options];
  const server = startRelcat(folder, env, args);
  afterFile(() => {
    server.kill("SIGKILL");
    return server;
  });
  return server;
}

/** Address that a server prints. */
export const addressOf = (server: Running): Promise<string> =>
  new Promise((resolve, reject) => {
    server.stdout?.once("data", (line) => resolve(JSON.parse(String(line).split("\n")[0] ?? "").url));
    void server.then(({ stderr }) => reject(new Error(String(stderr))));
  });

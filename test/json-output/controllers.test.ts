/** @module-tag long */
import { beforeAll, describe, expect, test } from "vitest";
import {
  folderFor,
  madeController,
  ownerEmail,
  ownerPassword,
  type Running,
  type ServedController,
  servedController,
  startRelcat,
} from "../support/controller.ts";
import { groups } from "./groups.ts";
import { Printed } from "./printed.ts";

const printed = new Printed();
type Name = Parameters<Printed["as"]>[0];

let served: ServedController;
let ids: string[];
beforeAll(async () => {
  served = await servedController();
  ids = [];
  for (const number of [1, 2, 3, 4])
    ids.push(await served.enroll({ name: `laptop-${number}`, serial: `SN-100${number}` }));
});

/** Runs a command with --json on the served controller. */
const shows = async (name: Name, args: readonly string[], input?: string) =>
  printed.as(name, (await served.run([...args, "--json"], input)).stdout);

const onFile = ["--database", "controller.db"];

describe("devices", () => {
  test("list, show, history and changes", async () => {
    expect((await shows("devices-list", ["devices", "list"])).devices).toHaveLength(4);
    expect((await shows("devices-list", ["devices", "list", "--state", "rejected"])).devices).toEqual([]);
    await shows("devices-show", ["devices", "show", "laptop-1"]);
    await shows("devices-show", ["devices", "rename", "laptop-1", "laptop-one"]);
    await shows("devices-show", ["devices", "assign", "laptop-one", "--user", ownerEmail]);
    expect((await shows("devices-state", ["devices", "accept", "laptop-2", "--dry-run"])).dry_run).toBe(true);
    await shows("devices-state", ["devices", "accept", "laptop-2"]);
    expect((await shows("devices-state", ["devices", "reject", "laptop-3"])).changed).toHaveLength(1);
    expect((await shows("devices-history", ["devices", "history", "laptop-2"])).audit_log).toHaveLength(2);
    expect((await shows("devices-delete", ["devices", "delete", "laptop-3", "--yes"])).deleted).toEqual([
      ids[2],
    ]);
    await shows("problems", ["devices", "show", "nothing"]);
  });

  test("accept --serials, export and import", async () => {
    const list = "SN-1004\nSN-9000\nTo be filled by O.E.M.\n";
    const accept = ["devices", "accept", "--serials", "-"];
    const left = await shows("devices-serials", accept, list);
    expect([left.unknown, left.placeholders.length]).toEqual([["SN-9000"], 1]);
    await shows("devices-serials", [...accept, "--preapprove"], list);
    const { stdout } = await served.succeed(["devices", "export", "--json"]);
    const lines = stdout.split("\n");
    expect(lines.some((line) => line.includes("enforce_state"))).toBe(true);
    printed.lines("devices-export", lines);
    expect((await shows("devices-import", ["devices", "import", "-", "--dry-run"], stdout)).dry_run).toBe(
      true,
    );
    await shows("devices-import", ["devices", "import", "-", "--yes"], stdout);
  });

  test("enroll, before and after the device is accepted", async () => {
    const enroll = ["devices", "enroll", "--key-file", "device.pem", "--name", "agent"];
    const { id, token_file } = await shows("devices-enroll", enroll);
    expect(token_file).toBeNull();
    await served.succeed(["devices", "accept", id]);
    expect((await shows("devices-enroll", enroll)).token_file).toBe("device.pem.token");
    await served.succeed(["devices", "reject", id]);
    await shows("problems", enroll);
  });

  test("watch prints one event per line", async () => {
    const watch = ["devices", "watch", "--after", "0", "--count", "3", "--json"];
    printed.lines("devices-watch", (await served.succeed(watch)).stdout.split("\n"));
  });
});

describe("sessions, keys and users", () => {
  test("login and logout", async () => {
    const home = folderFor();
    const json = async (name: Name, args: string[], input?: string) =>
      printed.as(name, (await home.run([...args, "--url", served.url, "--json"], input)).stdout);
    await json("login", ["login", "--email", ownerEmail], `${ownerPassword}\n`);
    await json("problems", ["login", "--email", ownerEmail], "not the password\n");
    await json("logout", ["logout"]);
    await json("problems", ["logout"]);
  });

  test("keys", async () => {
    const keys = (...words: string[]) => ["controller", "keys", ...words, ...onFile];
    await shows("controller-new-key", keys("create", "--name", "fleet", "--days", "30"));
    await shows("controller-new-key", keys("rotate", "fleet"));
    expect((await shows("controller-key", keys("disable", "fleet"))).disabled).toBe(true);
    await shows("controller-key", keys("enable", "fleet"));
    expect((await shows("controller-keys-list", keys("list"))).api_keys).toHaveLength(2);
    await shows("controller-keys-revoke", keys("revoke", "fleet"));
    await shows("problems", keys("revoke", "nothing"));
  });

  test("users", async () => {
    const users = (...words: string[]) => ["controller", "users", ...words, ...onFile];
    const password = "a long enough password\n";
    await shows("controller-user", users("add", "ann@example.com", "--name", "Ann"), password);
    await shows("controller-user", users("role", "ann@example.com", "LimitedAdministrator"));
    await shows("controller-users-passwd", users("passwd", "ann@example.com"), password);
    expect((await shows("controller-user", users("disable", "ann@example.com"))).user.status).toBe(
      "Disabled",
    );
    await shows("controller-user", users("enable", "ann@example.com"));
    expect((await shows("controller-users-list", users("list"))).users).toHaveLength(2);
    await shows("problems", users("disable", ownerEmail));
  });

  test("the audit log", async () => {
    expect(
      (await shows("controller-audit-show", ["controller", "audit", "show", ...onFile])).audit_log.length,
    ).toBeGreaterThan(5);
    await shows("controller-audit-show", ["controller", "audit", "show", "--code", "none.such", ...onFile]);
    await shows("controller-audit-verify", ["controller", "audit", "verify", ...onFile]);
  });
});

test("init, backup, restore and migrate", async () => {
  const home = folderFor();
  const init = ["controller", "init", ...onFile, "--email", ownerEmail, "--json"];
  printed.as("controller-init", (await home.run(init, `${ownerPassword}\n`)).stdout);
  printed.as("problems", (await home.run(init, `${ownerPassword}\n`)).stdout);
  const made = await madeController();
  const json = async (name: Name, ...args: string[]) =>
    printed.as(name, (await made.run(["controller", ...args, "--json"])).stdout);
  expect((await json("controller-backup", "backup", "a.db", ...onFile)).pepper).toBeNull();
  await json("controller-backup", "backup", "b.db", ...onFile, "--with-pepper");
  await json("controller-restore", "restore", "b.db", "--database", "new.db");
  expect((await json("controller-migrate", "migrate", "--database", "new.db")).steps).toEqual([]);
  await json("problems", "restore", "b.db", "--database", "new.db");
});

/** The first line that a server prints. */
const firstLine = (server: Running): Promise<string> =>
  new Promise((resolve, reject) => {
    server.stdout?.once("data", (chunk) => resolve(String(chunk).split("\n")[0] ?? ""));
    void server.then(({ stderr }) => reject(new Error(String(stderr))));
  });

test("the server prints a line with its address when it is ready", async () => {
  const { folder, env } = await madeController();
  const server = startRelcat(folder, env, ["controller", "serve", ...onFile, "--port", "0", "--json"]);
  printed.as("listening", await firstLine(server));
  server.kill("SIGINT");
  await server;
});

test("this file prints every output of its group", () => {
  const others = ["problems"];
  expect(printed.names.filter((name) => !others.includes(name))).toEqual(
    [...groups["controllers.test.ts"]].sort(),
  );
});

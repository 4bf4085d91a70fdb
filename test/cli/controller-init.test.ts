import { once } from "node:events";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import { folderFor, madeController, ownerEmail, ownerPassword } from "../support/controller.ts";
import { program } from "../support/run.ts";

const init = ["controller", "init", "--database", "controller.db", "--email", ownerEmail];

test("makes a database and a pepper that only the owner can read, and prints the next command", async () => {
  const { run, folder } = folderFor();
  const { stdout, stderr, exitCode } = await run(init, `${ownerPassword}\n`);
  expect({ stdout, stderr, exitCode }).toEqual({
    stdout: "Created a controller in controller.db; its Owner is owner@example.com.",
    stderr: [
      "Keep controller.db.pepper too: without it no key or password can be checked.",
      "Next: relcat controller serve --database controller.db",
    ].join("\n"),
    exitCode: 0,
  });
  for (const file of readdirSync(folder))
    if (file.startsWith("controller.db"))
      expect([file, statSync(join(folder, file)).mode & 0o777]).toEqual([file, 0o600]);
  expect(readFileSync(join(folder, "controller.db.pepper"), "utf8")).toMatch(/^[0-9a-f]{64}\n$/);
  expect(readFileSync(join(folder, "controller.db"), "latin1")).not.toContain(ownerPassword);
});

test("a second init is refused, and leaves the Owner unchanged", async () => {
  const { run, json } = await madeController();
  const { stderr, exitCode } = await run([...init.slice(0, -1), "other@example.com"], "another password\n");
  expect({ stderr, exitCode }).toEqual({
    stderr: [
      "error[controller-exists] controller.db already has its first Owner; nothing was changed",
      "  hint: relcat controller users add --database controller.db adds more users.",
    ].join("\n"),
    exitCode: 2,
  });
  const { users } = await json(["controller", "users", "list", "--database", "controller.db"]);
  expect(users.map((user: { email: string; role: string }) => [user.email, user.role])).toEqual([
    [ownerEmail, "Owner"],
  ]);
});

test.each([
  [
    init,
    "short\n",
    "usage] the password has 5 characters, expected at least 12",
    "Length matters most: use a few unrelated words.",
  ],
  [
    init,
    "",
    "usage] there is no password on standard input",
    "Type it on a terminal, or send it as a line of standard input.",
  ],
  [
    [...init.slice(0, -1), "nobody"],
    `${ownerPassword}\n`,
    "usage] the first Owner cannot be created: email: Invalid email address",
    "Give --email, and a password of 12 characters or more.",
  ],
  [
    ["controller", "init", "--email", ownerEmail],
    "",
    "usage] the option --database <place> is missing",
    "relcat controller init --help shows how it is used.",
  ],
  [
    ["controller", "init", "--email", ownerEmail, "--database", "nowhere/controller.db"],
    `${ownerPassword}\n`,
    "file-access] cannot read nowhere/controller.db.pepper: there is no such file",
    "Check the path.",
  ],
  [
    ["controller", "init", "--email", ownerEmail, "--database", "postgres://me:secret@127.0.0.1:1/x"],
    `${ownerPassword}\n`,
    "controller-database] RELCAT_PEPPER is not set",
    "export RELCAT_PEPPER=$(openssl rand -hex 32), and keep it",
  ],
])("relcat %j with %j on standard input makes nothing", async (args, input, message, hint) => {
  const { run, folder } = folderFor();
  const { stdout, stderr, exitCode } = await run(args, input);
  expect({ stdout, stderr, exitCode }).toEqual({
    stdout: "",
    stderr: `error[${message}\n  hint: ${hint}`,
    exitCode: 2,
  });
  expect(readdirSync(folder)).toEqual([]);
});

test("on a terminal init asks for the password twice, and does not show it", async () => {
  const { folder, env, json } = folderFor();
  const typed = async (...lines: string[]) => {
    const command = [process.execPath, program, ...init].join(" ");
    const terminal = execa("script", ["-qec", command, "/dev/null"], {
      cwd: folder,
      env: { ...env, CI: "" },
      reject: false,
      all: true,
    });
    let shown = "";
    let asked = 0;
    terminal.stdout?.on("data", (chunk) => {
      shown += String(chunk);
      const questions = shown.split("Password").length - 1;
      for (; asked < questions; asked++) terminal.stdin?.write(`${lines[asked]}\r`);
    });
    return { ...(await terminal), shown };
  };
  const differing = await typed(ownerPassword, "something else");
  expect(differing.shown).toContain("error[usage] the two passwords differ");
  expect(differing.shown).toContain("hint: Type the same one twice.");
  const backspaced = `${ownerPassword}xy\u007f\u007f`;
  const { shown, exitCode } = await typed(backspaced, ownerPassword);
  expect(shown).toMatch(/^Password: \r\nPassword again: \r\nCreated a controller/);
  expect([exitCode, shown.includes("battery")]).toEqual([0, false]);
  expect((await json(["controller", "users", "list", "--database", "controller.db"])).users.length).toBe(1);
});

test("Ctrl-C at the password prompt ends init, and nothing is made", async () => {
  const { folder, env } = folderFor();
  const command = [process.execPath, program, ...init].join(" ");
  const terminal = execa("script", ["-qec", command, "/dev/null"], { cwd: folder, env, reject: false });
  terminal.stdout?.once("data", () => terminal.stdin?.write("abc\u0003"));
  expect((await terminal).exitCode).toBe(130);
  expect(readdirSync(folder)).toEqual([]);
});

const list = ["controller", "keys", "list", "--database", "controller.db"];

test("an unusable database is named, with a hint", async () => {
  const made = await madeController();
  const { folder, run } = made;
  const said = async (args: readonly string[], env = {}) => {
    const { stdout, stderr, exitCode } = await run(args, "", env);
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
    return stderr.split("\n");
  };
  const usual = "  hint: --database takes the file that relcat controller init created, or postgres://…";
  expect(await said([...list.slice(0, -1), "other.db"])).toEqual([
    "error[controller-database] there is no database other.db",
    "  hint: Create one with relcat controller init --database other.db",
  ]);
  expect((await said([...list.slice(0, -1), "my fleet.db"]))[1]).toBe(
    "  hint: Create one with relcat controller init --database 'my fleet.db'",
  );
  expect(await said(list, { RELCAT_PEPPER: "ab".repeat(32) })).toEqual([
    "error[controller-database] the pepper is not the one that this database was created with",
    usual,
  ]);
  expect(await said(list, { RELCAT_PEPPER: "xyz" })).toEqual([
    "error[controller-database] RELCAT_PEPPER is not 32 bytes in hexadecimal",
    usual,
  ]);
  writeFileSync(join(folder, "text.db"), "no database at all\n".repeat(100));
  writeFileSync(join(folder, "text.db.pepper"), "ab".repeat(32));
  expect(await said([...list.slice(0, -1), "text.db"])).toEqual([
    "error[controller-database] text.db cannot be used: it is a file of another program",
    usual,
  ]);
  writeFileSync(join(folder, "lost.db"), "");
  expect(await said([...list.slice(0, -1), "lost.db"])).toEqual([
    "error[controller-database] the pepper is missing",
    "  hint: Put lost.db.pepper back, or set RELCAT_PEPPER",
  ]);
});

test.each([
  ["postgres://me:secret@127.0.0.1:1/x", "postgres://me:***@127.0.0.1:1/x"],
  ["postgres://me:s@cret@127.0.0.1:1/x", "postgres://me:***@127.0.0.1:1/x"],
  ["postgres://127.0.0.1:1/x?user=me&password=secret", "postgres://127.0.0.1:1/x?user=me&password=***"],
])("an unreachable database server is named without its password: %s", async (database, shown) => {
  const { run } = folderFor({ RELCAT_PEPPER: "ab".repeat(32) });
  for (const command of [
    list.slice(0, 3),
    init.filter((word) => !["--database", "controller.db"].includes(word)),
  ]) {
    const { stderr, exitCode } = await run([...command, "--database", database], `${ownerPassword}\n`);
    expect({ stderr, exitCode }).toEqual({
      stderr: [
        `error[network] cannot reach ${shown} (ECONNREFUSED)`,
        "  hint: Is the database server running?",
      ].join("\n"),
      exitCode: 5,
    });
  }
});

const lost = [
  "network",
  "the connection to DATABASE was lost",
  "Is the database server running?",
  5,
] as const;
const wrong = [
  "The database must exist, and its role needs the right to create tables. PGPASSWORD can contain the password.",
  2,
] as const;
const fields = "SFATAL\0C53300\0Msorry, too many clients already\0\0";
/** Length and fields of an error message of PostgreSQL. */
const refusal = `E\0\0\0${String.fromCharCode(fields.length + 4)}${fields}`;

test.each<[string, string, (socket: Socket) => unknown, string, string, string, number]>([
  ["closes the connection", "", (socket) => socket.end(), ...lost],
  ["resets the connection", "", (socket) => socket.resetAndDestroy(), ...lost],
  [
    "has no TLS",
    "?sslmode=verify-full",
    (socket) => socket.end("N"),
    "controller-database",
    "DATABASE cannot be used: The server does not support SSL connections",
    ...wrong,
  ],
  [
    "has too many clients",
    "",
    (socket) => socket.end(refusal),
    "controller-database",
    "DATABASE cannot be used: sorry, too many clients already",
    "PostgreSQL's log has the details.",
    2,
  ],
])("a database server that %s is named", async (_, options, reply, code, message, hint, status) => {
  const server = createServer((socket) => {
    socket
      .on("error", () => {})
      .once("data", () => {
        reply(socket);
        socket.once("data", () => socket.end());
      });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const database = `postgres://me@127.0.0.1:${(server.address() as AddressInfo).port}/x${options}`;
  const { run } = folderFor({ RELCAT_PEPPER: "ab".repeat(32) });
  const { stderr, exitCode } = await run([...list.slice(0, 3), "--database", database]);
  server.close();
  expect({ stderr, exitCode }).toEqual({
    stderr: `error[${code}] ${message.replace("DATABASE", database)}\n  hint: ${hint}`,
    exitCode: status,
  });
});

test("an address that cannot be read is named", async () => {
  const { run } = folderFor({ RELCAT_PEPPER: "ab".repeat(32) });
  const { stderr, exitCode } = await run([
    ...list.slice(0, 3),
    "--database",
    "postgres://me:secret@db:x/fleet",
  ]);
  expect([stderr.split("\n")[0], exitCode]).toEqual([
    "error[controller-database] postgres://me:***@db:x/fleet cannot be used: Invalid URL",
    2,
  ]);
});

test("in an empty database, commands name init, which creates the controller", async () => {
  const { run, succeed, folder } = folderFor({ RELCAT_PEPPER: "ab".repeat(32) });
  writeFileSync(join(folder, "controller.db"), "");
  expect((await run(list)).stderr.split("\n")).toEqual([
    "error[controller-database] the database has no controller yet",
    "  hint: Run relcat controller init --database controller.db",
  ]);
  await succeed(init, `${ownerPassword}\n`);
});

test("migrate reports that there is nothing to do, and refuses a file that is not a controller's database", async () => {
  const { succeed, run, folder } = await madeController();
  const { stdout } = await succeed(["controller", "migrate", "--database", "controller.db"]);
  expect(stdout).toBe("The database already has the schema of this version.");
  writeFileSync(join(folder, "empty.db"), "");
  const refused = async (database: string) =>
    (await run(["controller", "migrate", "--database", database])).stderr.split("\n")[0];
  expect(await refused("empty.db")).toBe(
    "error[controller-database] empty.db is not the database of a controller",
  );
  expect(await refused("no.db")).toBe("error[controller-database] there is no database no.db");
});

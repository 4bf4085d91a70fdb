import { cpSync, readdirSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  folderFor,
  ownerEmail,
  ownerPassword,
  type ServedController,
  servedController,
} from "../support/controller.ts";

let served: ServedController;
beforeAll(async () => {
  served = await servedController();
});

const noKey = { RELCAT_API_KEY_ID: "", RELCAT_API_KEY: "" };

test("a session is readable by its owner only, and gives all rights of the role", async () => {
  const { run, succeed } = folderFor();
  const { stdout, stderr, exitCode } = await run(
    ["login", "--url", `${served.url}/`],
    `${ownerEmail}\n${ownerPassword}\n`,
  );
  expect(stdout).toMatch(new RegExp(`^Signed in to ${served.url} as owner@example\\.com \\(Owner\\) until `));
  expect([stderr, exitCode]).toEqual([
    "Next: relcat devices list, or relcat controller keys create --name NAME, for a program",
    0,
  ]);
  const { stdout: list } = await succeed(["devices", "list"]);
  expect(list).toBe("No device matches.");
});

test("login keeps one file for each controller, 0600 in a folder that is 0700, without the password", async () => {
  const { folder, succeed } = folderFor();
  await succeed(["login", "--url", served.url, "--email", ownerEmail], `${ownerPassword}\n`);
  const sessions = join(folder, "state/relcat/sessions");
  const [file = "", ...others] = readdirSync(sessions);
  expect(others).toEqual([]);
  expect(statSync(sessions).mode & 0o777).toBe(0o700);
  expect(statSync(join(sessions, file)).mode & 0o777).toBe(0o600);
});

test("after logout a copy of the session is useless", async () => {
  const { folder, succeed, run } = folderFor();
  await succeed(["login", "--url", served.url, "--email", ownerEmail], `${ownerPassword}\n`);
  const copy = folderFor();
  cpSync(join(folder, "state"), join(copy.folder, "state"), { recursive: true });
  const { stdout, stderr } = await succeed(["logout"]);
  expect([stdout, stderr]).toEqual([`Signed out of ${served.url}.`, "API keys keep working."]);
  const refused = await copy.run(["devices", "list"]);
  expect([refused.stderr, refused.exitCode]).toEqual([
    "error[credentials-refused] send the id and the secret of an API key as HTTP Basic credentials\n  hint: The session has expired: sign in again with relcat login.",
    2,
  ]);
  const again = await run(["logout"], "", {
    RELCAT_CONTROLLER_URL: served.url,
    RELCAT_API_KEY_ID: "x",
    RELCAT_API_KEY: "y",
  });
  expect([again.stderr, again.exitCode]).toEqual([
    `error[usage] you are not signed in to ${served.url}\n  hint: There is no session to end.`,
    2,
  ]);
});

describe("login and its session refuse in one sentence", () => {
  test.each([
    [
      ["login", "--url", "ftp://example.com"],
      'usage] --url is "ftp://example.com", expected an http or https URL',
      "For example: https://controller.example.com",
    ],
    [
      ["login", "--url", "http://controller.example.com"],
      "usage] --url is http://controller.example.com: over plain HTTP others could read the credentials",
      "Give an https:// URL.",
    ],
    [
      ["devices", "list"],
      "usage] no controller is named",
      "Give --url https://…, or export RELCAT_CONTROLLER_URL.",
    ],
    [
      ["login", "--url", "http://127.0.0.1:1"],
      "usage] there is no email on standard input",
      "Give --email, or type it on a terminal.",
    ],
    [
      ["login", "--url", "http://127.0.0.1:1", "--email", "x"],
      "usage] there is no password on standard input",
      "Type it on a terminal, or send it as a line of standard input.",
    ],
    [
      ["devices", "list", "--url", "http://127.0.0.1:1"],
      "usage] there are no credentials for http://127.0.0.1:1",
      "Sign in: relcat login --url http://127.0.0.1:1; or export RELCAT_API_KEY_ID and RELCAT_API_KEY.",
    ],
  ])("%j", async (args, message, hint) => {
    const { stdout, stderr, exitCode } = await folderFor().run(args);
    expect({ stdout, stderr, exitCode }).toEqual({
      stdout: "",
      stderr: `error[${message}\n  hint: ${hint}`,
      exitCode: 2,
    });
  });

  test("half of a key, a wrong key, a wrong password", async () => {
    const half = await served.run(["devices", "list"], "", { RELCAT_API_KEY_ID: "" });
    expect([half.stderr, half.exitCode]).toEqual([
      "error[usage] RELCAT_API_KEY_ID is not set\n  hint: An API key is an id and a secret: export both.",
      2,
    ]);
    const wrong = await served.run(["devices", "list"], "", { RELCAT_API_KEY: "rck_x" });
    expect([wrong.stderr, wrong.exitCode]).toEqual([
      "error[credentials-refused] send the id and the secret of an API key as HTTP Basic credentials\n  hint: The API key is wrong, expired, disabled or revoked: relcat controller audit show --code auth.failed says which.",
      2,
    ]);
    const password = await served.run(["login", "--email", ownerEmail], "not the password\n", noKey);
    expect([password.stderr, password.exitCode]).toEqual([
      "error[credentials-refused] the name or the password is wrong\n  hint: Check the name and the password.",
      2,
    ]);
  });

  test("commands need --url if there are two sessions", { tags: ["long"] }, async () => {
    const other = await servedController();
    const { run, succeed } = folderFor();
    for (const { url } of [served, other])
      await succeed(["login", "--url", url, "--email", ownerEmail], `${ownerPassword}\n`);
    const { stderr, exitCode } = await run(["devices", "list"]);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(
      /^error\[usage\] you are signed in to several controllers: http\S+, http\S+\n {2}hint: Give --url https:\/\/…, or export RELCAT_CONTROLLER_URL\.$/,
    );
    await succeed(["devices", "list", "--url", other.url]);
  });
});

test("commands say that the server failed, and where the details are", async () => {
  const database = new DatabaseSync(join(served.folder, "controller.db"));
  database.exec("alter table audit_log rename to elsewhere");
  const { stderr, exitCode } = await served.run(["controller", "audit", "show"]);
  database.exec("alter table elsewhere rename to audit_log");
  database.close();
  expect([stderr.split("\n"), exitCode]).toEqual([
    ["error[network] the server failed", "  hint: Run it again later; the server's log has the details."],
    5,
  ]);
});

describe("--url refuses", () => {
  let url: string;
  const server = createServer((request, response) => {
    if (request.url?.startsWith("/moved"))
      response.writeHead(302, { location: "https://elsewhere.example.com/" }).end();
    else response.writeHead(200, { "content-type": "text/html" }).end("<p>A page");
  });
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => server.close());

  const said = async (address: string) => {
    const { stderr, exitCode } = await served.run(["devices", "list", "--url", address]);
    expect(exitCode).toBe(5);
    return stderr.split("\n");
  };

  test("a closed port, a web site, and a redirect that would receive the key", async () => {
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, "127.0.0.1", resolve));
    const nobody = `http://127.0.0.1:${(closed.address() as AddressInfo).port}`;
    await new Promise((resolve) => closed.close(resolve));
    expect(await said(nobody)).toEqual([
      `error[network] cannot reach ${nobody} (ECONNREFUSED)`,
      "  hint: Is the controller running there? relcat controller serve starts one.",
    ]);
    expect(await said(url)).toEqual([
      `error[network] ${url} does not answer like a controller (200)`,
      "  hint: Check the address; a proxy in front of it must forward /-net/api/v0/.",
    ]);
    expect(await said(`${url}/moved`)).toEqual([
      `error[network] ${url}/moved redirects to https://elsewhere.example.com/`,
      "  hint: Give the controller's own address with --url.",
    ]);
  });
});

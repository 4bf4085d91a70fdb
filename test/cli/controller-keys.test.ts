import { hostname } from "node:os";
import { execa } from "execa";
import { beforeAll, describe, expect, test } from "vitest";
import { basic } from "../controller/support.ts";
import { ownerEmail, ownerPassword, type ServedController, servedController } from "../support/controller.ts";

let served: ServedController;
beforeAll(async () => {
  served = await servedController();
});

const here = ["--database", "controller.db"];
const keys = (...words: string[]) => ["controller", "keys", ...words];
const noKey = { RELCAT_API_KEY_ID: "", RELCAT_API_KEY: "" };
const statusWith = async ({ id, key }: { id: string; key: string }) =>
  (await fetch(`${served.url}/-net/api/v0/device`, { headers: basic(id, key) })).status;

describe("on the controller's host", () => {
  test("create prints lines that a shell can evaluate", async () => {
    const { stdout, stderr } = await served.succeed(
      keys("create", ...here, "--name", "fleet", "--days", "30"),
    );
    const read = await execa("sh", [
      "-c",
      `${stdout}\nprintf '%s %s' "$RELCAT_API_KEY_ID" "$RELCAT_API_KEY"`,
    ]);
    const [id = "", key = ""] = read.stdout.split(" ");
    expect(await statusWith({ id, key })).toBe(200);
    expect(stderr).toMatch(
      /^Created the API key fleet for devices:read, devices:state; it expires: \d{4}-\d\d-\d\d\.\nThe secret is shown only once:$/,
    );
    const { stdout: list } = await served.succeed(keys("list", ...here));
    expect(list).toMatch(new RegExp(`^${id} +fleet +in use +`, "m"));
    expect(list).not.toContain(key);
  });

  test("create without a name uses the host name and the time, by which the key can be named", async () => {
    const made = await served.json(keys("create", ...here));
    expect(made.name).toMatch(new RegExp(`^${hostname()}-\\d{8}T\\d{9}$`));
    expect((await served.succeed(keys("revoke", made.name, ...here))).stdout).toContain(`(${made.name})`);
  });

  test("a running server follows disable, enable and revoke at once", async () => {
    const made = await served.json(keys("create", ...here, "--name", "short-lived"));
    expect(await statusWith(made)).toBe(200);
    expect((await served.succeed(keys("disable", "short-lived", ...here))).stdout).toBe(
      `Disabled ${made.id} (short-lived).`,
    );
    expect(await statusWith(made)).toBe(401);
    await served.succeed(keys("enable", made.id, ...here));
    expect(await statusWith(made)).toBe(200);
    expect((await served.succeed(keys("revoke", "short-lived", ...here))).stdout).toBe(
      `Revoked ${made.id} (short-lived): requests with it are refused from now on.`,
    );
    expect(await statusWith(made)).toBe(401);
    const { stderr, exitCode } = await served.run(keys("rotate", made.id, ...here));
    expect({ stderr, exitCode }).toEqual({
      stderr: "error[request-conflict] the key is revoked: create another one",
      exitCode: 3,
    });
  });

  test("rotate leaves both secrets valid; without an overlap the old one ends", async () => {
    const old = await served.json(keys("create", ...here));
    const next = await served.json(keys("rotate", old.id, ...here));
    expect([await statusWith(old), await statusWith(next)]).toEqual([200, 200]);
    const last = await served.json(keys("rotate", old.id, ...here, "--overlap", "0"));
    expect([await statusWith(old), await statusWith(next), await statusWith(last)]).toEqual([401, 401, 200]);
  });

  test("the audit log names the account on this host", async () => {
    const { audit_log } = await served.json([
      "controller",
      "audit",
      "show",
      ...here,
      "--code",
      "key.created",
    ]);
    const { stdout: account } = await execa("id", ["-un"]);
    expect(audit_log[0].actor).toEqual({ kind: "host", id: account, name: account, ip: null });
  });

  test.each([
    [
      keys("revoke", "nothing", ...here),
      'error[key-unmatched] no API key has the id or the name "nothing"\n  hint: relcat controller keys list shows them all.',
      1,
    ],
    [
      keys("create", ...here, "--scope", "everything"),
      /^error\[request-refused\] the body cannot be used\nerror\[request-refused\] \/scopes\/0: expected one of devices:read, devices:state, /,
      1,
    ],
    [
      keys("create", ...here, "--days", "400"),
      "error[request-refused] keys expire after 365 days at most here",
      1,
    ],
    [
      keys("create", ...here, "--days", "0"),
      'error[usage] "0" is not valid for --days <days>\n  hint: Give a number of days, or never.',
      2,
    ],
    [
      keys("list", ...here, "--url", "http://127.0.0.1:1"),
      "error[usage] --database and --url name two controllers\n  hint: Give one of them.",
      2,
    ],
    [
      keys("rotate", "me", ...here),
      "error[usage] me means the key in RELCAT_API_KEY_ID and RELCAT_API_KEY, at the address of a controller\n  hint: Export both and leave --database out; or give the id of a key.",
      2,
    ],
  ])("refuses %j", async (args, said, status) => {
    const { stdout, stderr, exitCode } = await served.run(args);
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: status });
    if (typeof said === "string") expect(stderr).toBe(said);
    else expect(stderr).toMatch(said);
  });

  test("asks for an id if two keys have the name", async () => {
    const ids = [
      await served.json(keys("create", ...here, "--name", "twin")),
      await served.json(keys("create", ...here, "--name", "twin")),
    ];
    const { stderr, exitCode } = await served.run(keys("revoke", "twin", ...here));
    expect({ stderr, exitCode }).toEqual({
      stderr: `error[key-unmatched] 2 API keys have the name "twin"\n  hint: Give an id: ${ids.map(({ id }) => id).join(", ")}`,
      exitCode: 1,
    });
  });
});

describe("over HTTP", () => {
  test("a user who is signed in makes a key, the key rotates its own secret, and signing out ends both", async () => {
    const { url } = served;
    const signedIn = await served.succeed(
      ["login", "--url", url, "--email", ownerEmail],
      `${ownerPassword}\n`,
    );
    expect(signedIn.stdout).toMatch(
      new RegExp(`^Signed in to ${url} as ${ownerEmail} \\(Owner\\) until \\d{4}-.*Z\\.$`),
    );
    const made = await served.json(keys("create", "--name", "remote"), "", noKey);
    expect(await statusWith(made)).toBe(200);
    const env = { RELCAT_API_KEY_ID: made.id, RELCAT_API_KEY: made.key };
    const { stderr, stdout } = await served.succeed(keys("rotate", "me"), "", env);
    expect(stderr).toMatch(
      /^The old secret works until \d{4}-.*Z\.\nThe secret is shown only once:\nNext: replace the old secret with it; the key expires: \d{4}-\d\d-\d\d$/,
    );
    expect(stdout).toContain(`export RELCAT_API_KEY_ID=${made.id}\nexport RELCAT_API_KEY=rck_`);
    expect((await served.succeed(["logout", "--url", url])).stdout).toBe(`Signed out of ${url}.`);
    const refused = await served.run(keys("create"), "", noKey);
    expect({ stderr: refused.stderr, exitCode: refused.exitCode }).toEqual({
      stderr: `error[usage] there are no credentials for ${url}\n  hint: Sign in: relcat login --url ${url}; or export RELCAT_API_KEY_ID and RELCAT_API_KEY.`,
      exitCode: 2,
    });
  });

  test("a key cannot make keys", async () => {
    const { stderr, exitCode } = await served.run(keys("create"));
    expect({ stderr, exitCode }).toEqual({
      stderr:
        "error[credentials-refused] API keys cannot do this: sign in as a user\n  hint: relcat login signs you in; relcat controller keys list shows the scopes of each key.",
      exitCode: 2,
    });
  });
});

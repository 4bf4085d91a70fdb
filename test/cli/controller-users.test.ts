import { beforeAll, describe, expect, test } from "vitest";
import { type MadeController, madeController, ownerEmail, servedController } from "../support/controller.ts";

let made: MadeController;
beforeAll(async () => {
  made = await madeController();
});

const users = (...words: string[]) => ["controller", "users", ...words, "--database", "controller.db"];
const password = "a long enough password\n";

test("users can be added, changed, disabled and enabled again", { tags: ["long"] }, async () => {
  const { succeed, json } = made;
  const said = async (args: string[], input?: string) => (await succeed(args, input)).stdout;
  expect(
    await said(users("add", "Ann@example.com", "--role", "LimitedAdministrator", "--name", "Ann"), password),
  ).toBe("Created the user ann@example.com with the role LimitedAdministrator.");
  const raised = await succeed(users("role", "ann@example.com", "FullAdministrator"));
  expect([raised.stdout, raised.stderr]).toEqual([
    "ann@example.com: FullAdministrator, Active.",
    "The password has not changed. If anyone else may know it, set a new one with `users passwd`.",
  ]);
  expect(await said(users("passwd", "ann@example.com"), "another long password\n")).toBe(
    "ann@example.com has a new password; open sessions were ended.",
  );
  const disabled = await succeed(users("disable", "ann@example.com"));
  expect([disabled.stdout, disabled.stderr]).toEqual([
    "ann@example.com: FullAdministrator, Disabled.",
    "Their sessions and tokens no longer work; API keys that they created still do.",
  ]);
  expect(await said(users("enable", "ann@example.com"))).toBe("ann@example.com: FullAdministrator, Active.");
  const { users: all } = await json(users("list"));
  expect(all.map(({ email, name, role }: Record<string, string>) => [email, name, role])).toEqual([
    [ownerEmail, null, "Owner"],
    ["ann@example.com", "Ann", "FullAdministrator"],
  ]);
  const codes = (await json(["controller", "audit", "show", "--database", "controller.db"])).audit_log;
  expect(codes.map(({ code }: { code: string }) => code)).toEqual([
    "user.updated",
    "user.updated",
    "user.password",
    "user.updated",
    "user.created",
    "user.created",
  ]);
});

test("the new role of a user is printed with the rights that become effective", async () => {
  const { succeed } = made;
  const set = async (role: string) => (await succeed(users("role", "bea@example.com", role))).stdout;
  await succeed(users("add", "bea@example.com"), password);
  expect(await set("LimitedAdministrator")).toBe(
    "bea@example.com: LimitedAdministrator (no rights), Active.",
  );
  expect(await set("User")).toBe("bea@example.com: User, Active.");
});

describe("refuses an invalid change", () => {
  test.each([
    [
      users("disable", ownerEmail),
      "error[request-conflict] this is the last active Owner: create another one first",
      3,
    ],
    [
      users("role", "nobody", "User"),
      'error[user-unmatched] no user has the email address, name or id "nobody"\n  hint: relcat controller users list shows them all.',
      1,
    ],
    [users("add", ownerEmail), "error[request-conflict] someone else has this email address", 3],
    [
      users("add", "x@example.com", "--role", "King"),
      'error[usage] "King" is not valid for --role <role>\n  hint: Allowed choices are Owner, FullAdministrator, LimitedAdministrator, User.',
      2,
    ],
    [
      users("add", "no address"),
      "error[request-refused] the body cannot be used\nerror[request-refused] /email: expected an email address\n2 errors",
      1,
    ],
  ])("%j", async (args, said, status) => {
    const { stdout, stderr, exitCode } = await made.run(args, password);
    expect({ stdout, stderr, exitCode }).toEqual({ stdout: "", stderr: said, exitCode: status });
  });
});

test("audit show describes each row in words, with the reason for refused credentials", {
  tags: ["long"],
}, async () => {
  const served = await servedController();
  const { key } = await served.json(["controller", "keys", "create", "--database", "controller.db"]);
  const refused = await served.run(["devices", "list"], "", { ...served.env, RELCAT_API_KEY: key });
  expect(refused.exitCode).toBe(2);
  const { stdout } = await served.succeed(["controller", "audit", "show", "--database", "controller.db"]);
  expect(stdout).toMatch(/^ROW +TIME \(UTC\) +BY +WHAT +TARGET +CHANGE$/m);
  expect(stdout).toMatch(
    / nobody 127\.0\.0\.1 +Credentials refused +key \S+ +Reason: the password or secret was wrong$/m,
  );
  expect(stdout).toMatch(
    / host \S+ +API key created +key \S+ +Name: .*, Scopes: devices:read devices:state, /,
  );
  expect(stdout).not.toContain("auth.failed");
});

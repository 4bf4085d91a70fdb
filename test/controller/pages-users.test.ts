import { beforeAll, expect, test } from "vitest";
import { signIn, type Visitor, visitor } from "./pages-support.ts";
import { type TestController, type TestUser, testController } from "./support.ts";

let controller: TestController;
let owner: TestUser;
let visit: Visitor;
beforeAll(async () => {
  controller = await testController();
  owner = await controller.makeUser("Owner");
  visit = await signIn(controller, owner);
});

const entered = "a password of enough length";

const userWith = async (email: string) => {
  const { json } = await controller.call("GET", "/users", { headers: owner.headers });
  return Object.values<{ id: string; email: string | null }>(json).find((user) => user.email === email);
};
const signInWith = (name: string, password: string) =>
  visitor(controller.url).post("/signin", { name, password });
const lastEvent = async (target: string) => {
  const { json } = await controller.call("GET", `/audit_log?limit=1&target=${target}`, {
    headers: owner.headers,
  });
  return json.audit_log[0];
};

test("a user is added with a password that is entered, and can sign in with it", async () => {
  const fields = { what: "add", email: "Ada@Example.com", name: "Ada", role: "FullAdministrator" };
  const page = await visit.postAndFollow("/users", { ...fields, password: entered });
  expect(page.text).toContain("The user was added, and can sign in with this password.");
  const user = await userWith("ada@example.com");
  expect(user).toMatchObject({ name: "Ada", role: "FullAdministrator", status: "Active" });
  expect((await signInWith("ada@example.com", entered)).status).toBe(303);
  const list = await visit.get("/users");
  expect(list.text).toContain(`<a href="/users/${user?.id}"><bdi>ada@example.com</bdi></a>`);
});

test("a generated password is shown once, and is in no other page and not in the log", async () => {
  const page = await visit.post("/users", { what: "add", username: "grace", role: "User" });
  expect([page.status, page.headers.get("cache-control")]).toEqual([201, "no-store"]);
  const [, password = ""] = /<code data-copy="Password">([\w-]{24})<\/code>/.exec(page.text) ?? [];
  const [, id = ""] = /href="\/users\/([0-9a-f-]{36})"/.exec(page.text) ?? [];
  expect((await signInWith("grace", password)).status).toBe(303);
  for (const path of ["/users", `/users/${id}`, "/audit"])
    expect((await visit.get(path)).text).not.toContain(password);
  expect(await lastEvent(id)).toMatchObject({ code: "session.opened" });
});

test("a Limited Administrator gets the rights that are ticked, and other roles get none", async () => {
  const flag = ["authz_devices", "authz_users"];
  await visit.post("/users", { what: "add", email: "lin@example.com", role: "LimitedAdministrator", flag });
  const lin = await userWith("lin@example.com");
  const rights = { authz_devices: true, authz_control_panel: false, authz_users: true };
  expect(lin).toMatchObject({ role: "LimitedAdministrator", ...rights });
  await visit.post("/users", { what: "add", email: "max@example.com", role: "User", flag });
  expect(await userWith("max@example.com")).toMatchObject({ role: "User", authz_devices: false });
  const path = `/users/${lin?.id}`;
  const role = { what: "role", role: "LimitedAdministrator", flag: "authz_control_panel" };
  expect((await visit.postAndFollow(path, role)).text).toContain("The user&#x27;s role was changed.");
  expect(await userWith("lin@example.com")).toMatchObject({
    authz_devices: false,
    authz_control_panel: true,
    authz_users: false,
  });
  expect(await lastEvent(lin?.id ?? "")).toMatchObject({
    code: "user.updated",
    actor: { kind: "user", name: owner.email },
  });
});

test("a user is renamed, gets a new password, is disabled, enabled and deleted", async () => {
  await visit.post("/users", { what: "add", email: "joan@example.com", role: "User", password: entered });
  const { id = "" } = (await userWith("joan@example.com")) ?? {};
  const path = `/users/${id}`;
  const names = { what: "names", email: "joan@example.com", username: "joan", name: "Joan C." };
  expect((await visit.postAndFollow(path, names)).text).toContain("<dd><bdi>Joan C.</bdi></dd>");
  const shown = await visit.post(path, { what: "password" });
  const [, password = ""] = /<code data-copy="Password">([^<]+)/.exec(shown.text) ?? [];
  expect((await signInWith("joan", entered)).status).toBe(403);
  expect((await signInWith("joan", password)).status).toBe(303);
  const again = await visit.postAndFollow(path, { what: "password", password: entered });
  expect(again.text).toContain("The user has a new password, and was signed out everywhere.");
  expect((await visit.post(path, { what: "delete" })).text).toContain(
    "The user is active: disable them first.",
  );
  expect((await visit.postAndFollow(path, { what: "disable" })).text).toContain(">disabled</span></h1>");
  expect((await signInWith("joan", entered)).status).toBe(403);
  expect((await visit.postAndFollow(path, { what: "enable" })).text).toContain("can sign in again");
  expect((await signInWith("joan", entered)).status).toBe(303);
  await visit.post(path, { what: "disable" });
  expect((await visit.get(`${path}?ask=delete`)).text).toContain("Delete permanently");
  expect((await visit.postAndFollow(path, { what: "delete" })).text).toContain("The user was deleted.");
  expect((await visit.get(path)).status).toBe(404);
  expect((await visit.post(path, { what: "enable" })).status).toBe(404);
  for (const what of ["explode", "constructor", "toString"])
    expect((await visit.post(path, { what })).status, what).toBe(400);
});

test.each([
  [{ email: "nobody", role: "User", name: "Ida" }, "Email address: "],
  [{ email: "", role: "User", name: "Ida" }, "Email address: A user needs an email address or a user name."],
  [{ email: "new@example.com", role: "User", name: "Ida", password: "short" }, "Password: "],
  [{ email: "new@example.com", role: "Emperor", name: "Ida" }, "Role: "],
])("a form with a mistake is shown again with its values: %j", async (fields, words) => {
  const page = await visit.post("/users", { what: "add", ...fields });
  expect(page.status).toBe(400);
  expect(page.text).toContain(words);
  expect(page.text).toContain('role="alert"');
  for (const value of [fields.email, fields.name]) expect(page.text).toContain(`value="${value}"`);
  expect(page.text).not.toContain("short");
});

test("a name that someone else has is refused in the form", async () => {
  const page = await visit.post("/users", { what: "add", email: owner.email, role: "User" });
  expect([page.status, page.text]).toEqual([
    409,
    expect.stringContaining("Someone else has this email address."),
  ]);
});

test.each(["role", "disable", "password", "delete"])(
  "the last Owner cannot %s themselves, and the page says why",
  async (what) => {
    const alone = await testController();
    const last = await alone.makeUser("Owner");
    const inside = await signIn(alone, last);
    const path = `/users/${last.id}`;
    const own = await inside.get(path);
    expect(own.text).toContain("No user can change their own role or status");
    expect(own.text).not.toMatch(/value="(role|disable|password|delete)"/);
    const refused = await inside.post(path, { what, role: "User", password: entered });
    expect([403, 409]).toContain(refused.status);
    expect(refused.text).toMatch(
      /role="alert">\s<p>(Users cannot change|Change your own|The user is active)/,
    );
    const { json } = await alone.call("GET", "/users", { headers: last.headers });
    expect(json[last.id]).toMatchObject({ role: "Owner", status: "Active" });
  },
);

test("the last Owner cannot be removed by a deleted Owner's open page", async () => {
  const alone = await testController();
  const [last, other] = [await alone.makeUser("Owner"), await alone.makeUser("Owner")];
  const inside = await signIn(alone, last);
  await inside.post(`/users/${other.id}`, { what: "disable" });
  const stale = await visitor(alone.url, other.headers).post(`/users/${last.id}`, { what: "disable" });
  expect(stale.location).toMatch(/^\/\?to=/);
  const { json } = await alone.call("GET", "/users", { headers: last.headers });
  expect(json[last.id].status).toBe("Active");
});

test("administrators are offered only the roles that they may give", async () => {
  const roles = (text: string) => [...text.matchAll(/name="role" value="(\w+)"/g)].map(([, role]) => role);
  const full = await signIn(controller, await controller.makeUser("FullAdministrator"));
  const limited = await signIn(
    controller,
    await controller.makeUser("LimitedAdministrator", { authz_users: 1 }),
  );
  expect(roles((await visit.get("/users")).text)).toHaveLength(4);
  expect(roles((await full.get("/users")).text)).toEqual([
    "FullAdministrator",
    "LimitedAdministrator",
    "User",
  ]);
  expect(roles((await limited.get("/users")).text)).toEqual(["User"]);
  const forged = await limited.post("/users", { what: "add", email: "eve@example.com", role: "Owner" });
  expect([forged.status, forged.text]).toEqual([
    403,
    expect.stringContaining(
      "A user with the role LimitedAdministrator cannot change one with the role Owner.",
    ),
  ]);
  expect(await userWith("eve@example.com")).toBeUndefined();
});

test("users change their own password with the current one, whatever their role", async () => {
  await visit.post("/users", { what: "add", email: "own@example.com", role: "User", password: entered });
  const { headers } = await signInWith("own@example.com", entered);
  const inside = visitor(controller.url, { cookie: headers.get("set-cookie")?.split(";")[0] ?? "" });
  expect((await inside.get("/account")).text).toContain("own@example.com");
  const wrong = await inside.post("/account", {
    what: "password",
    current: "wrong",
    password: `${entered}!`,
  });
  expect([wrong.status, wrong.text]).toEqual([
    403,
    expect.stringContaining("The current password is wrong."),
  ]);
  const short = await inside.post("/account", { what: "password", current: entered, password: "short" });
  expect([short.status, short.text]).toEqual([400, expect.stringContaining("Password: ")]);
  const done = await inside.postAndFollow("/account", {
    what: "password",
    current: entered,
    password: `${entered}!`,
  });
  expect(done.text).toContain("You have a new password.");
  expect((await signInWith("own@example.com", entered)).status).toBe(403);
  expect(
    (await inside.postAndFollow("/account", { what: "names", name: "Own", username: "own" })).text,
  ).toContain('value="Own"');
  expect((await inside.post("/account", { what: "role", role: "Owner" })).status).toBe(400);
});

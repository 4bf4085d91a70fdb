import { beforeEach, describe, expect, test } from "vitest";
import type { Role } from "../../controller/server/access.ts";
import { asker } from "./contract-ask.ts";
import { type Answered, type TestController, type TestUser, testController } from "./support.ts";

let controller: TestController;
let owner: TestUser;
beforeEach(async () => {
  controller = await testController();
  owner = await controller.makeUser("Owner");
});

const upsert = (by: TestUser, body: object) =>
  controller.call("POST", "/user/upsert", { headers: by.headers, body });
const remove = (by: TestUser, id: string) =>
  controller.call("DELETE", `/user/${id}`, { headers: by.headers });
const roleOf = async (id: string) =>
  (await controller.call("GET", `/user/${id}`, { headers: owner.headers })).json.role;
const limited = () => controller.makeUser("LimitedAdministrator", { authz_users: 1 });

describe("the table of roles decides which users can be changed by", () => {
  const roles: Role[] = ["Owner", "FullAdministrator", "LimitedAdministrator", "User"];
  const subjects: Record<Role, Role[]> = {
    Owner: roles,
    FullAdministrator: ["FullAdministrator", "LimitedAdministrator", "User"],
    LimitedAdministrator: ["User"],
    User: [],
  };

  test.each(roles)("%s", async (role) => {
    const actor = role === "LimitedAdministrator" ? await limited() : await controller.makeUser(role);
    for (const subject of roles) {
      const expected = subjects[role].includes(subject);
      const email = `${role}-${subject}@example.com`;
      const made = await upsert(actor, { email, role: subject });
      expect([subject, "made", made.status]).toEqual([subject, "made", expected ? 201 : 403]);
      const other = await controller.makeUser(subject);
      const changes: [string, () => Promise<Answered>, number][] = [
        ["renamed", () => upsert(actor, { id: other.id, name: "Somebody" }), 200],
        ["given a password", () => upsert(actor, { id: other.id, password: "a long new password" }), 200],
        ["given an address", () => upsert(actor, { id: other.id, email: `new-${email}` }), 200],
        ["disabled", () => upsert(actor, { id: other.id, status: "Disabled" }), 200],
        ["deleted", () => remove(actor, other.id), 204],
      ];
      for (const [what, change, done] of changes)
        expect([subject, what, (await change()).status]).toEqual([subject, what, expected ? done : 403]);
    }
  });

  test.each(["FullAdministrator", "LimitedAdministrator"] as const)(
    "%s cannot give a user a higher role",
    async (role) => {
      const actor = role === "LimitedAdministrator" ? await limited() : await controller.makeUser(role);
      const user = await controller.makeUser("User");
      const above = role === "FullAdministrator" ? ["Owner"] : ["Owner", "FullAdministrator", role];
      for (const raised of above)
        expect((await upsert(actor, { id: user.id, role: raised })).status).toBe(403);
      expect(await roleOf(user.id)).toBe("User");
    },
  );

  describe.each([
    "authz_devices",
    "authz_policies",
    "authz_control_panel",
    "authz_control_plane",
    "authz_users",
  ])("%s, which becomes effective with a later role,", (flag) => {
    const alias = flag.replace("plane", "panel");
    const detail =
      "A user with the role LimitedAdministrator cannot give these rights to a user of any role: ";
    const every = { authz_devices: 1, authz_control_panel: 1, authz_users: 1 } as const;

    test.each([
      ["a new user", () => ({ email: "new@example.com" })],
      [
        "a new user with an id",
        () => ({ id: "5d1c0c4e-0b0e-4d8f-9d55-2f1b6f0f3a11", email: "new@example.com" }),
      ],
      ["a user", async () => ({ id: (await controller.makeUser("User")).id })],
      ["a disabled user", async () => ({ id: (await controller.makeUser("User")).id, status: "Disabled" })],
    ])("is not given to %s by a LimitedAdministrator, not even one who has it", async (_, subject) => {
      for (const actor of [await limited(), await controller.makeUser("LimitedAdministrator", every)]) {
        const { status, json } = await upsert(actor, { ...(await subject()), role: "User", [flag]: true });
        expect([status, json.detail]).toEqual([403, `${detail}${alias}.`]);
      }
      const users = (await controller.call("GET", "/users", { headers: owner.headers })).json;
      const plain = Object.values<Record<string, unknown>>(users).filter(({ role }) => role === "User");
      expect(plain.every((user) => user[alias] === false)).toBe(true);
    });

    test("is given by a FullAdministrator, kept by a LimitedAdministrator, and can be removed", async () => {
      const user = await controller.makeUser("User");
      const actor = await limited();
      const full = await controller.makeUser("FullAdministrator");
      expect((await upsert(full, { id: user.id, [flag]: true })).json[alias]).toBe(true);
      expect((await upsert(actor, { id: user.id, name: "Ann", [flag]: true })).status).toBe(200);
      expect((await upsert(actor, { id: user.id, [flag]: false })).json[alias]).toBe(false);
      expect((await upsert(actor, { id: user.id, [flag]: true })).status).toBe(403);
    });
  });

  test.each([
    { role: "User" },
    { role: "Owner" },
    { status: "Disabled" },
    { authz_devices: true },
    { authz_policies: true },
    { password: "another long password" },
  ])("a user cannot change their own role, rights or status: %j", async (change) => {
    for (const actor of [await controller.makeUser("FullAdministrator"), await limited()])
      expect((await upsert(actor, { id: actor.id, ...change })).status).toBe(403);
  });

  test("an Owner cannot change their own role, but their name", async () => {
    expect((await upsert(owner, { id: owner.id, role: "User" })).status).toBe(403);
    expect((await upsert(owner, { id: owner.id, status: "Disabled" })).status).toBe(403);
    expect((await upsert(owner, { id: owner.id, name: "Ada", role: "Owner" })).json.name).toBe("Ada");
  });

  test("user/me accepts no role, right or status", async () => {
    const { headers } = await controller.makeUser("User");
    const before = (await controller.call("GET", "/user/me", { headers })).json;
    for (const injected of [
      { role: "Owner" },
      { authz_users: true },
      { status: "Active" },
      { id: owner.id },
    ]) {
      const answer = await controller.call("POST", "/user/me", { headers, body: injected });
      expect([answer.status, answer.json]).toEqual([200, before]);
      expect(answer.headers.get("x-ignored-fields")).toBe(Object.keys(injected)[0]);
    }
  });
});

describe("the last active Owner", () => {
  test("remains after every change of the others", async () => {
    const second = await controller.makeUser("Owner");
    expect((await upsert(owner, { id: second.id, status: "Disabled" })).status).toBe(200);
    expect((await upsert(owner, { id: second.id, role: "User" })).status).toBe(200);
    expect((await remove(owner, second.id)).status).toBe(204);
    expect((await upsert(owner, { id: owner.id, role: "User" })).status).toBe(403);
    expect((await remove(owner, owner.id)).status).toBe(409);
    expect(await roleOf(owner.id)).toBe("Owner");
  });

  test.each([{ role: "FullAdministrator" }, { status: "Disabled" }])(
    "remains if two Owners set %j for each other concurrently",
    async (change) => {
      const second = await controller.makeUser("Owner");
      // In one process, both have signed in before either starts to write.
      const ask = asker(controller.controller);
      const disown = ({ headers: { cookie = "" } }: TestUser, { id }: TestUser) => {
        const headers = { cookie, "content-type": "application/json" };
        return ask("POST", "/user/upsert", { headers, body: JSON.stringify({ id, ...change }) });
      };
      const answers = await Promise.all([disown(owner, second), disown(second, owner)]);
      const won = answers.filter(({ status }) => status === 200);
      expect(won).toHaveLength(1);
      const [lost] = answers.filter(({ status }) => status !== 200);
      expect([401, 403, 409]).toContain(lost?.status);
      const winner = answers[0]?.status === 200 ? owner : second;
      const { json } = await controller.call("GET", "/users", { headers: winner.headers });
      const users = Object.values<{ role: string; status: string }>(json);
      expect(users.filter(({ role, status }) => role === "Owner" && status === "Active")).toHaveLength(1);
    },
  );
});

describe("deletion", () => {
  test("requires a disabled user, and removes their tokens and assignments", async () => {
    const user = await controller.makeUser("User");
    const { json: token } = await controller.call("POST", "/user/tokens", { headers: user.headers });
    const { id: device } = await controller.enroll();
    const assignment = { device_id: device, user_id: user.id };
    await controller.call("POST", "/device/assign", { headers: owner.headers, body: assignment });
    expect((await remove(owner, user.id)).status).toBe(409);
    await upsert(owner, { id: user.id, status: "Disabled" });
    expect((await remove(owner, user.id)).status).toBe(204);
    expect((await remove(owner, user.id)).status).toBe(404);
    const { json } = await controller.call("GET", `/device/${device}`, { headers: owner.headers });
    expect(json.assigned_to_user).toBeNull();
    const { authorization } = { authorization: `Basic ${btoa(`${token.id}:${token.key}`)}` };
    const answer = await fetch(`${controller.url}/latest/user/me`, { headers: { authorization } });
    expect(answer.status).toBe(401);
  });
});

describe("a name", () => {
  test("belongs to one user, in any form", async () => {
    const made = await upsert(owner, { email: "Ada@Example.com", username: "Ada" });
    expect([made.status, made.json.email, made.json.username]).toEqual([201, "ada@example.com", "ada"]);
    const other = await controller.makeUser("User");
    for (const taken of [
      { email: "ADA@EXAMPLE.COM" },
      { email: "grace@example.com", username: "ADA" },
      { email: "grace@example.com", username: "ada@example.com" },
      { id: other.id, email: "ada@EXAMPLE.com" },
      { id: other.id, username: "aDa" },
    ]) {
      expect((await upsert(owner, taken)).status).toBe(409);
    }
    const own = { headers: other.headers, body: { username: "ADA" } };
    expect((await controller.call("POST", "/user/me", own)).status).toBe(409);
    expect((await upsert(owner, { id: made.json.id, username: "ADA" })).status).toBe(200);
  });

  test("is given to one of several concurrent requests", async () => {
    const answers = await Promise.all(
      [1, 2, 3, 4].map(() => upsert(owner, { email: "grace@example.com", username: "grace" })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409]);
  });

  test("is refused if it is invalid", async () => {
    for (const wrong of [
      "",
      "ada",
      "ada@",
      "a b@example.com",
      "ada@example.com\n",
      `${"a".repeat(251)}@b.co`,
    ])
      expect((await upsert(owner, { email: wrong })).status).toBe(400);
    expect((await upsert(owner, { name: "nobody" })).status).toBe(400);
    expect((await upsert(owner, { id: owner.id, email: null })).status).toBe(400);
    for (const password of ["short", "elevenchars", "a".repeat(1025)])
      expect((await upsert(owner, { email: "grace@example.com", password })).status).toBe(400);
  });
});

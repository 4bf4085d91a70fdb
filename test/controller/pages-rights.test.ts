import { beforeAll, describe, expect, test } from "vitest";
import { signIn, type Visitor, visitor } from "./pages-support.ts";
import { type TestController, type TestKey, testController } from "./support.ts";

let controller: TestController;
let deviceId: string;
let key: TestKey;
let userId: string;
beforeAll(async () => {
  controller = await testController();
  deviceId = (await controller.enroll({ name: "laptop", serial: "SN-77" })).id;
  key = await controller.makeKey();
  userId = (await controller.makeUser("User")).id;
});

const pages = ["/devices", "/serials", "/keys", "/users", "/audit"];

/** Every form of the pages, as an attacker would forge it. */
const forms = (): Record<string, [path: string, body: string]> => ({
  state: ["/devices", `state=accepted&device=${deviceId}.1`],
  rename: [`/devices/${deviceId}`, "what=rename&name=mine"],
  assign: [`/devices/${deviceId}`, "what=assign&user="],
  delete: [`/devices/${deviceId}`, "what=delete"],
  decide: ["/serials", "serials=SN-99&state=accepted"],
  "take back": ["/serials", "what=take-back&serial=SN-99"],
  "make key": ["/keys", "name=mine&scope=devices%3Aread"],
  rotate: [`/keys/${key.id}`, "what=rotate"],
  revoke: [`/keys/${key.id}`, "what=revoke"],
  disable: ["/users", `id=${userId}&status=Disabled`],
  "add user": ["/users", "what=add&email=eve%40example.com&role=User"],
  role: [`/users/${userId}`, "what=role&role=FullAdministrator"],
  password: [`/users/${userId}`, "what=password&password=a+long+password"],
  "delete user": [`/users/${userId}`, "what=delete"],
});

const who = [
  { name: "a user", role: "User", flags: {}, sees: [] },
  {
    name: "a limited administrator of devices",
    role: "LimitedAdministrator",
    flags: { authz_devices: 1 },
    sees: ["/devices", "/serials"],
  },
  {
    name: "a limited administrator of the control panel",
    role: "LimitedAdministrator",
    flags: { authz_control_panel: 1 },
    sees: ["/keys", "/audit"],
  },
  {
    name: "a limited administrator of users",
    role: "LimitedAdministrator",
    flags: { authz_users: 1 },
    sees: ["/users"],
  },
] as const;

describe.each(who)("$name", ({ role, flags, sees }) => {
  let visit: Visitor;
  beforeAll(async () => {
    visit = await signIn(controller, await controller.makeUser(role, flags));
  });

  test("is offered the pages of their role, and refused the others", async () => {
    for (const path of pages) {
      const { status, text } = await visit.get(path);
      const isTheirs = (sees as readonly string[]).includes(path);
      expect([path, status]).toEqual([path, isTheirs ? 200 : 403]);
      const offered = [...text.matchAll(/<li><a href="(\/\w+)"(?: aria-current="true")?>/g)].map(
        ([, link]) => link,
      );
      expect(offered).toEqual(sees);
    }
  });

  test("is refused by the API's own rule", async () => {
    const allowed = (sees as readonly string[]).flatMap((path) =>
      path === "/users"
        ? ["disable", "add user", "role", "password", "delete user"]
        : path === "/devices"
          ? ["state", "rename", "assign", "delete", "decide", "take back"]
          : [],
    );
    for (const [name, [path, body]] of Object.entries(forms())) {
      if (allowed.includes(name)) continue;
      const page = await visit.post(path, body);
      expect([name, page.status]).toEqual([name, 403]);
      expect(page.text).toContain("Your role does not allow this.");
    }
  });

  test("begins at the first of these pages", async () => {
    const page = await visit.get("/");
    expect(page.location || page.text).toContain(sees[0] ?? "No device is assigned to you.");
  });
});

test("sees no control for a missing right on a page", async () => {
  const panel = await signIn(
    controller,
    await controller.makeUser("LimitedAdministrator", { authz_control_panel: 1 }),
  );
  expect((await panel.get("/keys")).text).not.toMatch(/action="\/keys/);
  expect((await panel.get(`/keys/${key.id}`)).text).not.toMatch(/value="(rotate|revoke)"/);
});

test("an administrator cannot disable themselves or an Owner above them, and is not offered it", async () => {
  const owner = await controller.makeUser("Owner");
  const full = await controller.makeUser("FullAdministrator");
  const visit = await signIn(controller, full);
  const { text } = await visit.get("/users");
  for (const { id } of [owner, full]) {
    expect(text).not.toContain(`value="${id}"`);
    expect((await visit.post("/users", { id, status: "Disabled" })).status).toBe(403);
  }
  expect(text).toContain(`value="${userId}"`);
  expect((await visit.postAndFollow("/users", { id: userId, status: "Disabled" })).text).toContain(
    "The user is disabled",
  );
  expect((await visit.postAndFollow("/users", { id: userId, status: "Active" })).text).toContain(
    "can sign in again",
  );
});

test("a user without administrative rights sees their own devices", async () => {
  const owner = await controller.makeUser("Owner");
  const user = await controller.makeUser("User");
  const body = { device_id: deviceId, user_id: user.id };
  await controller.call("POST", "/device/assign", { headers: owner.headers, body });
  expect((await (await signIn(controller, user)).get("/")).text).toContain("<bdi>laptop</bdi>");
});

test("an API key opens no page", async () => {
  const page = await visitor(controller.url, key.headers).get("/devices");
  expect([page.status, page.location]).toEqual([303, "/?to=%2Fdevices"]);
});

test("every form from another site is refused, for every signed-in user", async () => {
  const visit = await signIn(controller, await controller.makeUser("Owner"));
  const before = await controller.call("GET", "/audit_log?limit=1", key);
  for (const [path, body] of [...Object.values(forms()), ["/signout", ""] as const]) {
    for (const origin of ["https://evil.example", "null", controller.url.replace("http:", "https:")]) {
      const page = await visit.post(path, body, { origin });
      expect([path, page.status]).toEqual([path, 403]);
      expect(page.text).toContain("A page of another site asked for this change.");
    }
  }
  expect(await controller.call("GET", "/audit_log?limit=1", key)).toMatchObject({ json: before.json });
  const { status } = await fetch(`${controller.url}/devices`, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: forms().state?.[1] ?? "",
    redirect: "manual",
  });
  // A request without a session is redirected to the sign-in form.
  expect(status).toBe(303);
});

describe("an Owner", () => {
  let visit: Visitor;
  beforeAll(async () => {
    visit = await signIn(controller, await controller.makeUser("Owner"));
  });

  test("makes a key that is shown once, rotates its secret, and revokes it", async () => {
    const fields = { name: "sync", days: "9", scope: ["devices:read", "audit:read"] };
    const made = await visit.post("/keys", fields);
    expect([made.status, made.headers.get("cache-control")]).toEqual([201, "no-store"]);
    const [, secret = ""] = /(rck_[0-9a-f-]{36})</.exec(made.text) ?? [];
    const [, id = ""] = /<code data-copy="Id">([^<]+)/.exec(made.text) ?? [];
    const use = (key: string) =>
      controller.call("GET", "/api_keys/me", {
        headers: { authorization: `Basic ${Buffer.from(`${id}:${key}`).toString("base64")}` },
      });
    expect((await use(secret)).json).toMatchObject({ name: "sync", scopes: ["devices:read", "audit:read"] });
    const listed = await visit.get("/keys");
    expect(listed.text).toContain("<bdi>sync</bdi>");
    expect(listed.text).toContain("in 9 days");
    expect(listed.text + (await visit.get(`/keys/${id}`)).text).not.toContain(secret);
    const rotated = await visit.post(`/keys/${id}`, { what: "rotate", hours: "0" });
    const [, next = ""] = /(rck_[0-9a-f-]{36})</.exec(rotated.text) ?? [];
    expect([(await use(secret)).status, (await use(next)).status]).toEqual([401, 200]);
    const revoked = await visit.postAndFollow(`/keys/${id}`, { what: "revoke" });
    expect(revoked.text).toContain("The key is revoked: it no longer works.");
    expect(revoked.text).not.toMatch(/value="(rotate|revoke)"/);
    expect((await use(next)).status).toBe(401);
    expect((await visit.get("/keys")).text).toContain("Revoked and expired");
  });

  test.each([
    [{ days: "400", scope: "devices:read" }, "Keys expire after 365 days at most here."],
    [{ days: "x", scope: "devices:read" }, "The body cannot be used."],
    [{ days: "9", scope: "root" }, "The body cannot be used."],
  ])("gets a sentence for an invalid key: %j", async (fields, words) => {
    const page = await visit.post("/keys", fields);
    expect(page.status).toBe(400);
    expect(page.text).toContain(words);
  });

  test("decides on serial numbers, accepts a list, and removes decisions", async () => {
    const serials = ["PF-1", "PF-2", "", " PF-3 ", "PF-2"].join("\r\n");
    expect((await visit.postAndFollow("/serials", { serials, state: "accepted" })).text).toContain(
      "3 serial numbers decided.",
    );
    const found = await visit.get("/serials?q=pf-&state=accepted");
    expect(found.text.match(/accepted at first contact/g)).toHaveLength(3);
    expect(
      (await visit.postAndFollow("/serials", { what: "take-back", serial: ["PF-1", "PF-3"] })).text,
    ).toContain("2 decisions taken back.");
    expect(
      (await visit.post("/serials", { serials: "To Be Filled By O.E.M.", state: "accepted" })).text,
    ).toContain("Many machines have this serial number");
    expect((await visit.post("/serials", { serials: " ", state: "accepted" })).status).toBe(400);
    expect((await visit.post("/serials", { what: "take-back" })).text).toContain(
      "No serial number is selected.",
    );
    expect((await visit.get("/serials?page=99&state=lost")).status).toBe(200);
  });

  test("pages through the audit log in both directions", async () => {
    for (let round = 0; round < 110; round++) {
      const body = { device_id: deviceId, user_id: round % 2 === 0 ? userId : null };
      const { headers } = await controller.call("POST", "/device/assign", {
        headers: await sessionOf(),
        body,
      });
      expect(headers.get("x-request-id")).not.toBeNull();
    }
    const path = `/audit?target=${deviceId}&code=device.assigned`;
    const rows = (text: string) => [...text.matchAll(/<tr><td><time/g)].length;
    const first = await visit.get(path);
    expect([rows(first.text), first.text.includes('rel="prev"')]).toEqual([100, false]);
    const older = linkIn(first.text, "next");
    const second = await visit.get(older);
    expect([rows(second.text) >= 10, second.text.includes('rel="next"')]).toEqual([true, false]);
    expect(rows((await visit.get(linkIn(second.text, "prev"))).text)).toBe(100);
    expect((await visit.get("/audit?before=x")).status).toBe(400);
    expect((await visit.get("/audit?code=nothing")).text).toContain("Nothing was found.");
  });
});

let session: Record<string, string> | undefined;
async function sessionOf(): Promise<Record<string, string>> {
  session ??= (await controller.makeUser("Owner")).headers;
  return session;
}

const linkIn = (text: string, rel: string): string =>
  (new RegExp(`<a href="([^"]+)" rel="${rel}"`).exec(text)?.[1] ?? "")
    .replaceAll("&amp;", "&")
    .replaceAll("&#x3D;", "=");

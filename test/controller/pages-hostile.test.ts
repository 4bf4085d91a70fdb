import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { repository } from "../support/run.ts";
import { escaped, signIn, type Visitor } from "./pages-support.ts";
import { type TestController, type TestUser, testController } from "./support.ts";

/** Hostile names of devices, users and programs. */
const hostile = [
  `<script>alert(1)</script>`,
  `"><img src=x onerror=alert(1)>`,
  `' onmouseover='alert(1)`,
  "{{layout.who}} {{{this}}}",
  "javascript:alert(1)",
  `</title></textarea></select><svg/onload=alert(1)>`,
  "&lt;b&gt; &amp;",
  "\u202Egnirts desrever",
  "`=`",
];

let controller: TestController;
let owner: TestUser;
let visit: Visitor;
let ids: string[];
beforeAll(async () => {
  controller = await testController();
  owner = await controller.makeUser("Owner");
  visit = await signIn(controller, owner);
  ids = [];
  for (const [index, text] of hostile.entries()) {
    const device = {
      name: text,
      serial: `${text}${index}`,
      device_type: text,
      device_os: text,
      version: text,
    };
    ids.push((await controller.enroll(device)).id);
    const { headers } = owner;
    await controller.call("POST", "/api_keys", { headers, body: { name: text } });
    const user = { email: `u${index}@example.com`, name: text, username: `u${index} ${text}`.slice(0, 64) };
    await controller.call("POST", "/user/upsert", { headers, body: user });
    const auth_decisions = [{ serial: `decided ${text}`, enforce_state: "rejected" }];
    await controller.call("POST", "/device/auth_decisions", { headers, body: { auth_decisions } });
  }
  const devices = ids.map((id, index) => ({ id, state: "rejected", reason: hostile[index] }));
  await controller.call("POST", "/device/state", { headers: owner.headers, body: { devices } });
});

/** Names must not become markup: a page contains only the tags of its templates. */
function expectOnlyText(text: string): void {
  const tags = [...text.matchAll(/<([a-z!/][^>]*)>/gi)].map(([, tag = ""]) => tag);
  for (const tag of tags) {
    expect(tag).not.toMatch(/^(script(?! src="\/assets\/[\w.]+" defer$)|img|svg)/i);
    expect(tag).not.toMatch(/\son\w+\s*=/i);
    expect(tag).not.toMatch(/(href|action)="(?!\/|#)/i);
  }
}

test("lists show hostile text as text", async () => {
  const devices = await visit.get("/devices?state=all");
  const serials = await visit.get("/serials");
  const keys = await visit.get("/keys");
  const users = await visit.get("/users");
  const audit = await visit.get("/audit");
  for (const { status, text } of [devices, serials, keys, users, audit]) {
    expect(status).toBe(200);
    expectOnlyText(text);
  }
  for (const text of hostile) {
    expect(devices.text).toContain(`<bdi>${escaped(text)}</bdi>`);
    expect(devices.text).toContain(`<q class="reason">${escaped(text)}</q>`);
    expect(serials.text).toContain(`value="decided ${escaped(text)}"`);
    expect(keys.text).toContain(`<bdi>${escaped(text)}</bdi>`);
    expect(users.text).toContain(escaped(text));
    expect(audit.text).toContain(escaped(text));
  }
});

test("pages of one device or key and their forms show hostile text as text", async () => {
  for (const [index, id] of ids.entries()) {
    const text = hostile[index] ?? "";
    const page = await visit.get(`/devices/${id}`);
    expectOnlyText(page.text);
    expect(page.text).toContain(`<h1><bdi>${escaped(text)}</bdi>`);
    expect(page.text).toContain(`<title>${escaped(text)} ·`);
    expect(page.text).toContain(`name="name" value="${escaped(text)}"`);
    const found = await visit.get(`/devices?state=all&q=${encodeURIComponent(text)}`);
    expectOnlyText(found.text);
    expect(found.text).toContain(`value="${escaped(text)}"`);
  }
  const device = ids.map((id) => `${id}.2`);
  const confirmation = await visit.post("/devices", { device, state: "accepted", reason: hostile[1] ?? "" });
  expectOnlyText(confirmation.text);
  expect(confirmation.text).toContain(`name="reason" value="${escaped(hostile[1] ?? "")}"`);
});

test("hostile addresses and forms are refused, and their text remains text", async () => {
  for (const text of hostile) {
    const value = encodeURIComponent(text);
    for (const path of [
      `/?to=${value}&said=${value}`,
      `/devices?state=${value}&cursor=${value}&size=${value}`,
      `/serials?q=${value}&state=${value}&page=${value}`,
      `/audit?code=${value}&target=${value}&before=${value}`,
      `/${value.replaceAll("%2F", "")}`,
    ]) {
      const page = await visit.get(path);
      expect(page.status, path).toBeLessThan(500);
      expectOnlyText(page.text);
    }
    const page = await visit.post("/devices", { device: `${text}.1`, state: "accepted" });
    expect([400, 404]).toContain(page.status);
    expectOnlyText(page.text);
  }
  expect(controller.said).toEqual([]);
});

test("a search for control characters or halves of characters is refused with a sentence", async () => {
  for (const q of ["%00", "a%0Ab", "%C2%80"]) {
    const page = await visit.get(`/devices?q=${q}`);
    expect(page.status, q).toBe(400);
    expect(page.text).toContain("The parameters cannot be used.");
  }
});

test("templates print nothing unescaped", () => {
  const folder = join(repository, "templates/controller");
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".hbs")))
    expect(readFileSync(join(folder, file), "utf8"), file).not.toMatch(/\{\{\{|\{\{&/);
});

test("an internal error is a page without its cause", async () => {
  const broken = await testController();
  const inside = await signIn(broken, await broken.makeUser("Owner"));
  await broken.controller.database.note((writer) => writer.schema.dropTable("serials").execute());
  const page = await inside.get("/serials");
  expect(page.status).toBe(500);
  expect(page.text).toContain("The server&#x27;s log has the details.");
  expect(page.text).not.toMatch(/no such table|does not exist|\.ts:|select /);
  expect(broken.said.join()).toContain("serials");
});

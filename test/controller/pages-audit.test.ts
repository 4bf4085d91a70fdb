import { beforeAll, expect, test } from "vitest";
import { signIn, type Visitor, visitor } from "./pages-support.ts";
import { basic, type TestController, type TestUser, testController } from "./support.ts";

let controller: TestController;
let owner: TestUser;
let visit: Visitor;
beforeAll(async () => {
  controller = await testController();
  owner = await controller.makeUser("Owner");
  visit = await signIn(controller, owner);
});

const ask = async (method: string, path: string, body?: object) =>
  (await controller.call(method, path, { headers: owner.headers, ...(body && { body }) })).json;
const newest = async (visitor = visit) => rowsOf((await visitor.get("/audit")).text);

/** Rows as a reader sees them, with the titles of their times. */
const rowsOf = (html: string) =>
  [
    ...html.matchAll(/<tr><td>(.*?)<\/td><td>(.*?)<\/td><td class="event">(.*?)<\/td><td[^>]*>(.*?)<\/td>/g),
  ].map(([, when = "", who = "", event = "", details = ""]) => ({
    when,
    who: textOf(who),
    event: textOf(event),
    details: textOf(details.replaceAll("</p>", "; ")),
    links: [...(event + details).matchAll(/href="([^"]+)"/g)].map(([, href]) => href),
  }));
const textOf = (html: string) =>
  html
    .replace(/<[^>]*>/g, "")
    .replaceAll("&#x27;", "'")
    .replace(/; $/, "")
    .trim();

test("rows about devices have their names and what changed", async () => {
  const { id } = await controller.enroll({ name: "laptop-7", serial: "SN-1007" });
  const one = (state: string, reason?: string) => ({ devices: [{ id, state, ...(reason && { reason }) }] });
  await ask("POST", "/device/state", one("accepted", "Bought in May."));
  await ask("POST", "/device/assign", { device_id: id, user_id: owner.id });
  await ask("POST", "/device/assign", { device_id: id, user_id: null });
  await ask("POST", `/device/${id}`, { name: "front desk" });
  await ask("POST", "/device/state", one("pending"));
  await ask("POST", "/device/state", one("rejected"));
  const rows = (await newest()).slice(0, 7);
  expect(rows.map(({ event, details }) => [event, details].filter(Boolean).join(" | "))).toEqual([
    "Device state changed: front desk | State: pending → rejected",
    "Device state changed: front desk | State: accepted → pending",
    "Device renamed: front desk | Name: laptop-7 → front desk",
    `Device assigned: front desk | Assigned to user: ${owner.email} → none`,
    `Device assigned: front desk | Assigned to user: ${owner.email}`,
    "Device state changed: front desk | State: pending → accepted; Reason: Bought in May.",
    "Device enrolled: front desk | State: pending; Name: laptop-7; Serial number: SN-1007",
  ]);
  expect(rows[4]?.links).toEqual([`/devices/${id}`, `/users/${owner.id}`]);
  expect(rows[0]?.who).toBe(`${owner.email} 127.0.0.1`);
  expect(rows[6]?.who).toBe("device laptop-7 127.0.0.1");
  await ask("DELETE", `/device/${id}`);
  const [deleted] = await newest();
  expect(deleted).toMatchObject({ event: "Device deleted: front desk", links: [] });
});

test("rows about users and failed sign-ins name the user", async () => {
  const { id } = await ask("POST", "/user/upsert", {
    email: "ada@example.com",
    password: "a long password",
    role: "LimitedAdministrator",
    authz_devices: true,
  });
  await visitor(controller.url).post("/signin", { name: "ada@example.com", password: "wrong" });
  await visitor(controller.url).post("/signin", { name: "no one", password: "wrong" });
  const change = (values: object) => ask("POST", "/user/upsert", { id, ...values });
  await change({ role: "FullAdministrator" });
  await change({ password: "another long password" });
  await change({ name: "Ada" });
  await change({ status: "Disabled" });
  await ask("DELETE", `/user/${id}`);
  const rows = (await newest()).slice(0, 8);
  expect(rows.map(({ event, details }) => [event, details].filter(Boolean).join(" | "))).toEqual([
    expect.stringMatching(/^User deleted: ada@example.com \| Name: Ada → none; /),
    "User changed: ada@example.com | Status: Active → Disabled",
    "User changed: ada@example.com | Name: Ada",
    "Password changed: ada@example.com",
    "User changed: ada@example.com | Role: Limited Administrator → Full Administrator",
    "Credentials refused | Reason: the name or id is unknown",
    "Credentials refused: ada@example.com | Reason: the password or secret was wrong",
    expect.stringMatching(
      /^User added: ada@example.com \| .*Role: Limited Administrator; .*Right \(devices\): yes/,
    ),
  ]);
  expect(rows[6]?.who).toBe("unknown sender 127.0.0.1");
});

test("rows about keys and serial numbers name them as they are spelled", async () => {
  const key = await ask("POST", "/api_keys", { name: "nightly", scopes: ["devices:read"] });
  const other = `${key.key.slice(0, -1)}${key.key.endsWith("0") ? "1" : "0"}`;
  await controller.call("GET", "/device", { headers: basic(key.id, other) });
  await ask("POST", `/api_keys/${key.id}/rotate`, { overlap_hours: 0 });
  await ask("POST", `/api_keys/${key.id}`, { disabled: true });
  await ask("DELETE", `/api_keys/${key.id}`);
  const decide = (enforce_state: string) =>
    ask("POST", "/device/auth_decisions", { auth_decisions: [{ serial: "SN-Case-1", enforce_state }] });
  await decide("none");
  await decide("rejected");
  await decide("retain");
  await decide("accepted");
  const rows = (await newest()).slice(0, 8);
  expect(rows.map(({ event, details }) => [event, details].join(" | "))).toEqual([
    expect.stringMatching(/^Serial number decided: SN-Case-1 \| Decision: retain → accepted/),
    expect.stringMatching(/^Serial number decided: SN-Case-1 \| Decision: rejected → retain/),
    expect.stringMatching(/^Serial number decided: SN-Case-1 \| Decision: (none → )?rejected/),
    expect.stringMatching(/^API key revoked: nightly/),
    expect.stringMatching(/^API key changed: nightly \| Disabled: no → yes/),
    expect.stringMatching(/^API key got a new secret: nightly/),
    "Credentials refused: nightly | Reason: the password or secret was wrong",
    expect.stringMatching(
      /^API key created: nightly \| .*Scopes: devices:read; Expires: 2026-06-19 10:00 UTC/,
    ),
  ]);
});

test("a serial number that equals the id of a device does not borrow the device's name", async () => {
  const { id } = await controller.enroll({ name: "server room", serial: "SN-1" });
  await ask("POST", "/device/auth_decisions", {
    auth_decisions: [{ serial: id, enforce_state: "rejected" }],
  });
  expect((await newest())[0]).toMatchObject({ event: `Serial number decided: ${id}`, links: [] });
});

test("the reader is linked only to the pages that their role can open", async () => {
  const { id } = await controller.enroll({ name: "kiosk" });
  const panel = await signIn(
    controller,
    await controller.makeUser("LimitedAdministrator", { authz_control_panel: 1 }),
  );
  const rows = await newest(panel);
  expect(rows.find(({ event }) => event.endsWith(": kiosk"))?.links).toEqual([]);
  expect((await visit.get("/audit")).text).toContain(`href="/devices/${id}"`);
});

test("times are exact without a script, and relative in an attribute for it", async () => {
  await controller.enroll({ name: "clock" });
  controller.setTime(controller.now() + 3 * 3_600_000);
  const [{ when } = { when: "" }] = await newest();
  controller.setTime(controller.now() - 3 * 3_600_000);
  expect(when).toBe(
    '<time datetime="2026-03-21T10:00:00.000Z" title="2026-03-21 10:00:00 UTC" data-ago="3 hours ago">2026-03-21 10:00 UTC</time>',
  );
});

test("events are chosen by name, and other codes remain in the list", async () => {
  const { text } = await visit.get("/audit?code=session.opened");
  expect(text).toContain('<option value="session.opened" selected>Signed in</option>');
  expect(new Set(rowsOf(text).map(({ event }) => event.split(":")[0]))).toEqual(new Set(["Signed in"]));
  expect((await visit.get("/audit?code=other")).text).toContain(
    '<option value="other" selected>other</option>',
  );
});

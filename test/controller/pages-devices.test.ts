import { beforeAll, expect, test } from "vitest";
import { boxOf, signIn, type Visitor } from "./pages-support.ts";
import { type TestController, type TestUser, testController } from "./support.ts";

let controller: TestController;
let owner: TestUser;
let visit: Visitor;
beforeAll(async () => {
  controller = await testController();
  owner = await controller.makeUser("Owner");
  visit = await signIn(controller, owner);
});

const enrollMany = async (count: number, prefix: string) => {
  const ids: string[] = [];
  for (let index = 0; index < count; index++)
    ids.push((await controller.enroll({ name: `${prefix}-${index}`, serial: `SN-${prefix}-${index}` })).id);
  return ids;
};
const stateOf = async (id: string) =>
  (await controller.call("GET", `/device/${id}`, { headers: owner.headers })).json;

test("a handful of devices is accepted without a confirmation, and the page says so", async () => {
  const ids = await enrollMany(3, "few");
  const page = await visit.get("/devices");
  const after = await visit.postAndFollow("/devices?state=pending", {
    device: ids.map((id) => boxOf(page, id)),
    state: "accepted",
    reason: "bought in March",
  });
  expect(after.text).toContain("3 devices accepted.");
  for (const id of ids)
    expect(await stateOf(id)).toMatchObject({
      state: "accepted",
      state_reason: "bought in March",
      version: 2,
    });
  const { json } = await controller.call("GET", `/audit_log?target=${ids[0]}&limit=1`, {
    headers: owner.headers,
  });
  expect(json.audit_log[0]).toMatchObject({
    code: "device.state",
    actor: { kind: "user", name: owner.email },
  });
});

test("more than a handful needs a confirmation", async () => {
  const ids = await enrollMany(6, "many");
  const page = await visit.get("/devices");
  const device = ids.map((id) => boxOf(page, id));
  const asked = await visit.post("/devices?state=pending&q=many", {
    device,
    state: "rejected",
    reason: "stolen <b>",
  });
  expect(asked.status).toBe(200);
  expect(asked.text).toContain("<h1>Reject 6 devices?</h1>");
  expect(asked.text).toContain("stolen &lt;b&gt;");
  for (const id of ids) expect((await stateOf(id)).state).toBe("pending");
  const sure = { device, state: "rejected", reason: "stolen <b>", sure: "yes" };
  const done = await visit.post("/devices?state=pending&q=many", sure);
  expect(done.location).toMatch(/^\/devices\?state=pending&q=many&said=rejected\.6\./);
  expect((await visit.get(done.location)).text).toContain(
    "6 devices rejected, and their serial numbers too.",
  );
  expect(await stateOf(ids[5] ?? "")).toMatchObject({ state: "rejected", state_reason: "stolen <b>" });
});

test("rejected devices in a selection remain rejected, unless the visitor confirms them", async () => {
  const ids = await enrollMany(3, "mixed");
  const [rejected = "", ...others] = ids;
  const reject = { devices: [{ id: rejected, state: "rejected", reason: "Stolen." }] };
  await controller.call("POST", "/device/state", { headers: owner.headers, body: reject });
  const list = await visit.get("/devices?state=all&size=1000");
  const device = ids.map((id) => boxOf(list, id));
  const asked = await visit.post("/devices?state=all", { device, state: "accepted" });
  expect(asked.text).toContain("<h1>Accept 3 devices?</h1>");
  expect(asked.text).toContain("1 rejected device stays so: <bdi>mixed-0</bdi>.");
  const first = await visit.postAndFollow("/devices?state=all", { device, state: "accepted", sure: "yes" });
  expect(first.text).toContain("2 devices accepted.");
  expect((await stateOf(rejected)).state).toBe("rejected");
  const again = ids.map((id) => `${id}.2`);
  const none = await visit.post("/devices", {
    device: [again[0] ?? "", again[0] ?? ""],
    state: "accepted",
    sure: "yes",
  });
  expect([none.status, none.text]).toEqual([400, expect.stringContaining("All of them are rejected")]);
  const all = { device: again, state: "accepted", sure: "yes", include_rejected: "yes" };
  expect((await visit.postAndFollow("/devices?state=all", all)).text).toContain("1 device accepted.");
  expect(await Promise.all([rejected, ...others].map(async (id) => (await stateOf(id)).state))).toEqual(
    Array(3).fill("accepted"),
  );
});

test("rejected serial numbers in a list remain rejected, and are counted", async () => {
  const serials = ["SN-7001", "SN-7002", "SN-7003", "SN-7004", "SN-7005"].join("\n");
  await visit.post("/serials", { serials: serials.slice(0, -8), state: "rejected" });
  const answer = await visit.post("/serials", { serials, state: "accepted" });
  expect([answer.status, answer.text]).toEqual([
    200,
    expect.stringContaining("<h1>4 serial numbers stayed rejected</h1>"),
  ]);
  expect(answer.text).toContain("1 serial number decided.");
  for (const named of ["SN-7001", "SN-7003", "and 1 more"])
    expect(answer.text).toContain(`<bdi>${named}</bdi>`);
  const all = await visit.post("/serials", { serials, state: "accepted", include_rejected: "yes" });
  expect(all.status).toBe(303);
});

test("a device that changed since its list was shown is refused, together with all others", async () => {
  const [one = "", other = ""] = await enrollMany(2, "stale");
  const page = await visit.get("/devices");
  await controller.call("POST", `/device/${one}`, { headers: owner.headers, body: { name: "renamed" } });
  const device = [boxOf(page, one), boxOf(page, other)];
  const answer = await visit.post("/devices", { device, state: "accepted" });
  expect(answer.status).toBe(409);
  expect(answer.text).toContain("Some devices have another version; nothing was changed.");
  expect(answer.text).toContain(`${one}: The device has version 2.`);
  expect((await stateOf(other)).state).toBe("pending");
});

test("a thousand devices are decided at once", async () => {
  const other = await testController();
  const user = await other.makeUser("Owner");
  const inside = await signIn(other, user);
  const { database } = other.controller;
  const rows = Array.from({ length: 1005 }, (_, index) => row(index));
  for (let from = 0; from < rows.length; from += 200)
    await database.note((writer) =>
      writer
        .insertInto("devices")
        .values(rows.slice(from, from + 200))
        .execute(),
    );
  const first = await inside.get("/devices?chosen=all");
  expect(first.text.match(/ checked/g)).toHaveLength(100);
  expect(first.text).toContain("100 of 1,005 devices");
  const all = await inside.get("/devices?size=1000");
  const device = [...all.text.matchAll(/name="device" value="([^"]+)"/g)].map(([, value = ""]) => value);
  expect(device).toHaveLength(1000);
  const fields = { device, state: "accepted", reason: "🙂".repeat(200) };
  expect((await inside.post("/devices", fields)).text).toContain("Accept 1,000 devices?");
  const page = await inside.postAndFollow("/devices", { ...fields, sure: "yes" });
  expect(page.text).toContain("1,000 devices accepted.");
  const rest = await inside.get("/devices");
  expect(rest.text.match(/name="device"/g)).toHaveLength(5);
  const tooMany = await inside.post("/devices", {
    device: [...device, "x.1"],
    state: "accepted",
    sure: "yes",
  });
  expect(tooMany.status).toBe(400);
});

const row = (index: number) => ({
  id: `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`,
  name: `bulk-${index}`,
  state: "pending",
  serial: null,
  serial_key: null,
  public_key: `key-${index}`,
  ipv6: null,
  device_type: null,
  device_os: null,
  controller_id: null,
  owned_by_org: null,
  assigned_to_user: null,
  last_seen: null,
  last_seen_version: null,
  version: 1,
  created_at: "2026-03-21T10:00:00.000Z",
  state_changed_at: "2026-03-21T10:00:00.000Z",
  state_changed_by: null,
  state_reason: null,
  token_digest: null,
});

test("lists can be searched, and have links from page to page", async () => {
  const other = await testController();
  const inside = await signIn(other, await other.makeUser("Owner"));
  const rows = Array.from({ length: 230 }, (_, index) => row(index));
  await other.controller.database.note((writer) => writer.insertInto("devices").values(rows).execute());
  const seen: string[] = [];
  for (let path = "/devices?state=all&q=BULK"; path !== ""; ) {
    const { text } = await inside.get(path);
    seen.push(...[...text.matchAll(/<bdi>(bulk-\d+)<\/bdi>/g)].map(([, name = ""]) => name));
    path =
      /<a href="([^"]+)" rel="next"/.exec(text)?.[1]?.replaceAll("&amp;", "&").replaceAll("&#x3D;", "=") ??
      "";
  }
  expect(seen).toEqual(rows.map(({ name }) => name));
  expect((await inside.get("/devices?q=bulk-22")).text).toContain("11 devices with “bulk-22”");
  expect((await inside.get("/devices?q=%25")).text).toContain("No device matches.");
});

test.each([
  ["", "Choose whether to accept or to reject."],
  ["state=accepted", "No device is selected"],
  ["state=lost&device=x.1", "Choose whether to accept or to reject."],
  ["state=accepted&device=nothing", "Some devices are unknown; nothing was changed."],
  ["state=accepted&device=", "The body cannot be used."],
  [`state=accepted&device=${"0".repeat(36)}.1`, "Some devices are unknown; nothing was changed."],
  [`state=accepted&device=x.1&reason=${"x".repeat(501)}`, "The body cannot be used."],
])("the form %j is answered with a sentence", async (body, words) => {
  const page = await visit.post("/devices", body);
  expect([400, 404]).toContain(page.status);
  expect(page.text).toContain(words);
  expect(page.text).not.toMatch(/\bat .*\.ts:\d/);
});

test("forms have limits of size, number and kind", async () => {
  expect((await visit.post("/devices", `state=accepted&reason=${"x".repeat(300_000)}`)).status).toBe(413);
  expect((await visit.post("/devices", "a&".repeat(3000))).status).toBe(413);
  expect((await visit.post("/devices", "{}", { "content-type": "application/json" })).status).toBe(415);
  expect(
    (await visit.post("/devices", "x", { "content-type": "multipart/form-data; boundary=x" })).status,
  ).toBe(415);
});

test("a device's page shows its details, and changes them", async () => {
  const [id = ""] = await enrollMany(1, "single");
  const path = `/devices/${id}`;
  const renamed = await visit.postAndFollow(path, { what: "rename", name: "front desk" });
  expect(renamed.text).toContain("The device has its new name.");
  expect(renamed.text).toContain(
    '<span class="muted">Name:</span> <bdi>single-0</bdi> → <bdi>front desk</bdi>',
  );
  await visit.postAndFollow(path, { what: "assign", user: owner.id });
  expect((await visit.get(path)).text).toContain(`<dt>Assigned to</dt><dd><bdi>${owner.email}</bdi>`);
  expect((await visit.post(path, { what: "delete" })).status).toBe(409);
  const page = await visit.get(path);
  const back = await visit.post("/devices", { device: boxOf(page, id), state: "rejected", back: "device" });
  expect(back.location).toMatch(new RegExp(`^${path}\\?said=rejected\\.1\\.`));
  expect((await visit.get(`${path}?ask=delete`)).text).toContain("Delete permanently");
  expect((await visit.postAndFollow(path, { what: "delete" })).text).toContain("The device is deleted");
  expect((await visit.get(path)).status).toBe(404);
  expect((await visit.post(path, { what: "explode" })).status).toBe(400);
});

test("unknown addresses are pages, and other methods get the list of allowed ones", async () => {
  for (const path of ["/devices/x", "/nothing", "/devices/%2fx", "/assets/style.css", "/users/1"])
    expect([path, (await visit.get(path)).status]).toEqual([path, path.includes("%2f") ? 400 : 404]);
  const response = await fetch(`${controller.url}/devices`, { method: "DELETE" });
  expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD, POST"]);
  const program = await fetch(`${controller.url}/nothing`);
  expect(program.headers.get("content-type")).toBe("application/problem+json");
  expect((await fetch(`${controller.url}/devices`, { method: "HEAD", redirect: "manual" })).status).toBe(303);
});

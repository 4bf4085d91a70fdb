import { beforeAll, expect, test } from "vitest";
import { signIn, type Visitor, visitor } from "./pages-support.ts";
import { password, type TestController, type TestUser, testController } from "./support.ts";

let controller: TestController;
let owner: TestUser;
let anybody: Visitor;
beforeAll(async () => {
  controller = await testController();
  owner = await controller.makeUser("Owner");
  anybody = visitor(controller.url);
});

const policy =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

test("the sign-in page is a form that works without script", async () => {
  const page = await anybody.get("/");
  expect(page.status).toBe(200);
  expect(page.text).toContain('<form class="door" method="post" action="/signin">');
  expect(page.text).not.toMatch(/<script(?![^>]*src=)|style=|\son\w+=/);
  expect(Object.fromEntries(page.headers)).toMatchObject({
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": policy,
    "cache-control": "no-store",
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
  });
});

test("signing in leads to the devices, or to the requested page", async () => {
  const fields = { name: owner.email.toUpperCase(), password };
  const answer = await anybody.post("/signin", fields);
  expect([answer.status, answer.location]).toEqual([303, "/"]);
  const cookie = answer.headers.get("set-cookie") ?? "";
  expect(cookie).toMatch(/^relcat-session=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/);
  const inside = visitor(controller.url, { cookie: cookie.split(";")[0] ?? "" });
  expect((await inside.get("/")).location).toBe("/devices");
  expect((await anybody.get("/audit?code=device.state")).location).toBe(
    "/?to=%2Faudit%3Fcode%3Ddevice.state",
  );
  expect((await anybody.get("/?to=%2Faudit%3Fcode%3Ddevice.state")).text).toContain(
    'name="to" value="/audit?code&#x3D;device.state"',
  );
  expect((await anybody.post("/signin", { ...fields, to: "/audit?code=device.state" })).location).toBe(
    "/audit?code=device.state",
  );
});

test.each([
  "https://evil.example/",
  "//evil.example/devices",
  "/\\evil.example",
  "/devices/../../x",
  "javascript:alert(1)",
  "/signout",
  "/devices\n/x",
  "",
])("signing in never redirects to %j", async (to) => {
  const { location } = await anybody.post("/signin", { name: owner.email, password, to });
  expect(["/", "/devices/../../x"]).toContain(location);
  expect(new URL(location, controller.url).origin).toBe(controller.url);
});

test("every sign-in error is one sentence, without a Basic challenge", async () => {
  const wrongs = [
    { name: owner.email, password: "wrong" },
    { name: "nobody@example.com", password },
    { name: "", password: "" },
    {},
  ];
  for (const wrong of wrongs) {
    const page = await anybody.post("/signin", wrong as Record<string, string>);
    expect(page.status).toBe(403);
    expect(page.text).toContain("The name or the password is wrong.");
    expect(page.headers.has("www-authenticate")).toBe(false);
    expect(page.headers.has("set-cookie")).toBe(false);
    expect(page.text).not.toContain(password);
  }
});

test("the limit of wrong passwords applies to the pages too", async () => {
  const { url, makeUser } = await testController();
  const { email } = await makeUser("Owner");
  const statuses: number[] = [];
  for (let round = 0; round < 6; round++)
    statuses.push((await visitor(url).post("/signin", { name: email, password: "wrong" })).status);
  expect(statuses).toEqual([403, 403, 403, 403, 403, 429]);
  const page = await visitor(url).post("/signin", { name: email, password });
  expect([page.status, Number(page.headers.get("retry-after")) > 0]).toEqual([429, true]);
  expect(page.text).toMatch(/Ask again in \d+ s\./);
});

test("the limit of logins applies to the pages too", async () => {
  const { url } = await testController({ settings: { limits: { key: 0, address: 0, enrol: 0, login: 2 } } });
  const statuses: number[] = [];
  for (const name of ["a", "b", "c"])
    statuses.push((await visitor(url).post("/signin", { name, password })).status);
  expect(statuses).toEqual([403, 403, 429]);
});

test("a form from another site does not sign a user in", async () => {
  for (const origin of ["https://evil.example", "null", ""]) {
    const page = await anybody.post("/signin", { name: owner.email, password }, { origin });
    expect([page.status, page.headers.has("set-cookie")]).toEqual([403, false]);
    expect(page.text).toContain("A page of another site asked for this change.");
  }
});

test("signing out ends the session, for programs too", async () => {
  const user = await controller.makeUser("Owner");
  const answer = await anybody.post("/signin", { name: user.email, password });
  const cookie = answer.headers.get("set-cookie")?.split(";")[0] ?? "";
  const inside = visitor(controller.url, { cookie });
  const out = await inside.post("/signout", {});
  expect([out.status, out.headers.get("set-cookie")]).toEqual([
    303,
    "relcat-session=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict",
  ]);
  expect((await anybody.get(out.location)).text).toContain("You are signed out.");
  expect((await controller.call("GET", "/user/me", { headers: { cookie } })).status).toBe(401);
});

test("an expired session leads to the sign-in page once, without its cookie, and counts as one failure", async () => {
  const stale = visitor(controller.url, { cookie: `relcat-session=${"A".repeat(43)}` });
  const answer = await stale.get("/devices?state=accepted");
  expect([answer.status, answer.headers.get("set-cookie")]).toEqual([
    303,
    expect.stringContaining("Max-Age=0"),
  ]);
  expect(answer.location).toMatch(/^\/\?to=%2Fdevices%3Fstate%3Daccepted&said=/);
  expect((await anybody.get(answer.location)).text).toContain("Your session has ended");
  const signedIn = await stale.post("/signin", { name: owner.email, password });
  expect(signedIn.headers.get("set-cookie")).toMatch(/^relcat-session=[\w-]{43};/);
});

test("a form changes nothing after twelve hours, and says so", async () => {
  const other = await testController();
  const visit = await signIn(other, await other.makeUser("Owner"));
  const { id } = await other.enroll({ name: "laptop" });
  other.setTime(other.now() + 13 * 3_600_000);
  const answer = await visit.post("/devices", { device: `${id}.1`, state: "accepted" });
  expect(answer.location).toMatch(/^\/\?to=%2Fdevices&said=/);
  expect((await visitor(other.url).get(answer.location)).text).toContain("Nothing was changed.");
});

test("a message is shown only if this server signed it", async () => {
  const forged = ["accepted.3", "accepted.3.00000000000000000000000000000000", "<b>x</b>", "constructor.1.0"];
  for (const said of forged)
    expect((await anybody.get(`/?said=${encodeURIComponent(said)}`)).text).not.toContain('role="status"');
});

test("a controller without TLS shows no form over a network", async () => {
  const { url } = await testController({ serve: { trustedProxies: ["127.0.0.1"] } });
  const page = await visitor(url).get("/", { "x-forwarded-for": "192.0.2.7" });
  expect([page.status, page.text.includes("<form")]).toEqual([403, false]);
  expect(page.text).toContain("Open this page over HTTPS.");
});

test("signing in works behind a proxy with TLS, and the cookie is for TLS only", async () => {
  const { url, makeUser } = await testController({ serve: { trustedProxies: ["127.0.0.1"] } });
  const { email } = await makeUser("Owner");
  const { host } = new URL(url);
  const through = { "x-forwarded-for": "192.0.2.7", "x-forwarded-proto": "https", origin: `https://${host}` };
  const answer = await visitor(url).post("/signin", { name: email, password }, through);
  expect([answer.status, answer.headers.get("set-cookie")]).toEqual([
    303,
    expect.stringContaining("; Secure"),
  ]);
  const inside = visitor(url, { cookie: answer.headers.get("set-cookie")?.split(";")[0] ?? "" });
  expect((await inside.get("/devices", through)).status).toBe(200);
});

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { HtmlValidate } from "html-validate";
import type { Browser, BrowserContextOptions, Page, Response } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { password, type TestController, type TestUser, testController } from "../controller/support.ts";
import { complaintsOf, openContext, picture, startBrowser } from "../support/browser.ts";
import { inTurn } from "../support/effort.ts";

/** The controller's pages in Debian's chromium-headless-shell, under their own policy. */
let browser: Browser;
let controller: TestController;
let owner: TestUser;
let deviceId: string;
let keyId: string;
let userId: string;

const hostile = `<img src=x onerror=alert(1)>"' ${"very-long-name-without-any-break".repeat(6)}`;

beforeAll(async () => {
  browser = await startBrowser();
  controller = await testController({ settings: { organisation: "Northgate devices" } });
  owner = await controller.makeUser("Owner");
  userId = (await controller.makeUser("LimitedAdministrator", { authz_devices: 1 })).id;
  keyId = (await controller.makeKey(undefined, 9)).id;
  for (let index = 0; index < 24; index++) await enroll(`laptop-${index}`);
  deviceId = await enroll(hostile.slice(0, 255));
  const stolen = { id: await enroll("stolen"), state: "rejected", reason: hostile.slice(0, 200) };
  await controller.call("POST", "/device/state", { headers: owner.headers, body: { devices: [stolen] } });
});
afterAll(() => browser?.close());

const enroll = async (name: string) =>
  (
    await controller.enroll({
      name,
      serial: `SN-${name}`.slice(0, 250),
      device_type: "laptop",
      device_os: "linux",
    })
  ).id;

interface Visit {
  page: Page;
  complaints: string[];
  close(): Promise<void>;
}

async function visit(options: BrowserContextOptions = {}): Promise<Visit> {
  const context = await openContext(browser, options);
  const page = await context.newPage();
  const complaints = complaintsOf(page, controller.url);
  return { page, complaints, close: () => context.close() };
}

async function signIn(page: Page): Promise<void> {
  await page.goto(controller.url);
  await page.getByLabel("Email address or user name").fill(owner.email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(/\/devices$/);
}

const said = (page: Page) => page.getByRole("status").first().textContent();

test.each([true, false])(
  "devices can be accepted on the pages, with JavaScript: %s",
  async (javaScriptEnabled) => {
    const { page, complaints, close } = await visit({ javaScriptEnabled });
    const prefix = javaScriptEnabled ? "scripted" : "plain";
    for (let index = 0; index < 8; index++) await enroll(`${prefix}-${index}`);
    await signIn(page);
    await page.getByRole("searchbox").fill(`${prefix}-`);
    await page.getByRole("button", { name: "Search" }).click();
    for (const index of [0, 1]) await page.getByRole("checkbox", { name: `${prefix}-${index}, ` }).check();
    await page.getByLabel("Reason").fill("known");
    await page.getByRole("button", { name: "Accept" }).click();
    expect(await said(page)).toBe("2 devices accepted.");
    if (javaScriptEnabled) await page.getByRole("checkbox", { name: "All on this page" }).check();
    else await page.getByRole("link", { name: "All", exact: true }).first().click();
    await page.getByRole("button", { name: "Reject" }).click();
    expect(await page.locator("h1").textContent()).toBe("Reject 6 devices?");
    await page.getByRole("button", { name: "Reject 6 devices" }).click();
    expect(await said(page)).toBe("6 devices rejected, and their serial numbers too.");
    await page.getByRole("link", { name: /^Accepted/ }).click();
    await page.getByRole("link", { name: `${prefix}-0` }).click();
    await page.getByLabel("Name").fill(`${prefix} renamed`);
    await page.getByRole("button", { name: "Rename" }).click();
    expect(await page.locator("h1").textContent()).toContain(`${prefix} renamed`);
    await page.getByRole("link", { name: "API keys" }).click();
    await page.getByLabel("Name, shown in this list").fill(prefix);
    await page.getByRole("button", { name: "Create the key" }).click();
    expect(await page.locator("[data-copy=Secret]").textContent()).toMatch(/^rck_/);
    await page.getByRole("link", { name: "I have copied it" }).click();
    await page.getByRole("button", { name: "Revoke permanently" }).click();
    expect(await said(page)).toContain("The key is revoked");
    await page.getByRole("button", { name: "Sign out" }).click();
    expect(await said(page)).toBe("You are signed out.");
    expect(complaints).toEqual([]);
    await close();
  },
);

test.each([true, false])(
  "a user is added, disabled and enabled on the pages, with JavaScript: %s",
  async (javaScriptEnabled) => {
    const { page, complaints, close } = await visit({ javaScriptEnabled });
    const name = javaScriptEnabled ? "ann@example.com" : "bo@example.com";
    await signIn(page);
    await page.getByRole("link", { name: "Users" }).click();
    const rights = page.getByRole("group", { name: "Rights of a Limited Administrator" });
    expect(await rights.isVisible()).toBe(false);
    await page.getByRole("radio", { name: "Limited Administrator" }).check();
    await rights.getByRole("checkbox", { name: "Devices" }).check();
    await page.getByLabel("Email address").fill(name);
    await page.getByRole("button", { name: "Add the user" }).click();
    const secret = (await page.locator("[data-copy=Password]").textContent()) ?? "";
    expect(secret).toMatch(/^[\w-]{24}$/);
    await page.getByRole("link", { name: "I have copied it" }).click();
    await page.getByRole("button", { name: "Disable the user" }).click();
    expect(await said(page)).toBe("The user is disabled and signed out everywhere.");
    await page.getByRole("button", { name: "Enable the user" }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Email address or user name").fill(name);
    await page.getByLabel("Password").fill(secret);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForURL(/\/devices$/);
    expect(complaints).toEqual([]);
    await close();
  },
);

test.each([
  [true, "a moment ago"],
  [false, "2026-03-21 10:00 UTC"],
])("times have the exact time as their title, with JavaScript: %s", async (javaScriptEnabled, text) => {
  const { page, close } = await visit({ javaScriptEnabled });
  await signIn(page);
  const time = page.locator("tbody time").first();
  expect([await time.textContent(), await time.getAttribute("title")]).toEqual([
    text,
    "2026-03-21 10:00:00 UTC",
  ]);
  await close();
});

test("filtered devices are neither counted nor sent, and shift selects a range", async () => {
  const { page, complaints, close } = await visit();
  await signIn(page);
  const boxes = page.locator("tbody [type=checkbox]");
  await boxes.nth(2).click();
  await boxes.nth(5).click({ modifiers: ["Shift"] });
  const count = page.locator(".bar output");
  expect(await count.textContent()).toBe("4 chosen");
  await page.getByRole("searchbox").fill("laptop-3");
  expect(await page.locator("tbody tr:visible").count()).toBe(1);
  expect(await count.textContent()).toBe("1 chosen");
  await page.getByRole("checkbox", { name: "All on this page" }).uncheck();
  expect(await count.textContent()).toBe("None chosen");
  await page.getByRole("searchbox").fill("");
  expect(await count.textContent()).toBe("3 chosen");
  expect(complaints).toEqual([]);
  await close();
});

test("every control can be used with the keyboard, shows its focus, and is not covered by the bar", async () => {
  const { page, close } = await visit({ viewport: { width: 1280, height: 600 } });
  await signIn(page);
  await page.keyboard.press("Tab");
  expect(await page.evaluate("document.activeElement.textContent")).toBe("Skip to content");
  for (let step = 0; step < 60; step++) {
    await page.keyboard.press("Tab");
    const { outline, hidden } = await page.evaluate<{ outline: string; hidden: boolean }>(`(() => {
      const element = document.activeElement;
      const bar = document.querySelector(".bar");
      const { bottom } = element.getBoundingClientRect();
      return { outline: getComputedStyle(element).outlineStyle, hidden: !bar.contains(element) && bottom > bar.getBoundingClientRect().top + 1 && !element.closest("footer") };
    })()`);
    expect([step, outline, hidden]).toEqual([step, "solid", false]);
  }
  await close();
});

const paths = () => [
  "/devices",
  "/devices?state=rejected",
  "/devices?state=all&q=nothing-like-it",
  `/devices/${deviceId}`,
  "/serials",
  "/keys",
  `/keys/${keyId}`,
  "/users",
  `/users/${userId}`,
  "/account",
  "/audit",
  "/-net/api/v0/docs",
];

/** Pages behind a form, with the button that leads to each. */
const behindButtons = () =>
  [
    ["confirmation", "/devices?chosen=all", "Reject"],
    ["new key", "/keys", "Create the key"],
    ["new password", `/users/${userId}`, "Set a new password"],
  ] as const;

/**
 * All pages, including those behind a form: sign-in, confirmation, new key and new password.
 * @param column one of the `columns` layouts in which each page is tried by turns
 */
async function eachPage(
  page: Page,
  look: (name: string) => Promise<void>,
  [column, columns] = [0, 1],
): Promise<void> {
  const visits: [name: string, go: () => unknown][] = [
    ["sign-in", () => page.goto(controller.url)],
    ...paths().map((path): [string, () => unknown] => [path, () => page.goto(controller.url + path)]),
    ...behindButtons().map(([name, path, button]): [string, () => unknown] => [
      name,
      async () => {
        await page.goto(controller.url + path);
        await page.getByRole("button", { name: button }).click();
      },
    ]),
  ];
  let isSignedIn = false;
  for (const [name, go] of inTurn(visits, column, columns)) {
    if (name !== "sign-in" && !isSignedIn) {
      await signIn(page);
      isSignedIn = true;
    }
    await go();
    await look(name);
  }
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
interface Violation {
  id: string;
  nodes: { html: string }[];
}

const schemes = ["light", "dark"] as const;
const sizes = (widths: readonly number[]) =>
  widths.flatMap((width) => schemes.map((scheme) => [width, scheme] as const));

test.each(sizes([360, 1280, 2560]))(
  "every page loads without messages and fits %i pixels, %s",
  async (width, colorScheme) => {
    const { page, complaints, close } = await visit({ viewport: { width, height: 900 }, colorScheme });
    const look = async (name: string) => {
      expect(await page.evaluate("document.documentElement.scrollWidth"), name).toBe(width);
      expect(await page.locator("h1").count(), name).toBe(1);
      await picture(page, `controller-${name}-${width}-${colorScheme}`);
    };
    await eachPage(page, look, [schemes.indexOf(colorScheme), schemes.length]);
    expect(complaints).toEqual([]);
    await close();
  },
  180_000,
);

const inspected = sizes([360, 1280]);

test.each(inspected)(
  "no page breaks a rule of accessibility at %i pixels, %s",
  async (width, colorScheme) => {
    // The policy would block axe.
    const { page, close } = await visit({ viewport: { width, height: 900 }, colorScheme, bypassCSP: true });
    const look = async (name: string) => {
      await page.evaluate(axe);
      const { violations } = await page.evaluate<{ violations: Violation[] }>("axe.run()");
      const found = violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
      expect(found, name).toEqual([]);
    };
    const layout = inspected.findIndex((each) => each[0] === width && each[1] === colorScheme);
    await eachPage(page, look, [layout, inspected.length]);
    await close();
  },
  300_000,
);

test("every page is valid HTML", async () => {
  // Checkboxes with one name are a list.
  const shared = ["radio", "button", "reset", "submit", "checkbox"];
  // The rule counts the length of a title before entities are decoded.
  const rules = { "form-dup-name": ["error", { shared }], "long-title": "off" } as never;
  const validator = new HtmlValidate({ extends: ["html-validate:recommended"], rules });
  const { page, close } = await visit({ javaScriptEnabled: false });
  const found: string[] = [];
  let last: Response | undefined;
  page.on("response", (response) => {
    if (response.status() < 300 && response.headers()["content-type"]?.startsWith("text/html"))
      last = response;
  });
  await eachPage(page, async (name) => {
    const { results } = await validator.validateString((await last?.text()) ?? "", name);
    for (const { messages } of results)
      for (const { line, ruleId, message } of messages) found.push(`${name}:${line} ${ruleId} ${message}`);
  });
  expect(found).toEqual([]);
  await close();
});

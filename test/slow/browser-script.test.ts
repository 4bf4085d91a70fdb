import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { picture, type Visit, visit } from "../support/browser.ts";
import { often } from "../support/effort.ts";
import { largeCatalog } from "../support/large.ts";
import { project } from "../support/project.ts";
import { sampleInBrowser } from "../support/sample-site.ts";
import { readTree } from "../support/tree.ts";

/** Tests of the pages' script: filters, their address, copying. */
const sample = sampleInBrowser();
let current: Visit | undefined;

/** Opens a page, and reports errors of the previous one. */
async function open(path: string): Promise<Page> {
  await close();
  current = await sample.site.open(path);
  return current.page;
}

async function close(): Promise<void> {
  expect(current?.complaints ?? []).toEqual([]);
  await current?.close();
  current = undefined;
}

const rows = (page: Page) => page.locator("tbody tr:visible").count();
const names = (page: Page) => page.locator("tbody tr:visible th a > bdi").allTextContents();
const addressOf = (page: Page) => new URL(page.url()).search;

test("each filter narrows the list, and several together narrow it further", async () => {
  const page = await open("page/26.08/");
  const all = await rows(page);
  await page.getByLabel("System").selectOption("Linux");
  const linux = await rows(page);
  expect(linux).toBeLessThan(all);
  await page.getByLabel("Platform").selectOption("KVM");
  expect(await rows(page)).toBe(4);
  await page.getByLabel("Type").selectOption("qcow-efi");
  expect(await rows(page)).toBe(2);
  await page.getByLabel("Version").selectOption("26.08.001");
  expect(await names(page)).toEqual(["northgate-controller-qcow-efi-26.08.001.qcow2.gz"]);
  expect(await page.locator("section.release:visible").count()).toBe(1);
  expect(await page.locator(".filter output").textContent()).toBe(`1 of ${all} artifacts on this page`);
  expect(addressOf(page)).toBe("?version=26.08.001&system=Linux&platform=KVM&type=qcow-efi");
  await picture(page, "filtered");
  await page.getByRole("button", { name: "Clear" }).click();
  expect(await rows(page)).toBe(all);
  expect(addressOf(page)).toBe("");
  expect(await page.getByRole("button", { name: "Clear" }).count()).toBe(0);
  expect(await page.evaluate("document.activeElement.id")).toBe("filter-text");
  await close();
});

test("the text field of a list matches names, platforms and types", async () => {
  const page = await open("page/26.09/");
  const search = page.getByLabel("Filter");
  await search.fill("QCOW efi");
  expect(await names(page)).toEqual(["northgate-controller-qcow-efi-26.09.001.qcow2.gz"]);
  await search.fill("hyper-v");
  expect(await rows(page)).toBe(1);
  await search.fill("powershell");
  expect(await rows(page)).toBe(0);
  expect(await page.locator(".filter output").textContent()).toBe("None of 23 artifacts on this page");
  await close();
});

test("a filtered list has an address", async () => {
  const page = await open("page/26.09/?platform=KVM&q=efi");
  expect(await rows(page)).toBe(1);
  expect(await page.getByLabel("Platform").inputValue()).toBe("KVM");
  expect(await page.getByLabel("Filter").inputValue()).toBe("efi");
  await close();
});

test("an address with an unknown value shows no rows, and says so", async () => {
  const page = await open("page/26.09/?version=19.01.001&unrelated=kept");
  expect(await rows(page)).toBe(0);
  expect(await page.getByLabel("Version").inputValue()).toBe("19.01.001");
  await page.getByRole("button", { name: "Clear" }).click();
  expect(addressOf(page)).toBe("?unrelated=kept");
  expect(await rows(page)).toBe(23);
  await close();
});

test("the back button undoes a selection, or a whole word that was typed", async () => {
  const page = await open("page/26.09/");
  await page.getByLabel("Platform").selectOption("KVM");
  await page.getByLabel("Filter").pressSequentially("efi");
  expect(await rows(page)).toBe(1);
  await page.goBack();
  expect(addressOf(page)).toBe("?platform=KVM");
  await expect.poll(() => rows(page)).toBe(2);
  expect(await page.getByLabel("Filter").inputValue()).toBe("");
  await page.goBack();
  await expect.poll(() => rows(page)).toBe(23);
  await page.goForward();
  await expect.poll(() => rows(page)).toBe(2);
  await close();
});

test("the list keeps its state after a visit to a release", async () => {
  const page = await open("page/26.09/");
  await page.getByLabel("Filter").fill("chart");
  await page.locator("tbody tr:visible th a").click();
  await page.waitForURL(/#p\d+$/);
  await page.goBack();
  await expect.poll(() => rows(page)).toBe(1);
  expect(await page.getByLabel("Filter").inputValue()).toBe("chart");
  await close();
});

test("Enter in the search field stays on the page", async () => {
  const page = await open("page/26.09/");
  await page.getByLabel("Filter").fill("xen");
  await page.keyboard.press("Enter");
  expect(await rows(page)).toBe(1);
  expect(addressOf(page)).toBe("?q=xen");
  await close();
});

/** A button may be painted before its word is parsed; that moves it by less than this. Unit of the Layout Instability API. */
const maxShift = 0.003;

test.each(
  ["", "page/26.09/?type=deb", "releases/26.08.001/"].flatMap((path) => [
    [path, 1280] as const,
    [path, 390] as const,
  ]),
)("no element moves while %j loads, at %i pixels", async (path, width) => {
  current = await sample.site.open("404.html", { viewport: { width, height: 900 } });
  const { page } = current;
  await page.addInitScript(
    "globalThis.shifts = []; new PerformanceObserver((list) => shifts.push(...list.getEntries().map((entry) => entry.value))).observe({ type: 'layout-shift', buffered: true });",
  );
  await page.goto(sample.site.url + path);
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
  const shifts = await page.evaluate<number[]>("shifts");
  expect(shifts.reduce((sum, shift) => sum + shift, 0)).toBeLessThan(maxShift);
  await current.close();
  current = undefined;
});

test("a button copies checksums and commands unchanged, and confirms it", async () => {
  const page = await open("releases/26.09.001/");
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  // An image has the commands of all systems.
  const row = page.locator(".file", { hasText: "qcow-efi" }).first();
  await row.locator("summary").first().click();
  const name = await row.locator("bdi").first().textContent();
  await row.getByRole("button", { name: `Copy SHA-256 of ${name}` }).click();
  const clipboard = () => page.evaluate<string>("navigator.clipboard.readText()");
  await expect.poll(clipboard).toBe(await row.locator("code[data-copy=SHA-256]").textContent());
  expect(await row.getByRole("button").first().textContent()).toBe("Copied");
  expect(await page.locator("main > output").textContent()).toBe("SHA-256 copied");
  await row.locator("summary", { hasText: "Verify" }).click();
  for (const system of ["Linux", "macOS", "PowerShell"]) {
    await row.getByRole("button", { name: `Copy ${system} command of ${name}` }).click();
    await expect.poll(clipboard).toContain(name);
  }
  expect(await clipboard()).toMatch(/^if \(\(Get-FileHash/);
  await row.getByRole("link", { name: /^link to/ }).click();
  await expect.poll(clipboard).toMatch(/\/releases\/26\.09\.001\/#p\d+$/);
  await close();
});

test("a link to a record opens its details", async () => {
  const page = await open("releases/26.09.001/#p104");
  const record = page.locator("#p104");
  await expect.poll(() => record.isVisible()).toBe(true);
  expect(await page.locator(".record:visible").count()).toBe(1);
  await page.evaluate("location.hash = '#p105'");
  await expect.poll(() => page.locator("#p105").isVisible()).toBe(true);
  await close();
});

test.each([
  ["Win32", "Windows"],
  ["MacIntel", "macOS"],
  ["Linux x86_64", "Linux"],
])("a visitor with %s has the files for %s first", async (platform, first) => {
  const page = await open("404.html");
  await page.addInitScript(
    `Object.defineProperties(navigator, { platform: { value: ${JSON.stringify(platform)} }, userAgentData: { value: undefined } })`,
  );
  await page.goto(sample.site.url);
  const [heading] = await page.locator("h2").allTextContents();
  expect(heading?.replace(/\s+/g, " ")).toBe(`${first} your system`);
  expect((await page.locator(".own .button").first().boundingBox())?.y).toBeLessThan(600);
  await close();
});

test("a visitor with a telephone has no group first", async () => {
  const page = await open("404.html");
  await page.addInitScript(
    "Object.defineProperties(navigator, { platform: { value: 'Linux armv8l' }, userAgentData: { value: undefined }, userAgent: { value: 'Mozilla/5.0 (Linux; Android 15)' } })",
  );
  await page.goto(sample.site.url);
  expect(await page.locator(".own").count()).toBe(0);
  await close();
});

test("on a narrow screen, tabs show downloads or notes", async () => {
  const page = await open("releases/26.09.001/");
  await page.setViewportSize({ width: 390, height: 800 });
  const [downloads, notes] = [page.locator("#downloads"), page.locator("#notes")];
  expect([await downloads.isVisible(), await notes.isVisible()]).toEqual([true, false]);
  await page.getByRole("navigation", { name: "On this page" }).getByText("Release notes").click();
  await expect.poll(() => notes.isVisible()).toBe(true);
  expect(await downloads.isVisible()).toBe(false);
  await page.setViewportSize({ width: 1280, height: 800 });
  expect([await downloads.isVisible(), await notes.isVisible()]).toEqual([true, true]);
  await close();
});

test("a button selects the text if the clipboard is not available", async () => {
  const page = await open("404.html");
  await page.addInitScript("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
  await page.goto(`${sample.site.url}releases/26.09.001/`);
  await page.locator(".file summary").first().click();
  const code = page.locator("code[data-copy]").first();
  await page
    .getByRole("button", { name: /^Copy SHA-256/ })
    .first()
    .click();
  expect(await page.evaluate("String(getSelection())")).toBe(await code.textContent());
  await close();
});

test("the controls of a page have different names", async () => {
  for (const [path, least] of [
    ["", 1],
    ["releases/26.08.002/", 80],
  ] as const) {
    const page = await open(path);
    await page.evaluate("for (const all of document.querySelectorAll('details')) all.open = true");
    const labels = await page.evaluate<string[]>(
      "[...document.querySelectorAll('button[aria-label]')].map((button) => button.ariaLabel)",
    );
    expect(labels.length).toBeGreaterThanOrEqual(least);
    expect(new Set(labels).size).toBe(labels.length);
  }
  await close();
});

const perRelease = often(25, 10);

test(`a page of 100 artifacts among ${400 * perRelease} can be filtered`, async () => {
  const made = project(largeCatalog(perRelease));
  await made.succeed("build");
  const large = await visit(sample.browser, readTree(`${made.folder}/dist`), "/");
  const { page, complaints, close: leave } = await large.open("page/26.07/1/");
  expect(await rows(page)).toBe(100);
  await page.getByLabel("Filter").fill("client-7_26.07.003");
  expect(await rows(page)).toBe(1);
  await page.goto(`${large.url}releases/`);
  await page.getByLabel("Filter").fill("25.01.001");
  await page.getByRole("link", { name: "25.01.001" }).click();
  await page.waitForURL(/25\.01\.001\/$/);
  expect(complaints).toEqual([]);
  await leave();
  await large.stop();
});

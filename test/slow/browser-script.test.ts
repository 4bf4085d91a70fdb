import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { picture, sampleTree, startBrowser, type Visit, type Visited, visit } from "../support/browser.ts";
import { largeCatalog } from "../support/large.ts";
import { project } from "../support/project.ts";
import { readTree } from "../support/tree.ts";

/** Tests of the pages' script: filters, their address, copying. */
let browser: Browser;
let site: Visited;
let current: Visit | undefined;

beforeAll(async () => {
  browser = await startBrowser();
  site = await visit(browser, await sampleTree());
});
afterAll(async () => {
  await site?.stop();
  await browser?.close();
});

/** Opens a page, and reports errors of the previous one. */
async function open(path: string): Promise<Page> {
  await close();
  current = await site.open(path);
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

test("the search covers names, checksums and signers, but not the commands of every artifact", async () => {
  const page = await open("");
  const search = page.getByLabel("Search");
  await search.fill("QCOW efi");
  expect(await names(page)).toEqual(["northgate-controller-qcow-efi-26.09.001.qcow2.gz"]);
  await search.fill("42ab0f74df2a1779");
  expect(await rows(page)).toBe(1);
  await search.fill("releases@example.com");
  expect(await rows(page)).toBeGreaterThan(3);
  for (const command of ["powershell", "sha256sum"]) {
    await search.fill(command);
    expect(await rows(page), command).toBe(0);
  }
  expect(await page.locator(".filter output").textContent()).toBe("None of 23 artifacts on this page");
  await close();
});

test("a filtered list has an address, and links to other months keep the filter", async () => {
  const page = await open("?platform=KVM&q=efi");
  expect(await rows(page)).toBe(1);
  expect(await page.getByLabel("Platform").inputValue()).toBe("KVM");
  expect(await page.getByLabel("Search").inputValue()).toBe("efi");
  await page.getByLabel("Version").selectOption("26.09.001");
  await page.getByRole("navigation", { name: "By month" }).getByRole("link", { name: "26.08" }).click();
  await page.waitForURL(/page\/26\.08\/\?q=efi&platform=KVM$|page\/26\.08\/\?platform=KVM&q=efi$/);
  expect(await rows(page)).toBe(2);
  await close();
});

test("an address with an unknown value shows no rows, and says so", async () => {
  const page = await open("?version=19.01.001&unrelated=kept");
  expect(await rows(page)).toBe(0);
  expect(await page.getByLabel("Version").inputValue()).toBe("19.01.001");
  await page.getByRole("button", { name: "Clear" }).click();
  expect(addressOf(page)).toBe("?unrelated=kept");
  expect(await rows(page)).toBe(23);
  await close();
});

test("the back button undoes a selection, or a whole word that was typed", async () => {
  const page = await open("");
  await page.getByLabel("Platform").selectOption("KVM");
  await page.getByLabel("Search").pressSequentially("efi");
  expect(await rows(page)).toBe(1);
  await page.goBack();
  expect(addressOf(page)).toBe("?platform=KVM");
  await expect.poll(() => rows(page)).toBe(2);
  expect(await page.getByLabel("Search").inputValue()).toBe("");
  await page.goBack();
  await expect.poll(() => rows(page)).toBe(23);
  await page.goForward();
  await expect.poll(() => rows(page)).toBe(2);
  await close();
});

test("the list keeps its state after a visit to a release", async () => {
  const page = await open("");
  await page.getByLabel("Search").fill("chart");
  await page.locator("tbody tr:visible th a").click();
  await page.waitForURL(/#p\d+$/);
  await page.goBack();
  await expect.poll(() => rows(page)).toBe(1);
  expect(await page.getByLabel("Search").inputValue()).toBe("chart");
  await close();
});

test("Enter in the search field stays on the page", async () => {
  const page = await open("");
  await page.getByLabel("Search").fill("xen");
  await page.keyboard.press("Enter");
  expect(await rows(page)).toBe(1);
  expect(addressOf(page)).toBe("?q=xen");
  await close();
});

test.each(["", "?type=deb", "releases/26.08.001/"])("no element moves while %j loads", async (path) => {
  current = await site.open("404.html");
  const { page } = current;
  await page.addInitScript(
    "globalThis.shifts = []; new PerformanceObserver((list) => shifts.push(...list.getEntries().map((entry) => entry.value))).observe({ type: 'layout-shift', buffered: true });",
  );
  await page.goto(site.url + path);
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
  expect(await page.evaluate<number[]>("shifts")).toEqual([]);
  await current.close();
  current = undefined;
});

test("a button copies checksums and commands unchanged, and confirms it", async () => {
  const page = await open("");
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const row = page.locator("tbody tr").first();
  const name = await row.locator("bdi").first().textContent();
  await row.getByRole("button", { name: `Copy SHA-256 of ${name}` }).click();
  const clipboard = () => page.evaluate<string>("navigator.clipboard.readText()");
  await expect.poll(clipboard).toBe(await row.locator("code[data-copy=SHA-256]").textContent());
  expect(await row.getByRole("button").first().textContent()).toBe("Copied");
  expect(await page.locator("main > output").textContent()).toBe("SHA-256 copied");
  await row.locator("summary").click();
  for (const system of ["Linux", "macOS", "PowerShell"]) {
    await row.getByRole("button", { name: `Copy ${system} command of ${name}` }).click();
    await expect.poll(clipboard).toContain(name);
  }
  expect(await clipboard()).toMatch(/^if \(\(Get-FileHash/);
  await close();
});

test("a button selects the text if the clipboard is not available", async () => {
  const page = await open("404.html");
  await page.addInitScript("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
  await page.goto(`${site.url}releases/26.09.001/`);
  const code = page.locator("code[data-copy]").first();
  await page
    .getByRole("button", { name: /^Copy SHA-256/ })
    .first()
    .click();
  expect(await page.evaluate("String(getSelection())")).toBe(await code.textContent());
  await close();
});

test("the controls of a page have different names", async () => {
  for (const path of ["", "releases/26.08.002/"]) {
    const page = await open(path);
    await page.evaluate("for (const all of document.querySelectorAll('details')) all.open = true");
    const labels = await page.evaluate<string[]>(
      "[...document.querySelectorAll('button[aria-label]')].map((button) => button.ariaLabel)",
    );
    expect(labels.length).toBeGreaterThan(80);
    expect(new Set(labels).size).toBe(labels.length);
  }
  await close();
});

test("a page of 500 artifacts among 10,000 can be filtered", async () => {
  const made = project(largeCatalog());
  await made.succeed("build");
  const large = await visit(browser, readTree(`${made.folder}/dist`), "/");
  const { page, complaints, close: leave } = await large.open("page/26.07/1/");
  expect(await rows(page)).toBe(500);
  await page.getByLabel("Search").fill("client-7_26.07.003");
  expect(await rows(page)).toBe(1);
  await page.goto(`${large.url}releases/`);
  await page.getByRole("link", { name: "25.01.001" }).click();
  await page.waitForURL(/25\.01\.001\/$/);
  expect(complaints).toEqual([]);
  await leave();
  await large.stop();
});

import type { BrowserContextOptions, Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { serveFolder } from "../service/origin.ts";
import { copyProject, relcat } from "../support/run.ts";
import { sampleInBrowser } from "../support/sample-site.ts";

/** Tasks of people who visit the sample's pages. Each uses only visible text, and counts clicks and searches. */
const sample = sampleInBrowser();
let served: string;

beforeAll(async () => {
  const folder = copyProject(".");
  const { exitCode, stderr } = await relcat(folder, ["build"]);
  expect(exitCode, stderr).toBe(0);
  served = (await serveFolder(`${folder}/dist`)).url;
});

/** A visitor who counts what they do. */
class Visitor {
  steps = 0;
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  async click(name: string | RegExp, within: string = "body"): Promise<void> {
    this.steps++;
    const target = this.page.locator(`${within} :is(a, summary):visible`, { hasText: name }).first();
    await target.click();
  }

  async press(button: string): Promise<void> {
    this.steps++;
    await this.page.getByRole("button", { name: button, exact: true }).click();
  }

  async search(words: string): Promise<void> {
    this.steps++;
    await this.page.getByRole("searchbox", { name: "Search all releases" }).fill(words);
    await this.page.keyboard.press("Enter");
    await this.page.waitForURL(/search\/\?q=/);
  }
}

const visitors: [name: string, options: BrowserContextOptions][] = [
  [1280, true],
  [1280, false],
  [390, true],
  [390, false],
].map(([width, javaScriptEnabled]) => [
  `on ${width} pixels, ${javaScriptEnabled ? "with" : "without"} JavaScript`,
  { viewport: { width: Number(width), height: 900 }, javaScriptEnabled: Boolean(javaScriptEnabled) },
]);

describe.each(visitors)("%s", (_, options) => {
  const allowed = options.javaScriptEnabled ? 2 : 4;

  async function task(work: (visitor: Visitor) => Promise<void>, url = sample.site.url): Promise<void> {
    const context = await sample.browser.newContext(options);
    const visitor = new Visitor(await context.newPage());
    await visitor.page.goto(url);
    await work(visitor);
    expect(visitor.steps).toBeLessThanOrEqual(allowed);
    await context.close();
  }

  test("a visitor finds the newest Windows installer", () =>
    task(async (visitor) => {
      await visitor.click("Windows", ".chips");
      const button = visitor.page
        .locator("section", { has: visitor.page.locator("#windows") })
        .locator(".button");
      expect(await button.first().getAttribute("href")).toMatch(/26\.09\.001.*\.msi$/);
      expect(await button.first().isVisible()).toBe(true);
    }));

  test("a visitor finds the checksum of a file of three releases ago", () =>
    task(async (visitor) => {
      await visitor.click("26.07", ".months");
      await visitor.click(/\.pkg/);
      const sum = visitor.page.locator("code[data-copy='SHA-256']:visible").first();
      expect(await sum.textContent()).toMatch(/^[0-9a-f]{64}$/);
    }));

  test("a visitor learns that a SHA-256 is that of a withdrawn file, or how to find out", () =>
    task(async (visitor) => {
      await visitor.search("ab71365d79221180f1d8fd12ac1fdde7d5fcecf26ce82caf486970ebc893ee67");
      // Text in noscript is found by no text selector.
      const answer = options.javaScriptEnabled
        ? visitor.page.getByText("This file was withdrawn: do not use it.")
        : visitor.page.locator("noscript code", { hasText: "relcat verify FILE" });
      await expect.poll(() => answer.isVisible()).toBe(true);
    }));

  test("a visitor reads what changed since the version before", () =>
    task(async (visitor) => {
      await visitor.click("26.09.001");
      await visitor.click("Changes in");
      const text = await visitor.page.locator("main").innerText();
      expect(text).toContain("after 26.08.002");
      expect(text).toContain("shows its tray icon again");
      expect(text).toContain("No file was removed.");
    }));

  // Only a script can join the notes between any two versions; without it, pages of neighbours are read one by one.
  if (options.javaScriptEnabled)
    test("a visitor reads what changed between any two versions", () =>
      task(async (visitor) => {
        await visitor.click("Compare two versions");
        await visitor.page.getByLabel("From").selectOption("26.06.001");
        await visitor.page.getByLabel("To").selectOption("26.08.002");
        await visitor.press("Compare");
        await visitor.page.getByRole("heading", { name: "Changes from 26.06.001 to 26.08.002" }).waitFor();
        await visitor.page.getByRole("heading", { name: "Release notes of 26.07.001" }).waitFor();
        expect(await visitor.page.title()).toMatch(/^Changes from 26\.06\.001 to 26\.08\.002 · /);
        // It is in the summary of 26.08.002.
        expect(await visitor.page.locator("main").innerText()).toContain("instead of 26.08.001");
      }));

  // The files of this site are below its base URL, as a package repository needs it.
  test("a visitor gets the lines for apt", () =>
    task(async (visitor) => {
      await visitor.click("Linux", ".chips");
      await visitor.click("Install on Ubuntu 22.04");
      const lines = visitor.page.locator("code[data-copy^='lines for Ubuntu']:visible").first();
      expect(await lines.textContent()).toContain("sudo apt-get install northgate-client-");
    }, served));
});

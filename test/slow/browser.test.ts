import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import type { Server } from "node:http";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { copyProject, relcat, repository } from "../support/run.ts";
import { serve } from "../support/serve.ts";
import { readTree, type Tree } from "../support/tree.ts";

/** The sample site in Debian's chromium, below a base path. Screenshots are kept in test/output/. */
const output = join(repository, "test/output");
let tree: Tree;
let url: string;
let server: Server;
let browser: Browser;

beforeAll(async () => {
  const folder = copyProject(".");
  const config = join(folder, "releases/catalog.yaml");
  const base = "base_url: https://downloads.example.com/some/base";
  writeFileSync(config, readFileSync(config, "utf8").replace(/^base_url: .*$/m, base));
  const { exitCode, stderr } = await relcat(folder, ["build"]);
  expect(exitCode, stderr).toBe(0);
  tree = readTree(join(folder, "dist"));
  ({ url, server } = await serve(tree, "/some/base/"));
  mkdirSync(output, { recursive: true });
  const args =
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync";
  browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: args.split(" ") });
}, 60_000);
afterAll(async () => {
  await browser?.close();
  server?.close();
});

/** Opens a page and collects everything that went wrong in it. */
async function open(page: Page, path: string): Promise<string[]> {
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(`${path}: ${message.text()}`));
  page.on("pageerror", (error) => complaints.push(`${path}: ${error.message}`));
  page.on("response", (response) => {
    if (response.status() >= 400) complaints.push(`${path}: ${response.status()} ${response.url()}`);
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(url)) complaints.push(`${path} asks ${request.url()}`);
  });
  await page.goto(url + path);
  return complaints;
}

test.each([
  [360, "dark"],
  [1280, "light"],
] as const)(
  "every page loads in silence and fits %i pixels, %s",
  async (width, colorScheme) => {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
    // The way to the newest release leads away at once; it has a test of its own.
    const leadsAway = "releases/latest/index.html";
    const pages = [...tree.keys()].filter((path) => path.endsWith(".html") && path !== leadsAway);
    for (const path of pages.map((file) => file.replace(/index\.html$/, ""))) {
      const page = await context.newPage();
      expect(await open(page, path)).toEqual([]);
      const needed = await page.evaluate("document.documentElement.scrollWidth");
      expect(needed, path).toBe(width);
      expect(await page.locator("h1").count(), path).toBe(1);
      if (/^$|26\.08\.001\/$|KVM\/$|package\/$/.test(path)) {
        await page.screenshot({ path: join(output, `${path.replace(/\W+/g, "-")}${width}.png`) });
      }
      await page.close();
    }
    await context.close();
  },
  180_000,
);

test("the filter narrows the list and can be linked to", async () => {
  const page = await browser.newPage();
  await open(page, "");
  const rows = () => page.locator("tbody tr:visible").count();
  const all = await rows();
  await page.getByLabel("Search").fill("qcow");
  await expect.poll(rows).toBe(2);
  expect(all).toBeGreaterThan(20);
  const again = await browser.newPage();
  await again.goto(page.url());
  expect(await again.locator("tbody tr:visible").count()).toBe(2);
});

test("without JavaScript everything is there", async () => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await open(page, "");
  expect(await page.locator("tbody tr:visible").count()).toBeGreaterThan(20);
  await page.getByRole("link", { name: "Release notes" }).first().click();
  expect(await page.locator("h1").textContent()).toContain("26.09.001");
  await context.close();
});

test("the newest release has an address of its own", async () => {
  const page = await browser.newPage();
  await open(page, "releases/latest/");
  await page.waitForURL(`${url}releases/26.09.001/`);
});

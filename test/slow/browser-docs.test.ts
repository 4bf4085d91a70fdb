import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { documentationSite } from "../../docs/site/render.ts";
import { complaintsOf, openContext, startBrowser } from "../support/browser.ts";
import { inTurn } from "../support/effort.ts";
import { repository } from "../support/run.ts";
import { serve } from "../support/serve.ts";

/** The documentation's site in a browser. */
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
let browser: Browser;
let site: Awaited<ReturnType<typeof serve>>;

beforeAll(async () => {
  browser = await startBrowser();
  const files = await documentationSite(repository);
  site = await serve(new Map(files.map(({ path, bytes }) => [path, Buffer.from(bytes)])), "/some/base/");
});
afterAll(async () => {
  site?.server.close();
  await browser?.close();
});

async function open(path: string, options: BrowserContextOptions = {}) {
  const context = await openContext(browser, options);
  const page = await context.newPage();
  const complaints = complaintsOf(page, site.url);
  await page.goto(site.url + path);
  return { page, complaints, close: () => context.close() };
}

interface Violation {
  id: string;
  nodes: { html: string }[];
}

const kinds = [
  "",
  "docs/",
  "docs/configuration.html",
  "docs/commands.html",
  "docs/publishing.html",
  "search/?q=precompress",
];
const looks = [360, 1280].flatMap((width) =>
  (["light", "dark"] as const).map((scheme) => [width, scheme] as const),
);

test.each(looks)(
  "every page fits %i pixels, %s, and breaks no rule of accessibility",
  async (width, scheme) => {
    const layout = looks.findIndex((look) => look[0] === width && look[1] === scheme);
    const inspected = inTurn(kinds, layout, looks.length);
    // The policy would block axe.
    const options = { viewport: { width, height: 900 }, colorScheme: scheme, bypassCSP: true };
    const { page, close } = await open("", options);
    for (const path of kinds) {
      await page.goto(site.url + path);
      expect(await page.evaluate<number>("document.documentElement.scrollWidth"), path).toBeLessThanOrEqual(
        width,
      );
      if (!inspected.includes(path)) continue;
      await page.evaluate(axe);
      const { violations } = await page.evaluate<{ violations: Violation[] }>("axe.run()");
      expect(
        violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`)),
        path,
      ).toEqual([]);
    }
    await close();
  },
);

test("the search finds a heading and leads to it, under the page's own policy", async () => {
  const { page, complaints, close } = await open("docs/");
  await page.getByRole("searchbox").fill("precompress");
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "Configuration: precompress" }).click();
  await page.waitForURL(/docs\/configuration\.html#precompress$/);
  expect(await page.locator("#precompress").isVisible()).toBe(true);
  expect(complaints).toEqual([]);
  await close();
});

test("a search without a match says so", async () => {
  const { page, close } = await open("search/?q=nothingofthatname");
  await page.getByText("Nothing was found for “nothingofthatname”.").waitFor();
  await close();
});

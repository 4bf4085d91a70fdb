import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { onePageOfEachKind, sampleTree, startBrowser, type Visited, visit } from "../support/browser.ts";

/** The rules of axe-core over the sample site, with all sections open. */
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
let browser: Browser;
let site: Visited;

beforeAll(async () => {
  browser = await startBrowser();
  site = await visit(browser, await sampleTree());
});
afterAll(async () => {
  await site?.stop();
  await browser?.close();
});

interface Violation {
  id: string;
  nodes: { html: string }[];
}

async function violationsIn(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const { violations } = await page.evaluate<{ violations: Violation[] }>("axe.run()");
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

const widths = [360, 1280];
const schemes = ["light", "dark"] as const;

test.each(widths.flatMap((width) => schemes.map((scheme) => [width, scheme] as const)))(
  "no page breaks a rule of accessibility at %i pixels, %s",
  async (width, colorScheme) => {
    for (const path of onePageOfEachKind) {
      // The policy would block axe; other tests use the pages under it.
      const { page, close } = await site.open(path, {
        viewport: { width, height: 900 },
        colorScheme,
        bypassCSP: true,
      });
      await page.evaluate("for (const all of document.querySelectorAll('details')) all.open = true");
      expect(await violationsIn(page), path).toEqual([]);
      await close();
    }
  },
  300_000,
);

test("axe reports a page that breaks rules", async () => {
  const { page, close } = await site.open("404.html", { bypassCSP: true });
  await page.evaluate(
    "document.documentElement.removeAttribute('lang'); document.querySelector('h1').remove()",
  );
  expect((await violationsIn(page)).map((violation) => violation.split(":")[0])).toEqual([
    "html-has-lang",
    "page-has-heading-one",
  ]);
  await close();
});

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { brandedTree } from "../support/branded.ts";
import { everyKindOfPage, sampleTree, startBrowser, type Visited, visit } from "../support/browser.ts";
import { inTurn } from "../support/effort.ts";

/** The rules of axe-core over the sample site, with all sections open: as it is, and with a brand and own templates. */
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
let browser: Browser;
let sites: Record<"relcat's own" | "branded", Visited>;

beforeAll(async () => {
  browser = await startBrowser();
  sites = {
    "relcat's own": await visit(browser, await sampleTree()),
    branded: await visit(browser, await brandedTree()),
  };
});
afterAll(async () => {
  for (const site of Object.values(sites ?? {})) await site.stop();
  await browser?.close();
});

const pages = {
  "relcat's own": everyKindOfPage,
  // They have all that a brand and the templates of that project change.
  branded: ["", "releases/26.08.001/", "search/?q=client", "404.html"],
};

interface Violation {
  id: string;
  nodes: { html: string }[];
}

async function violationsIn(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const { violations } = await page.evaluate<{ violations: Violation[] }>("axe.run()");
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

const look = (width: number, colorScheme: "light" | "dark") => ({
  viewport: { width, height: 900 },
  colorScheme,
});

/** Both sites have the same layout, so each pair of width and colors is tried on one of them, and by day on every second page. */
const cases = [
  { name: "relcat's own", look: look(1280, "light"), turn: 0 },
  { name: "relcat's own", look: look(390, "dark"), turn: 1 },
  { name: "branded", look: look(390, "light"), turn: 0 },
  { name: "branded", look: look(1280, "dark"), turn: 1 },
] as const;

test.each(cases)(
  "no page breaks a rule of accessibility: $name, $look.viewport.width pixels, $look.colorScheme",
  async ({ name, look, turn }) => {
    // The policy would block axe; other tests use the pages under it.
    const { page, close } = await sites[name].open("404.html", { ...look, bypassCSP: true });
    for (const path of inTurn(pages[name], turn, 2)) {
      // A page that moves on is shown until its target answers, and "no content" leaves it in place.
      const isMoving = path === "releases/latest/";
      if (isMoving) await page.route(/releases\/26/, (route) => route.fulfill({ status: 204 }));
      await page.goto(sites[name].url + path);
      if (isMoving) expect(await page.locator("h1").innerText()).toBe("Newest release");
      await page.unrouteAll();
      await page.evaluate("for (const all of document.querySelectorAll('details')) all.open = true");
      expect(await violationsIn(page), path).toEqual([]);
    }
    await close();
  },
);

test("axe reports a page that breaks rules", async () => {
  const { page, close } = await sites.branded.open("404.html", { bypassCSP: true });
  await page.evaluate(
    "document.documentElement.removeAttribute('lang'); document.querySelector('h1').remove()",
  );
  expect((await violationsIn(page)).map((violation) => violation.split(":")[0])).toEqual([
    "html-has-lang",
    "page-has-heading-one",
  ]);
  await close();
});

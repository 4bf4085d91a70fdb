import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { onePageOfEachKind, picture } from "../support/browser.ts";
import { repository } from "../support/run.ts";
import { sampleInBrowser } from "../support/sample-site.ts";

/** The sample for people who use a keyboard, a screen reader, larger text, or the colors of their system. */
const sample = sampleInBrowser();

const focused = (page: Page) => page.evaluate<number>("controls.indexOf(document.activeElement)");

test.each([
  "",
  "releases/26.09.001/",
  "releases/",
  "search/?q=tar.xz",
  "changes/?from=26.08.001&to=26.09.001",
])("the Tab key reaches each control of %j once, in the order of the page, and leaves it", async (path) => {
  const { page, close } = await sample.site.open(path);
  // Results arrive after the page.
  await page.waitForLoadState("networkidle");
  if (path.includes("?")) await page.locator(".results a").first().waitFor();
  const count = await page.evaluate<number>(
    "(globalThis.controls = [...document.querySelectorAll('a[href], button, input, select, summary')].filter((each) => each.checkVisibility({ visibilityProperty: true }))).length",
  );
  expect(count).toBeGreaterThan(10);
  const reached: number[] = [];
  for (let step = 0; step <= count; step++) {
    await page.keyboard.press("Tab");
    reached.push(await focused(page));
  }
  expect(reached).toEqual([...Array.from({ length: count }, (_, index) => index), -1]);
  await close();
});

test("with the keyboard alone, a visitor searches, opens a file and copies its checksum", async () => {
  const { page, close } = await sample.site.open("");
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const tabTo = async (selector: string) => {
    for (let step = 0; step < 60; step++) {
      if (await page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`)) return;
      await page.keyboard.press("Tab");
    }
    throw new Error(`60 steps do not reach ${selector}`);
  };
  await tabTo("input[type=search]");
  await page.keyboard.type("26.09.001 msi");
  await page.keyboard.press("Enter");
  await page.locator(".found a").first().waitFor();
  await tabTo(".found a[href*='#p']");
  await page.keyboard.press("Enter");
  await page.waitForURL(/#p\d+$/);
  await tabTo(".record:target button.copy");
  await page.keyboard.press("Enter");
  const clipboard = () => page.evaluate<string>("navigator.clipboard.readText()");
  await expect.poll(clipboard).toMatch(/^[0-9a-f]{64}$/);
  await close();
});

test.each([
  ["home", ""],
  ["release", "releases/26.08.001/"],
])("a screen reader meets the same roles and names on the page %s as before", async (name, path) => {
  const { page, close } = await sample.site.open(path);
  const tree = await page.locator("body").ariaSnapshot();
  await expect(`${tree}\n`).toMatchFileSnapshot(join(repository, `test/golden/accessibility/${name}.yaml`));
  await close();
});

test("nothing moves by itself, also for those who did not ask for less motion", async () => {
  await sample.site.openEach(onePageOfEachKind, {}, async (page, path) => {
    const moving = await page.evaluate(
      "[...document.querySelectorAll('*')].filter((each) => { const { animationName, transitionDuration, scrollBehavior } = getComputedStyle(each); return animationName !== 'none' || transitionDuration !== '0s' || scrollBehavior !== 'auto'; }).length",
    );
    expect(moving, path).toBe(0);
  });
});

test("in the colors of the system, a notice, a state and the current page have lines", async () => {
  const { page, close } = await sample.site.open("releases/26.08.001/", { forcedColors: "active" });
  const style = (selector: string, property: string) =>
    page.evaluate(
      `getComputedStyle(document.querySelector(${JSON.stringify(selector)})).getPropertyValue("${property}")`,
    );
  expect(await style("header [aria-current]", "text-decoration-line")).toBe("underline");
  expect(await style(".gone", "border-top-style")).toBe("solid");
  expect(await style(".file .button", "border-top-style")).toBe("solid");
  expect(await style(".withdrawn s", "text-decoration-line")).toBe("line-through");
  await picture(page, "forced-colors");
  await page.goto(`${sample.site.url}releases/`);
  expect(await style(".tag", "border-top-style")).toBe("solid");
  await close();
});

test("pages of each kind fit at 200 % zoom, and with text of twice the size", async () => {
  const zoomed = { viewport: { width: 640, height: 450 }, deviceScaleFactor: 2 };
  await sample.site.openEach(onePageOfEachKind, zoomed, async (page, path) => {
    expect(await page.evaluate("document.documentElement.scrollWidth"), path).toBe(640);
  });
  const large = { viewport: { width: 1280, height: 900 } };
  await sample.site.openEach(onePageOfEachKind, large, async (page, path) => {
    await page.evaluate("document.documentElement.style.fontSize = '32px'");
    expect(await page.evaluate("document.documentElement.scrollWidth"), path).toBe(1280);
  });
});

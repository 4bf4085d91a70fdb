import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { liveProject } from "../intake/import/importing.ts";
import { onePageOfEachKind, picture, visit } from "../support/browser.ts";
import { hostileRecords } from "../support/hostile.ts";
import { sampleInBrowser } from "../support/sample-site.ts";
import { readTree } from "../support/tree.ts";

/** The sample site in Debian's chromium-headless-shell, below a base path. Screenshots are in test/output/. */
const sample = sampleInBrowser();

const valueIn = (page: Page, expression: string) => page.evaluate<unknown>(expression);
const widthOf = (page: Page) => valueIn(page, "document.documentElement.scrollWidth");

test("every page loads without messages and fits 360 pixels", async () => {
  await expectToFit(sample.site.pages, 360, "dark");
}, 180_000);

test.each([
  [360, "light"],
  [1280, "light"],
  [1280, "dark"],
  [2560, "light"],
  [2560, "dark"],
] as const)(
  "pages of each kind load without messages and fit %i pixels, %s",
  async (width, scheme) => {
    await expectToFit(onePageOfEachKind, width, scheme, (page, path) =>
      picture(page, `${path || "home"}-${width}-${scheme}`),
    );
  },
  180_000,
);

async function expectToFit(
  paths: readonly string[],
  width: number,
  colorScheme: "light" | "dark",
  look?: (page: Page, path: string) => Promise<void>,
): Promise<void> {
  const options = { viewport: { width, height: 900 }, colorScheme };
  await sample.site.openEach(paths, options, async (page, path, complaints) => {
    expect(complaints).toEqual([]);
    expect(await widthOf(page), path).toBe(width);
    expect(await page.locator("h1").count(), path).toBe(1);
    await look?.(page, path);
  });
}

test("pages with hostile values load without messages and fit 360 pixels", async () => {
  const made = liveProject(hostileRecords());
  await made.succeed("import", "live.json", "--accept-violations");
  await made.succeed("build", "--released");
  const hostile = await visit(sample.browser, readTree(`${made.folder}/dist`), "/");
  const viewport = { width: 360, height: 900 };
  await hostile.openEach(hostile.pages, { viewport }, async (page, path, complaints) => {
    const heights = await page.evaluate<number[]>(
      "[...document.querySelectorAll('tr[data-type], .file')].map((row) => row.getBoundingClientRect().height)",
    );
    expect(Math.max(0, ...heights), path).toBeLessThan(1000);
    await page.evaluate("for (const all of document.querySelectorAll('details')) all.open = true");
    expect(complaints, path).toEqual([]);
    expect(await widthOf(page), path).toBe(360);
    if (path.includes("26.08")) await picture(page, `hostile-${path}`);
  });
  await hostile.stop();
});

test("a page without JavaScript has all its content, and no control that would not work", async () => {
  const { page, complaints, close } = await sample.site.open("", { javaScriptEnabled: false });
  expect(await page.locator("tbody tr:visible").count()).toBeGreaterThan(20);
  expect(await page.locator("search:visible, main button:visible").count()).toBe(0);
  await picture(page, "without-script");
  await page.getByRole("link", { name: "26.09.001" }).first().click();
  await page.waitForURL(/releases\/26\.09\.001\/$/);
  expect(await page.locator("h1").textContent()).toContain("26.09.001");
  expect([await page.locator("#downloads").isVisible(), await page.locator("#notes").isVisible()]).toEqual([
    true,
    true,
  ]);
  const file = page.locator(".file").first();
  await file.locator("summary").first().click();
  await file.locator("summary", { hasText: "Verify" }).click();
  expect(await file.locator("details details code:visible").count()).toBeGreaterThanOrEqual(2);
  expect(complaints).toEqual([]);
  await close();
});

test("a withdrawn artifact is first, struck out, with its replacement and without a link", async () => {
  const { page, close } = await sample.site.open("releases/26.08.001/", {
    viewport: { width: 360, height: 700 },
  });
  const withdrawn = page.locator(".withdrawn");
  expect(
    await valueIn(page, "getComputedStyle(document.querySelector('.withdrawn s')).textDecorationLine"),
  ).toBe("line-through");
  expect((await withdrawn.locator("strong").boundingBox())?.y).toBeLessThan(400);
  expect(await withdrawn.getByRole("link").allTextContents()).toEqual([
    "northgate-client-gui-26.08.002-x64.msi",
  ]);
  await withdrawn.getByRole("link").click();
  await page.waitForURL(/26\.08\.002\/#p93$/);
  await close();
});

test("releases/latest/ leads to the newest release", async () => {
  const { page, close } = await sample.site.open("releases/latest/");
  await page.waitForURL(`${sample.site.url}releases/26.09.001/`);
  await close();
});

test("a printed page has the commands, and no controls", async () => {
  const { page, close } = await sample.site.open("");
  await page.emulateMedia({ media: "print" });
  expect(await page.locator("search:visible, button:visible, summary:visible").count()).toBe(0);
  expect(await page.locator("tbody tr", { hasText: "tar.xz" }).innerText()).toContain("31.2 MiB");
  expect(await page.locator("tbody tr:visible").count()).toBeGreaterThan(20);
  await page.goto(`${sample.site.url}releases/26.08.001/`);
  expect(
    await page.locator("header nav:visible, footer:visible, button:visible, .record summary:visible").count(),
  ).toBe(0);
  const command = page.locator("details code").first();
  expect((await command.boundingBox())?.height).toBeGreaterThan(10);
  expect(await page.locator(".withdrawn:visible").count()).toBe(1);
  // Paper is as narrow as a screen with tabs.
  await page.setViewportSize({ width: 794, height: 1123 });
  expect(await page.locator(".page-tabs:visible").count()).toBe(0);
  expect(await page.locator(".notes:visible").count()).toBe(1);
  await close();
});

test("every control can be used with the keyboard, and shows its focus", async () => {
  const { page, close } = await sample.site.open("page/26.08/");
  await page.keyboard.press("Tab");
  expect(await valueIn(page, "document.activeElement.textContent")).toBe("Skip to content");
  expect((await page.getByText("Skip to content").boundingBox())?.x).toBeGreaterThan(0);
  await page.keyboard.press("Enter");
  const seen = new Set<string>();
  for (let step = 0; step < 40; step++) {
    await page.keyboard.press("Tab");
    const { tag, outline } = await page.evaluate<{ tag: string; outline: string }>(
      "({ tag: document.activeElement.tagName, outline: getComputedStyle(document.activeElement).outlineStyle })",
    );
    expect(outline, tag).toBe("solid");
    seen.add(tag);
  }
  expect([...seen].sort()).toEqual(["A", "INPUT", "SELECT"]);
  await page.goto(`${sample.site.url}releases/26.08.002/`);
  const file = page.locator(".file").first();
  await file.locator("summary").first().focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  expect(await valueIn(page, "document.activeElement.textContent")).toBe("Copy");
  expect(await file.locator("code[data-copy='SHA-256']").isVisible()).toBe(true);
  await close();
});

/** A server sends this much before the client must acknowledge. */
const firstPacketsBytes = 14 * 1024;

/** The longest beginning of a page that arrives with its stylesheet in the first packets. */
function beginningOf(html: Buffer, stylesheet: Buffer): Buffer {
  const free = firstPacketsBytes - gzipSync(stylesheet).length;
  let [fits, tooLong] = [0, html.length + 1];
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2);
    if (gzipSync(html.subarray(0, middle)).length <= free) fits = middle;
    else tooLong = middle;
  }
  return html.subarray(0, fits);
}

/** The element that the browser reports as the largest one, by its words and its area. */
const largestElement = (page: Page) =>
  page.evaluate<{ text: string; size: number }>(
    `new Promise((resolve) => new PerformanceObserver((list) => {
      const { element, size } = list.getEntries().at(-1);
      resolve({ text: element.textContent.trim(), size });
    }).observe({ type: "largest-contentful-paint", buffered: true }))`,
  );

/** Where the headings, paragraphs and buttons of a page are. */
const placesIn = (page: Page) =>
  page.evaluate<object[]>(
    `[...document.querySelectorAll("main :is(h1, h2, h3, p, .button)")].map((each) => each.getBoundingClientRect().toJSON())`,
  );

test.each([
  ["", 390],
  ["", 1280],
  ["releases/26.09.001/", 390],
  ["releases/26.09.001/", 1280],
  ["search/", 390],
  ["search/", 1280],
  ["api/reference/", 390],
  ["api/reference/", 1280],
] as const)(
  "%j at %i pixels has its largest element in the first 14 KB, and nothing moves after them",
  async (path, width) => {
    const { page, close } = await sample.site.open(path, { viewport: { width, height: 900 } });
    const whole = await largestElement(page);
    expect(whole.text).not.toBe("");
    const places = await placesIn(page);
    const bodyOf = async (url: string) => (await page.request.get(url)).body();
    const href = await page.locator("link[rel=stylesheet]").first().getAttribute("href");
    const html = await bodyOf(page.url());
    const beginning = beginningOf(html, await bodyOf(new URL(href ?? "", page.url()).href));
    await page.route(page.url(), (route) => route.fulfill({ contentType: "text/html", body: beginning }));
    await page.reload();
    expect(await largestElement(page)).toEqual(whole);
    // The last one may be cut.
    const begun = (await placesIn(page)).slice(0, -1);
    expect(begun).not.toEqual([]);
    expect(begun).toEqual(places.slice(0, begun.length));
    await close();
  },
);

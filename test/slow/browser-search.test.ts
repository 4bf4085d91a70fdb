import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { sampleInBrowser } from "../support/sample-site.ts";

/** Search over all releases of the sample, from the box in the header of every page. */
const sample = sampleInBrowser();

/** Searches from the home page, and returns the text of the results. */
async function searched(words: string, check: (page: Page, text: string) => Promise<void>): Promise<void> {
  const { page, complaints, close } = await sample.site.open("");
  await page.getByRole("searchbox", { name: "Search all releases" }).fill(words);
  await page.keyboard.press("Enter");
  await page.waitForURL(/search\/\?q=/);
  await page.locator(".results :is(h2, .banner, .muted:not(:empty)):visible").first().waitFor();
  await check(page, await page.locator(".results").innerText());
  expect(complaints).toEqual([]);
  await close();
}

test("a part of a version finds its releases, and a click leads to one", async () => {
  await searched("26.08", async (page) => {
    await page.getByRole("link", { name: "26.08.001", exact: true }).first().click();
    await page.waitForURL(/releases\/26\.08\.001\/$/);
  });
});

test("words of a file's name find the file in older releases, and a click shows its checksum", async () => {
  await searched("26.06 rpm", async (page) => {
    await page.locator(".results li a").first().click();
    await page.waitForURL(/releases\/26\.06\.001\/#p\d+$/);
    const sum = page.locator(".record:target code[data-copy='SHA-256']");
    await expect.poll(() => sum.isVisible()).toBe(true);
    expect(await sum.textContent()).toMatch(/^[0-9a-f]{64}$/);
  });
});

test("words of release notes find the release", async () => {
  await searched("tray icon", async (page, text) => {
    expect(text).toContain("Notes");
    expect(await page.locator(".results li").first().innerText()).toContain("26.09.001");
  });
});

test("a SHA-256 of the catalog is ours", async () => {
  const { page, close } = await sample.site.open("releases/26.06.001/");
  const sum = await page.locator("code[data-copy='SHA-256']").first().textContent();
  await close();
  await searched(` ${sum?.toUpperCase()} `, async (page, text) => {
    expect(text).toContain("This file is ours and was not withdrawn.");
    expect(await page.locator(".results .danger").count()).toBe(0);
    await page.locator(".results li a").first().click();
    await page.waitForURL(/releases\/26\.06\.001\/#p\d+$/);
  });
});

test("a SHA-256 of a withdrawn file is answered with a warning, and a link to its replacement", async () => {
  await searched("ab71365d79221180f1d8fd12ac1fdde7d5fcecf26ce82caf486970ebc893ee67", async (page, text) => {
    expect(text).toContain("This file was withdrawn: do not use it.");
    await page.locator(".results li a").first().click();
    await page.waitForURL(/releases\/26\.08\.001\/#p70$/);
    expect(await page.locator(".withdrawn:target").innerText()).toContain(
      "northgate-client-gui-26.08.002-x64.msi",
    );
  });
});

test("an unknown SHA-256 is not ours", async () => {
  await searched("0".repeat(64), async (_, text) => {
    expect(text).toContain("No file of ours has this SHA-256");
  });
});

test("words without results are named", async () => {
  await searched("no-such-word <b>", async (_, text) => {
    expect(text.trim()).toBe("Nothing was found for \u201Cno-such-word <b>\u201D.");
  });
});

test("an index that cannot be loaded is reported", async () => {
  const { page, close } = await sample.site.open("404.html");
  await page.route("**/search/index.json", (route) => route.abort());
  await page.goto(`${sample.site.url}search/?q=client`);
  await page.locator(".results .banner").waitFor();
  expect(await page.locator(".results").innerText()).toContain("could not be loaded. Try again later.");
  await close();
});

test("without JavaScript, the page says how to find a file and how to check one", async () => {
  const { page, close } = await sample.site.open("search/", { javaScriptEnabled: false });
  const text = await page.locator("main").innerText();
  expect(text).toContain("relcat verify FILE");
  await page.getByRole("link", { name: "all releases", exact: true }).first().click();
  await page.waitForURL(/releases\/$/);
  await close();
});

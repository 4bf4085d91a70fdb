import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { rpmOf } from "../site/feeds/rpms.ts";
import { allFeeds } from "../support/all-feeds.ts";
import { picture, startBrowser, type Visited, visit } from "../support/browser.ts";
import { artifact } from "../support/project.ts";
import { readTree } from "../support/tree.ts";

/** Home and the page of feeds, with thirteen files for two architectures and every package feed. */
const version = "26.11.002";
let browser: Browser;
let site: Visited;

beforeAll(async () => {
  browser = await startBrowser();
  const suites = { focal: "20.04", jammy: "22.04" };
  const made = await allFeeds({
    product: "Northwind Agent",
    feeds: { apt: { suites }, yum: {}, helm: { oci: true }, incus: {} },
  });
  const archs = ["arm64", "amd64"];
  const names = ["northwind-agent", "northwind-plugins"];
  const debs = names.flatMap((name) =>
    archs.map((arch) => {
      const control = `Package: ${name}\nVersion: 26.11.2\nArchitecture: ${arch}\nDescription: The agent`;
      return { name: `${name}_26.11.2_${arch}.deb`, type: "deb", package: { type: "deb", arch, control } };
    }),
  );
  const rpms = archs.map((arch) => {
    const native_arch = arch === "amd64" ? "x86_64" : "aarch64";
    const metadata = rpmOf({ name: "northwind-agent", version: "26.11.2", arch, native_arch });
    return { name: `northwind-agent-26.11.2-1.${native_arch}.rpm`, type: "rpm", package: metadata };
  });
  const product = {
    product_name: "Northwind Agent",
    manufacturer: "Northwind",
    product_version: "26.11.2",
    product_code: "{5BB5AD7C-8D2E-4CD0-9A35-6A6A1B8F4B3E}",
    scope: "machine",
  };
  const installers = ["arm64", "i386", "amd64"].map((arch) => ({
    name: `NorthwindAgent-26.11.2-${arch}.msi`,
    type: "msi",
    package: { type: "msi", arch, ...product },
  }));
  const chart = { apiVersion: "v2", name: "northwind", version: "26.11.2" };
  const image = { type: "image", arch: "amd64", format: "incus", content: "container" };
  const files = [
    ...[...debs, ...rpms, ...installers],
    { name: "NorthwindAgent-26.11.2.pkg", type: "pkg" },
    { name: "northwind-26.11.2.tgz", type: "helm", package: { type: "helm", chart } },
    { name: "northwind-appliance-26.11.002.qcow2", type: "qcow" },
    { name: "northwind-appliance-26.11.002.incus.tar.xz", type: "incus", package: image },
  ].map(({ name, type, ...rest }, index) =>
    artifact(name, type, index.toString(16), { size: 12_345_678 * (index + 1), ...rest }),
  );
  expect(files).toHaveLength(13);
  await made.publish(version, files);
  site = await visit(browser, readTree(made.dist), "/");
});
afterAll(async () => {
  await site?.stop();
  await browser?.close();
});

test("the controls of home and of the page of feeds have different names", async () => {
  for (const path of ["", "feeds/"])
    await onPage(path, {}, async (page) => {
      await page.evaluate("for (const all of document.querySelectorAll('details')) all.open = true");
      const labels = await page.evaluate<string[]>(
        "[...document.querySelectorAll('button[aria-label]')].map((button) => button.ariaLabel)",
      );
      expect(labels.length, path).toBeGreaterThan(8);
      expect(new Set(labels).size, path).toBe(labels.length);
    });
});

/** The browser states a system and a machine as Chromium does. */
async function namesFor(machine: { platform: string; architecture: string; bitness: string }) {
  const { page, close } = await site.open("404.html");
  const client = await page.context().newCDPSession(page);
  const userAgentMetadata = { ...machine, platformVersion: "", model: "", mobile: false };
  await client.send("Emulation.setUserAgentOverride", { userAgent: "Test", userAgentMetadata });
  await page.goto(site.url);
  const names = () => page.locator(".own tbody th a > bdi").allTextContents();
  await page.locator(".own").waitFor();
  return { names, close };
}

test.each([
  ["Linux", "arm", "64", "northwind-plugins_26.11.2_arm64.deb"],
  ["Linux", "x86", "64", "northwind-plugins_26.11.2_amd64.deb"],
  ["Windows", "arm", "64", "NorthwindAgent-26.11.2-arm64.msi"],
  ["Windows", "x86", "32", "NorthwindAgent-26.11.2-i386.msi"],
  ["Windows", "", "", "NorthwindAgent-26.11.2-amd64.msi"],
])(
  "a visitor with %s on %s %s has the files for it first",
  async (platform, architecture, bitness, first) => {
    const { names, close } = await namesFor({ platform, architecture, bitness });
    await expect.poll(async () => (await names())[0]).toBe(first);
    expect((await names()).length).toBe(platform === "Linux" ? 6 : 3);
    await close();
  },
);

test.each([
  ["Linux aarch64", "northwind-plugins_26.11.2_arm64.deb"],
  ["Linux i686", "northwind-plugins_26.11.2_amd64.deb"],
])("a browser without such hints has the files for %s first", async (platform, first) => {
  const { page, close } = await site.open("404.html");
  await page.addInitScript(
    `Object.defineProperties(navigator, { platform: { value: ${JSON.stringify(platform)} }, userAgentData: { value: undefined } })`,
  );
  await page.goto(site.url);
  await expect.poll(() => page.locator(".own tbody th a > bdi").first().textContent()).toBe(first);
  await close();
});

const widths = [390, 768, 1100];
const looks = widths.flatMap((width) =>
  (["light", "dark"] as const).map((colorScheme) => ({ viewport: { width, height: 900 }, colorScheme })),
);

async function onPage(
  path: string,
  options: BrowserContextOptions,
  check: (page: Page) => Promise<void>,
): Promise<void> {
  const { page, complaints, close } = await site.open(path, options);
  await check(page);
  expect(complaints).toEqual([]);
  await close();
}

/** The most lines of a head of a column. */
const headLines = (page: Page) =>
  page.evaluate<number>(`Math.max(...[...document.querySelectorAll(".artifacts thead th")].map((cell) => {
    const text = document.createRange();
    text.selectNodeContents(cell);
    return text.getClientRects().length;
  }))`);

const heightOf = (page: Page) => page.evaluate<number>("document.documentElement.scrollHeight");

test.each(looks)("home fits, at $viewport.width pixels, $colorScheme", (look) =>
  onPage("", look, async (page) => {
    await picture(page, `home-13-${look.viewport.width}-${look.colorScheme}`, true);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(look.viewport.width);
    expect(await heightOf(page)).toBeLessThan(2500);
    expect(await headLines(page)).toBeLessThanOrEqual(1);
  }),
);

test("home fits without a script", () =>
  onPage("", { viewport: { width: 390, height: 900 }, javaScriptEnabled: false }, async (page) => {
    expect(await heightOf(page)).toBeLessThan(2500);
  }));

test.each(looks)("the page of feeds fits, at $viewport.width pixels, $colorScheme", (look) =>
  onPage("feeds/", look, async (page) => {
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(look.viewport.width);
    await picture(page, `feeds-13-${look.viewport.width}-${look.colorScheme}`, true);
  }),
);

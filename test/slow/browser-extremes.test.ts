import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { picture, startBrowser, type Visited, visit } from "../support/browser.ts";
import { artifact, type Files, note, project, release } from "../support/project.ts";
import { readTree } from "../support/tree.ts";

/** Catalogs at the edges: empty, all withdrawn, long names, other scripts, a thousand releases. */
let browser: Browser;

beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.close());

const catalog: Files = { "releases/catalog.yaml": { product: "Extreme", require: {} } };
const widths = [390, 1280];

async function built(files: Files, ...commands: string[][]): Promise<Visited> {
  const made = project({ ...catalog, ...files });
  for (const command of commands) await made.succeed(...command);
  await made.succeed("build", "--quiet");
  return visit(browser, readTree(`${made.folder}/dist`), "/");
}

/** Opens pages at both widths, and checks that they have no message and no horizontal overflow. */
async function onPages(
  site: Visited,
  paths: readonly string[],
  check: (page: Page, path: string, width: number) => Promise<void>,
  options: BrowserContextOptions = {},
): Promise<void> {
  for (const width of widths) {
    const look = { ...options, viewport: { width, height: 900 } };
    await site.openEach(paths, look, async (page, path, complaints) => {
      await page.evaluate("for (const all of document.querySelectorAll('details')) all.open = true");
      expect(await page.evaluate("document.documentElement.scrollWidth"), path).toBe(width);
      await check(page, path, width);
      expect(complaints, path).toEqual([]);
    });
  }
}

test("an empty catalog says so on each page, and offers nothing", async () => {
  const site = await built({});
  await onPages(site, ["", "releases/", "releases/latest/"], async (page, path) => {
    expect(await page.locator("main").innerText(), path).toContain("Nothing is released yet.");
    expect(await page.locator("main .button").count(), path).toBe(0);
  });
  await onPages(site, ["platforms/", "search/?q=tool", "feeds/", "api/v1/package/"], async (page, path) => {
    expect(await page.locator("h1:visible").count(), path).toBe(1);
    expect(await page.locator("main .button").count(), path).toBe(0);
  });
  await site.stop();
});

test("a catalog in which all is withdrawn offers nothing for download, and says why", async () => {
  const names = ["tool-26.08.001.msi", "tool-26.08.001.rpm"];
  const files = release(
    "26.08.001",
    names.map((name, index) => artifact(name, name.slice(-3), String(index + 1))),
  );
  const now = ["--now", "2026-09-20T10:00:00Z"];
  const withdrawal = ["retract", "1", "2", "--reason", "Signed with a stolen key.", "--yes", ...now];
  const site = await built(files, ["cut", "--all", ...now], withdrawal);
  await onPages(site, site.pages, async (page, path) => {
    expect(await page.locator(".button, a[href*='/files/']").count(), path).toBe(0);
    if (path === "") expect(await page.locator("main").innerText()).toContain("No release is offered");
    if (path !== "releases/26.08.001/") return;
    expect(await page.locator("main").innerText()).toContain("This whole release was withdrawn");
    expect(await page.getByText("Signed with a stolen key.").first().isVisible()).toBe(true);
    await picture(page, "all-withdrawn");
  });
  await onPages(site, [`search/?q=${"1".repeat(64)}`], async (page) => {
    await page.getByText("This file was withdrawn: do not use it.").waitFor();
  });
  await site.stop();
});

test("file names of 40 and 200 characters break inside their column", async () => {
  const name = (length: number) => `${"northgate".repeat(30).slice(0, length - 4)}.msi`;
  const site = await built(
    release("26.08.001", [artifact(name(40), "msi", "1"), artifact(name(200), "msi", "2")]),
  );
  const paths = ["", "page/26.08/", "releases/26.08.001/", "changes/26.08.001/", "search/?q=northgate"];
  await onPages(site, paths, async (page, path, width) => {
    if (path.startsWith("search")) await page.locator(".found bdi").first().waitFor();
    for (const button of await page.locator(".button:visible").all()) {
      const box = await button.boundingBox();
      expect((box?.x ?? 0) + (box?.width ?? 0), path).toBeLessThanOrEqual(width);
    }
    if (path === "releases/26.08.001/") {
      const [label, button] = [
        await page.locator(".file .name").first().boundingBox(),
        await page.locator(".file .button").first().boundingBox(),
      ];
      expect((label?.x ?? 0) + (label?.width ?? 0)).toBeLessThanOrEqual(button?.x ?? 0);
    }
  });
  await site.stop();
});

test("text from right to left keeps its direction, and leaves that of the page", async () => {
  const summary = "تحديث أمني للعميل 26.08.001";
  const site = await built({
    ...release("26.08.001", [artifact("عميل-26.08.001.msi", "msi", "1")], { summary }),
    "releases/26.08.001/notes/one.yaml": note("הלקוח נפתח שוב אחרי עדכון של `client` (א)."),
  });
  await onPages(site, ["", "page/26.08/", "releases/26.08.001/", "releases/"], async (page, path) => {
    if (path === "releases/26.08.001/") {
      const directions = (selector: string) =>
        page.evaluate<string[]>(
          `[...document.querySelectorAll(${JSON.stringify(selector)})].map((each) => getComputedStyle(each).direction)`,
        );
      expect(await directions(".lead[dir=auto] > p, .lead[dir=auto]")).toContain("rtl");
      expect(await directions(".notes li")).toEqual(["rtl"]);
      await picture(page, "right-to-left");
    }
    expect(await page.evaluate("getComputedStyle(document.querySelector('main')).direction")).toBe("ltr");
  });
  await site.stop();
});

const digits = (number: number, length: number) => String(number).padStart(length, "0");

/** A release of the thousand: ten a month, in ten months of ten years. */
function oneOfThousand(index: number): Files {
  const [year, month] = [17 + Math.floor(index / 100), 1 + (Math.floor(index / 10) % 10)];
  const version = `${year}.${digits(month, 2)}.${digits(1 + (index % 10), 3)}`;
  const file = artifact(`tool-${version}.msi`, "msi");
  return release(version, [{ ...file, sha256: index.toString(16).padStart(64, "0") }]);
}

const thousand = (): Files =>
  Object.assign({}, ...Array.from({ length: 1000 }, (_, index) => oneOfThousand(index)));

test("among 1,000 releases, a visitor finds an old one by the filter and by the search", async () => {
  const site = await built(thousand());
  await onPages(site, [""], async (page) => {
    expect(await page.locator(".button").count()).toBe(1);
  });
  await onPages(site, ["releases/"], async (page) => {
    const rows = page.locator(".month :is(tbody tr, .chips li):visible");
    await page.getByLabel("Filter").fill("17.01.003");
    expect(await rows.count()).toBe(1);
    expect(await page.locator("output[for=find]").innerText()).toContain("1 of 1000 releases");
  });
  await onPages(site, ["search/?q=17.01.003"], async (page) => {
    await page.getByRole("link", { name: "tool-17.01.003.msi" }).waitFor();
  });
  await site.stop();
});

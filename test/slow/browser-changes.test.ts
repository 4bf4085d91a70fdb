import { expect, test } from "vitest";
import { sampleInBrowser } from "../support/sample-site.ts";

/** The list of releases and the comparison of two of them, with JavaScript. */
const sample = sampleInBrowser();

test("two chosen versions are compared: files, and the notes of all releases between them", async () => {
  const { page, complaints, close } = await sample.site.open("changes/");
  await page.getByLabel("From").selectOption("26.06.001");
  await page.getByLabel("To").selectOption("26.08.001");
  await page.getByRole("button", { name: "Compare" }).click();
  await page.getByRole("heading", { name: "Changes from 26.06.001 to 26.08.001" }).waitFor();
  await page.locator(".notes").nth(1).waitFor();
  expect(await page.locator("h2").allInnerTexts()).toEqual([
    "Files",
    "Release notes of 26.08.001",
    "Release notes of 26.07.001",
  ]);
  const text = await page.locator(".results").innerText();
  expect(text).toContain("northgate-client-26.08.001.pkg");
  expect(text).toContain("northgate-client-core-26.06.001.pkg");
  const [changed, kept] = text.split("In both releases");
  expect(changed).not.toContain("xen-26.06.001.xva.gz");
  expect(kept).toContain("xen-26.06.001.xva.gz");
  const links = await page.locator(".notes a[href]").evaluateAll((all) => all.map((each) => each.href));
  expect(links.filter((link) => link.includes("/changes/"))).toEqual([]);
  expect(complaints).toEqual([]);
  await close();
});

test("versions in the wrong order are swapped, and a version is not compared with itself", async () => {
  const { page, close } = await sample.site.open("changes/?from=26.09.001&to=26.07.001");
  await page.getByRole("heading", { name: "Changes from 26.07.001 to 26.09.001" }).waitFor();
  await page.goto(`${sample.site.url}changes/?from=26.07.001&to=26.07.001`);
  await page.getByText("Choose two different versions.").waitFor();
  await close();
});

test("the page of a release's changes leads to other comparisons", async () => {
  const { page, close } = await sample.site.open("changes/26.08.001/");
  await page.getByRole("link", { name: "Compare other versions" }).click();
  await page.getByRole("heading", { name: "Changes from 26.07.001 to 26.08.001" }).waitFor();
  await close();
});

test.each([1280, 390])(
  "the filter of releases/ shows releases of closed months, at %i pixels",
  async (width) => {
    const { page, close } = await sample.site.open("releases/", { viewport: { width, height: 900 } });
    const shown = () => page.locator("tbody tr:visible .version").allInnerTexts();
    await expect.poll(shown).toEqual(["26.09.001"]);
    await page.getByLabel("Filter").fill("26.08");
    await expect.poll(shown).toEqual(["26.08.002", "26.08.001"]);
    expect(await page.locator("output[for=find]").innerText()).toBe("2 of 6 releases on this page");
    await page.getByLabel("Filter").fill("nothing like it");
    await expect.poll(shown).toEqual([]);
    await page.getByLabel("Filter").fill("");
    await expect.poll(shown).toEqual(["26.09.001"]);
    await close();
  },
);

test("without JavaScript, releases/ opens months, and changes/ leads to the releases", async () => {
  const options = { javaScriptEnabled: false };
  const list = await sample.site.open("releases/", options);
  await list.page.getByText("26.07 · 1 release").click();
  await list.page.getByRole("link", { name: "26.07.001" }).click();
  await list.page.waitForURL(/releases\/26\.07\.001\/$/);
  await list.close();
  const compare = await sample.site.open("changes/", options);
  expect(await compare.page.locator("select:visible").count()).toBe(0);
  await compare.page.getByRole("link", { name: "each release" }).click();
  await compare.page.waitForURL(/releases\/$/);
  await compare.close();
});

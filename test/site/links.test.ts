/** @module-tag long */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { copyProject, relcat } from "../support/run.ts";
import { brokenLinks, readTree } from "../support/tree.ts";

test.each(["https://downloads.example.com", "https://downloads.example.com/some/base"])(
  "every link of the sample site resolves below %s",
  async (baseUrl) => {
    const folder = copyProject(".");
    const config = join(folder, "releases/catalog.yaml");
    writeFileSync(config, readFileSync(config, "utf8").replace(/^base_url: .*$/m, `base_url: ${baseUrl}`));
    const { exitCode, stderr } = await relcat(folder, ["build"]);
    expect(exitCode, stderr).toBe(0);
    const tree = readTree(join(folder, "dist"));
    expect(brokenLinks(tree, baseUrl)).toEqual([]);
    expect([...tree.keys()].filter((path) => path.endsWith(".html")).length).toBeGreaterThan(20);
  },
);

test("the crawler finds a broken link", () => {
  const tree = new Map([
    ["index.html", Buffer.from('<a href="releases/">r</a><a href="page/#x">p</a><link href="a.css">')],
    ["page/index.html", Buffer.from('<p id="y"></p><img src="../b.png">')],
    ["feed.atom", Buffer.from('<link href="https://h.example/gone/"/>')],
    ["api.json", Buffer.from('{"url":"https://h.example/none/","x":"https://elsewhere.example/"}')],
  ]);
  expect(brokenLinks(tree, "https://h.example")).toEqual([
    "index.html → releases/",
    "index.html → page/#x (no such id)",
    "index.html → a.css",
    "page/index.html → ../b.png",
    "feed.atom → https://h.example/gone/",
    "api.json → https://h.example/none/",
  ]);
});

/** @module-tag long */
import { beforeAll, expect, test } from "vitest";
import { largeCatalog } from "../support/large.ts";
import { project } from "../support/project.ts";
import { attribute, elements, jsonOf, readTree, type Tree, textOf } from "../support/tree.ts";

let tree: Tree;

beforeAll(async () => {
  const made = project(largeCatalog());
  await made.succeed("build");
  tree = readTree(`${made.folder}/dist`);
});

const pagesBelow = (folder: string) =>
  [...tree.keys()].filter((path) => path.startsWith(folder) && path.endsWith("index.html"));

const count = (html: string, pattern: RegExp) => html.match(pattern)?.length ?? 0;

test("10,000 records are one JSON document", { tags: ["long"] }, () => {
  expect(jsonOf(tree, "api/v1/package/index.json")).toHaveLength(10_000);
});

test("no page of a list has over 100 artifacts, 30 records or 100 KB", { tags: ["long"] }, () => {
  const lists = ["index.html", "releases/index.html", ...pagesBelow("page/"), ...pagesBelow("platforms/")];
  for (const path of lists) {
    const html = textOf(tree, path);
    expect(count(html, /<tr data-version/g), path).toBeLessThanOrEqual(100);
    expect(html.length, path).toBeLessThan(100_000);
  }
  for (const path of pagesBelow("api/v1/package/")) {
    const html = textOf(tree, path);
    expect(count(html, /"id": /g), path).toBeLessThanOrEqual(30);
    expect(html.length, path).toBeLessThan(100_000);
  }
});

test("each record is on one page of a month, and on one of the browsable list", { tags: ["long"] }, () => {
  const ids = (pages: string[], pattern: RegExp) =>
    pages
      .flatMap((path) => [...textOf(tree, path).matchAll(pattern)].map(([, id]) => Number(id)))
      .sort((a, b) => a - b);
  const all = Array.from({ length: 10_000 }, (_, index) => index + 1);
  expect(ids(pagesBelow("page/"), /<th scope="row"><a href="[^"]*#p(\d+)">/g)).toEqual(all);
  expect(ids(pagesBelow("api/v1/package/"), /"id": <a [^>]*>(\d+)</g)).toEqual(all);
});

test("home has a link to every page of the list, and a month of many pages has links to its parts", {
  tags: ["long"],
}, () => {
  const linked = (page: string) =>
    elements(textOf(tree, page)).flatMap((element) => attribute(element, "href") ?? []);
  const folders = pagesBelow("page/").map((path) => path.replace(/index\.html$/, ""));
  expect(folders.length).toBeGreaterThan(24);
  expect(linked("index.html")).toEqual(expect.arrayContaining(folders));
  expect(linked("page/26.07/index.html")).toEqual(expect.arrayContaining(["1/", "2/", "8/"]));
  expect(linked("page/26.07/1/index.html")).toContain("../");
});

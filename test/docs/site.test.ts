import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { type DefaultTreeAdapterMap, parse } from "parse5";
import { beforeAll, describe, expect, test } from "vitest";
import { anchors } from "../../docs/site/pages.ts";
import { documentationSite, type SiteFile, searchScript } from "../../docs/site/render.ts";
import { repository } from "../support/run.ts";

type Node = DefaultTreeAdapterMap["node"];
type Element = DefaultTreeAdapterMap["element"];

function* elementsOf(node: Node): Generator<Element> {
  if ("tagName" in node) yield node;
  if ("childNodes" in node) for (const child of node.childNodes) yield* elementsOf(child);
}

const attribute = (element: Element, name: string) => element.attrs.find((each) => each.name === name)?.value;

let files: Map<string, SiteFile>;
let pages: [path: string, elements: Element[]][];

beforeAll(async () => {
  files = new Map((await documentationSite(repository)).map((file) => [file.path, file]));
  pages = [...files.values()]
    .filter(({ path }) => path.endsWith(".html"))
    .map(({ path, bytes }) => [path, [...elementsOf(parse(String(bytes)))]]);
});

const template = (name: string) => readFileSync(join(repository, "templates", name), "utf8");

describe("the documentation's site", () => {
  test("has every page of docs/, and the README as its start", () => {
    const paths = pages.map(([path]) => path);
    expect(paths).toEqual(
      expect.arrayContaining(["index.html", "docs/index.html", "docs/commands.html", "docs/ci/index.html"]),
    );
    expect(new Set(paths).size).toBe(paths.length);
  });

  test("lists every page of docs/ and of examples/ on the page of docs/", () => {
    const [, start = []] = pages.find(([path]) => path === "docs/index.html") ?? [];
    const linked = start.map((element) => posix.join("docs", attribute(element, "href") ?? ""));
    const listed = /^docs\/[^/]+\.html$|^(docs|examples)\/[^/]+\/index\.html$/;
    const paths = pages.map(([path]) => path).filter((path) => listed.test(path));
    expect(paths.length).toBeGreaterThan(30);
    expect(paths.filter((path) => path !== "docs/index.html" && !linked.includes(path))).toEqual([]);
  });

  test("has only links that lead to a file and an anchor", () => {
    const ids = new Map(
      pages.map(([path, all]) => [path, new Set(all.map((each) => attribute(each, "id")))]),
    );
    const broken = pages.flatMap(([path, all]) =>
      all.flatMap((element) => {
        const written = attribute(element, "href") ?? attribute(element, "src");
        if (written === undefined || /^(https?|mailto):/.test(written)) return [];
        const [file = "", fragment] = written.split("#");
        const target = file === "" ? path : posix.join(posix.dirname(path), file);
        const isThere = files.has(target) || files.has(posix.join(target, "index.html"));
        const isAnchor =
          fragment === undefined || (ids.get(target)?.has(decodeURIComponent(fragment)) ?? false);
        return isThere && isAnchor ? [] : [`${path} → ${written}`];
      }),
    );
    expect(broken).toEqual([]);
  });

  test("loads nothing from elsewhere", () => {
    for (const [path, all] of pages) {
      const loading = all.filter(({ tagName }) => ["script", "img", "link", "iframe"].includes(tagName));
      const places = loading.map((each) => attribute(each, "src") ?? attribute(each, "href") ?? "inline");
      expect(
        places.filter((place) => /^[a-z]+:|^\/|^inline$/i.test(place)),
        path,
      ).toEqual([]);
      const policy = all.find((each) => attribute(each, "http-equiv") === "Content-Security-Policy");
      expect(policy && attribute(policy, "content"), path).toContain("default-src 'none'");
      expect(
        all.filter((each) => attribute(each, "style") !== undefined),
        path,
      ).toEqual([]);
    }
  });

  test("shares style, scripts and layout with the catalog's pages", () => {
    const texts = [...files.values()]
      .filter(({ path }) => path.startsWith("assets/"))
      .map(({ bytes }) => String(bytes));
    expect(texts.some((text) => text.startsWith(template("style.css")))).toBe(true);
    expect(texts).toContain(template("script.js"));
    expect(texts.some((text) => text.startsWith(template("search.js").slice(0, 500)))).toBe(true);
    const [start = ""] = pages
      .filter(([path]) => path === "index.html")
      .map(([, all]) => all.map(({ tagName }) => tagName).join(" "));
    expect(start).toMatch(/header .*nav .*form .*main .*footer/);
  });

  test("has a search index with the text of each section", () => {
    const { pages: index } = JSON.parse(String(files.get("search/index.json")?.bytes));
    const [, title, sections] = index.find(([path]: string[]) => path === "docs/configuration.html");
    expect(title).toBe("Configuration");
    const [anchor, heading, text] = sections.find(([, name]: string[]) => name === "precompress");
    expect([anchor, heading]).toEqual(["precompress", "precompress"]);
    expect(text).toContain("Encodings of compressed copies.");
  });

  test("has pictures with a description", () => {
    const pictures = pages.flatMap(([, all]) => all.filter(({ tagName }) => tagName === "img"));
    expect(pictures.length).toBeGreaterThan(5);
    expect(pictures.filter((picture) => !attribute(picture, "alt"))).toEqual([]);
  });
});

test.each([
  [["A folder"], ["a-folder"]],
  [
    ["`--out` and -o", "Where, when?"],
    ["--out-and--o", "where-when"],
  ],
  [
    ["Do", "Do"],
    ["do", "do-1"],
  ],
])("the headings %j have the anchors that GitHub gives them", (headings, expected) => {
  const anchor = anchors();
  expect(headings.map((heading) => anchor(heading.replaceAll("`", "")))).toEqual(expected);
});

test("a search script without the shared functions is refused", () => {
  expect(() => searchScript("const a = 1;", "")).toThrow("has no function findChecksum");
});

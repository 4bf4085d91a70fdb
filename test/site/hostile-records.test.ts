import { beforeAll, expect, test } from "vitest";
import { liveProject } from "../intake/import/importing.ts";
import { hidden, hostileRecords, hostileTexts } from "../support/hostile.ts";
import type { Live } from "../support/live-catalog.ts";
import { attribute, brokenLinks, jsonOf, readTree, type Tree, textOf } from "../support/tree.ts";
import { dangers, elementsOf, wordsOf } from "./pages/factory.ts";

/** An imported catalog keeps what its records say, however they say it: every field can be hostile. */
const records = hostileRecords();
let tree: Tree;
let pages: [path: string, html: string][];

beforeAll(async () => {
  const made = liveProject(records);
  await made.succeed("import", "live.json", "--accept-violations");
  await made.succeed("build", "--released");
  tree = readTree(`${made.folder}/dist`);
  pages = [...tree].filter(([path]) => path.endsWith(".html")).map(([path, bytes]) => [path, String(bytes)]);
});

test("the catalog has every record unchanged", () => {
  const shown = records.filter((record) => !JSON.stringify(record).includes(hidden));
  const list: Live[] = jsonOf(tree, "api/v1/package/index.json");
  expect(list.toSorted((a, b) => a.id - b.id)).toEqual(shown);
});

test("no value makes a page run a script, load a file or leave the site", () => {
  expect(pages.length).toBeGreaterThan(8);
  for (const [path, html] of pages) {
    expect(dangers(html), path).toEqual([]);
    const scripts = elementsOf(html, "script").map((script) => attribute(script, "src"));
    const own = ["search", "changes"].filter((name) => path === `${name}/index.html`);
    const expected = ["script", ...own];
    expect(scripts, path).toEqual(
      expected.map((name) => expect.stringMatching(new RegExp(`assets/${name}\\.[0-9a-f]{8}\\.js$`))),
    );
  }
  expect(brokenLinks(tree, "http://127.0.0.1:8080")).toEqual([]);
});

/** Pages show the replacement character for what would act on a terminal. */
const shown = (text: string) => text.replace(/[^\P{Cc}\t\n]/gu, "\uFFFD");

const pagesBelow = (folder: string) =>
  [...tree.keys()].filter((path) => path.startsWith(folder) && path.endsWith("index.html"));

test("a release's page shows descriptions unchanged", () => {
  const words = elementsOf(textOf(tree, "releases/26.08.001/index.html"), "bdi").map(wordsOf);
  for (const text of hostileTexts) expect(words).toContain(shown(text));
});

test("the browsable list shows each value of each field, and keeps its structure", () => {
  const first = textOf(tree, "api/v1/package/index.html");
  for (const part of ["intro", "request", "answer", "months"]) {
    expect(first.split(`<!--${part}-->`), part).toHaveLength(2);
    expect(first.split(`<!--/${part}-->`), part).toHaveLength(2);
  }
  const listed = pagesBelow("api/v1/package/").flatMap((path): Live[] => {
    const answer = wordsOf(elementsOf(textOf(tree, path), "pre")[0] as ReturnType<typeof elementsOf>[0]);
    return JSON.parse(answer.slice(answer.indexOf("[")));
  });
  const list: Live[] = JSON.parse(shown(textOf(tree, "api/v1/package/index.json")));
  expect(listed.toSorted((a, b) => b.id - a.id)).toEqual(list.toSorted((a, b) => b.id - a.id));
});

test("a private record is on no page", () => {
  for (const [path, bytes] of tree) expect(bytes.includes(hidden), path).toBe(false);
});

import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { copyProject, relcat } from "../support/run.ts";
import { elements, jsonOf, readTree, type Tree, textOf } from "../support/tree.ts";

/** test/fixtures/site/small: id 4, client-26.08.001.msi, is retracted and replaced by id 6. */
const file = "client-26.08.001.msi";
const reason = "Removes saved sign-ins when it upgrades.";
const checksum = "3".repeat(64);
let tree: Tree;

beforeAll(async () => {
  const folder = copyProject("site/small");
  const { exitCode, stderr } = await relcat(folder, ["build"]);
  expect(exitCode, stderr).toBe(0);
  tree = readTree(join(folder, "dist"));
});

/** Files that may name a withdrawn file. No other file of the site may. */
const mayNameIt = new Set([
  "api/v1/package/4/gone.json",
  "api/v1/release/26.08.001/index.json",
  "releases/26.08.001/index.html",
  "feed.atom",
  "feed.json",
  "search/index.json",
  // Marked as withdrawn.
  "changes/26.08.001/index.html",
  "changes/26.08.002/index.html",
]);

test("no output offers a retracted artifact", () => {
  const naming = [...tree]
    .filter(([, bytes]) => bytes.includes(file) || bytes.includes(checksum))
    .map(([path]) => path);
  expect(
    naming.filter(
      (path) => !mayNameIt.has(path) && !path.startsWith("search/hash/") && path !== "build.json",
    ),
  ).toEqual([]);
  const linking = [...tree].filter(([, bytes]) =>
    bytes.includes(`https://files.example.com/26.08.001/${file}`),
  );
  expect(linking.map(([path]) => path)).toEqual([]);
  const recordFiles = [...tree.keys()].filter((path) => path.startsWith("api/v1/package/4/"));
  expect(recordFiles).toEqual(["api/v1/package/4/gone.json"]);
});

test("the body of the 410 has the reason and the replacement", () => {
  expect(jsonOf(tree, "api/v1/package/4/gone.json")).toEqual({
    detail: "This package was withdrawn.",
    id: 4,
    name: file,
    reason,
    replaced_by: 6,
  });
});

test("the release document separates it from the packages", () => {
  const document = jsonOf(tree, "api/v1/release/26.08.001/index.json");
  expect(document.packages.map((record: { id: number }) => record.id)).toEqual([5]);
  expect(Object.keys(document.artifacts)).toEqual(["5"]);
  expect(document.retracted).toEqual([
    {
      id: 4,
      name: file,
      file,
      package_type: "msi",
      checksum,
      reason,
      replaced_by: 6,
      at: "2026-08-21T08:30:00.000000Z",
    },
  ]);
});

test("the release page strikes it out, reason first, without a link to the file", () => {
  const html = textOf(tree, "releases/26.08.001/index.html");
  const struck = elements(html).filter((element) => element.tagName === "s");
  expect(struck.length).toBe(1);
  expect(html.indexOf(reason)).toBeGreaterThan(0);
  expect(html.indexOf(reason)).toBeLessThan(html.indexOf(file));
});

test("feeds announce the withdrawal at its own time", () => {
  const atom = textOf(tree, "feed.atom");
  expect(atom).toContain("Withdrawn:");
  expect(atom).toContain("<updated>2026-08-21T08:30:00.000000Z</updated>");
  const entry = jsonOf(tree, "feed.json").items.find((item: { id: string }) => item.id.endsWith("26.08.001"));
  expect(entry.date_modified).toBe("2026-08-21T08:30:00.000000Z");
  expect(entry.content_html).toContain(reason);
});

test("latest is the next file of its type, and checksums leave the withdrawn one out", () => {
  const latest = jsonOf(tree, "api/v1/latest.json");
  expect(
    latest.packages.map((entry: { package_type: string; id: number }) => [entry.package_type, entry.id]),
  ).toEqual([
    ["deb", 2],
    ["deb", 1],
    ["msi", 6],
    ["pkg", 7],
    ["qcow", 5],
  ]);
  expect(textOf(tree, "releases/26.08.001/SHA256SUMS")).toBe(
    `${"4".repeat(64)}  controller-26.08.001.qcow2.gz\n`,
  );
});

test("reinstating restores every file", async () => {
  const folder = copyProject("site/small");
  expect((await relcat(folder, ["reinstate", "4", "--yes"])).exitCode).toBe(0);
  expect((await relcat(folder, ["build"])).exitCode).toBe(0);
  const back = readTree(join(folder, "dist"));
  expect(back.has("api/v1/package/4/gone.json")).toBe(false);
  expect(jsonOf(back, "api/v1/package/4/index.json").checksum).toBe(checksum);
  expect(jsonOf(back, "api/v1/release/26.08.001/index.json").retracted).toEqual([]);
  expect(textOf(back, "feed.atom")).not.toContain("Withdrawn:");
});

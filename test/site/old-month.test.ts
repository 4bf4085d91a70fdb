/** @module-tag long */
import { join } from "node:path";
import { expect, test } from "vitest";
import { artifact, project, release } from "../support/project.ts";
import { jsonOf, readTree, textOf } from "../support/tree.ts";

test("a release of an old month is the first entry of the news feeds, and the date of the pages that list it", async () => {
  const versions = Array.from({ length: 51 }, (_, index) => `27.01.${String(index + 1).padStart(3, "0")}`);
  const files = (version: string) => release(version, [artifact(`tool-${version}.rpm`, "rpm")]);
  const made = project({
    "releases/catalog.yaml": { product: "Acme", base_url: "https://example.com", require: {} },
    ...Object.assign({}, ...versions.map(files)),
  });
  await made.succeed("cut", "--all", "--now", "2026-09-20T10:00:00Z");
  for (const [path, content] of Object.entries(files("26.11.001"))) made.write(path, content);
  const cut = "2026-09-21T10:00:00.000000Z";
  await made.succeed("cut", "26.11.001", "--now", cut);
  await made.succeed("build");
  const tree = readTree(join(made.folder, "dist"));
  const { items } = jsonOf(tree, "feed.json");
  expect(items.map(({ title }: { title: string }) => title)).toEqual(
    ["26.11.001", ...versions.slice(2).reverse()].map((version) => `Acme ${version}`),
  );
  expect(items[0].date_published).toBe(cut);
  const atom = textOf(tree, "feed.atom");
  expect(atom.match(/<title type="text">Acme .*?</g)?.[0]).toContain("26.11.001");
  expect(atom.match(/<updated>.*?</)?.[0]).toBe(`<updated>${cut}<`);
  for (const path of ["", "releases/", "platforms/"])
    expect(textOf(tree, "sitemap.xml")).toContain(
      `<loc>https://example.com/${path}</loc><lastmod>${cut}</lastmod>`,
    );
});

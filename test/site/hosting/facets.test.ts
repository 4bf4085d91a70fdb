import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { indexRecords, type Row } from "../../../pipeline/selection/record-index.ts";
import { largeTables } from "../../../pipeline/site/built-site.ts";
import { facetFiles, facetKeys, facetPath, facetQuery } from "../../../pipeline/site/facets.ts";
import { plainRelease, releases } from "../../support/catalog.ts";
import { largeCatalog } from "../../support/live-catalog.ts";
import { readTree } from "../../support/tree.ts";
import { idsOf, servedSite } from "./catalog.ts";

/** The facets of rows, by path. */
function facetsOf(rows: readonly Row[]): Map<string, string> {
  const records = rows.map((row) => JSON.stringify(row));
  const files = [...facetFiles(facetKeys(rows), indexRecords(rows), records)];
  return new Map(files.map(({ path, chunks }) => [path, Buffer.concat([...chunks]).toString()]));
}

test("a facet has the records that its query names, in the list's order", () => {
  const value = fc.constantFrom(null, "1", "2.0", "A", "a", "not/a/facet");
  const row = fc.record({
    operating_system: fc.constantFrom("linux", "Linux", "a b"),
    package_type: fc.constantFrom("deb", "rpm", "1"),
    min_os_version: value,
    max_os_version: value,
  });
  fc.assert(
    fc.property(fc.array(row, { maxLength: 30 }), (drawn) => {
      const rows: Row[] = drawn.map((fields, id) => ({ id: id + 1, ...fields }));
      const files = facetsOf(rows);
      for (const key of facetKeys(rows)) {
        const asked = [...facetQuery(key)];
        const wanted = rows.filter((each) => asked.every(([name, text]) => each[name] === text));
        expect(idsOf(files.get(facetPath(key)) ?? "")).toEqual(wanted.map(({ id }) => id));
      }
      const paths = [...files.keys()].map((path) => path.toLowerCase());
      expect(new Set(paths).size, "on a disk that ignores case").toBe(files.size);
      expect([...files.keys()].join("\n")).toMatch(/^[a-z0-9./=!_\n-]*$/);
    }),
  );
});

test("all facets of a large catalog have at most the size of 2.2 lists", () => {
  const rows = largeCatalog(2500);
  const list = JSON.stringify(rows).length;
  const total = [...facetsOf(rows).values()].reduce((sum, text) => sum + text.length, 0);
  expect(total / list).toBeGreaterThan(2);
  expect(total / list).toBeLessThan(2.2);
});

describe("the facets of a site", () => {
  test("have no withdrawn or private record", async () => {
    const { tree, ids } = await servedSite("");
    const facets = [...tree].filter(([path]) => path.startsWith("facets/"));
    expect(facets.length).toBeGreaterThan(8);
    const found = new Set(facets.flatMap(([, bytes]) => idsOf(bytes)));
    expect([ids.oldRpm, ids.msi, ids.hidden].filter((id) => found.has(id))).toEqual([]);
    expect([...tree.keys()].filter((path) => path.includes("pkg"))).toEqual([]);
  });

  test("exist only with a host", async () => {
    const { build, out } = releases(plainRelease("26.08.001", ["a.rpm"]));
    await build();
    expect([...readTree(out).keys()].filter((path) => /^(facets|hosting)\//.test(path))).toEqual([]);
  });
});

test("a build names tables that approach the limit of a host", () => {
  const files = [
    { path: "hosting/cloudfront/redirects.json", size: 4_000_001 },
    { path: "hosting/nginx/downloads.map", size: 4_000_000 },
    { path: "api/v1/package.json", size: 9_000_000 },
  ];
  expect(largeTables(files)).toEqual([{ path: "hosting/cloudfront/redirects.json", size: 4_000_001 }]);
});

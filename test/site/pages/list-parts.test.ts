import fc from "fast-check";
import { expect, test } from "vitest";
import { listParts as partsOf } from "../../../pipeline/site/pages/list-parts.ts";
import type { PagePieces } from "../../../pipeline/site/pages/page-pieces.ts";

const most = 500;
const listParts = (pieces: readonly PagePieces[], keepsReleases = true) =>
  partsOf(pieces, { most, keepsReleases });

const piece = (version: string, count: number): PagePieces => ({
  key: version,
  version,
  date: "2026-08-19",
  provisional: false,
  summary: null,
  packages: Array.from({ length: count }, (_, index) => ({ id: index + 1, platform: 1, packageType: "deb" })),
  retracted: [],
  platforms: [],
  summaryHtml: () => "",
  architectures: () => [],
  slices: {
    rows: () => Array.from({ length: count }, (_, index) => `${version} row ${index}`),
  } as unknown as PagePieces["slices"],
});

/** Releases of one month with these numbers of artifacts, newest first. */
const month = (counts: readonly number[], name = "26.08") =>
  counts.map((count, index) => piece(`${name}.${String(counts.length - index).padStart(3, "0")}`, count));

const rowsOf = (pieces: readonly PagePieces[]) =>
  listParts(pieces).flatMap(({ slices }) =>
    slices.flatMap(({ release, from, to }) => release.slices.rows().slice(from, to)),
  );

const shape = (pieces: readonly PagePieces[], keepsReleases?: boolean) =>
  listParts(pieces, keepsReleases).map(({ folder, slices }) => [
    folder,
    ...slices.map(({ release, from, to }) => `${release.version.slice(-1)}: ${from}-${to}`),
  ]);

test("each month is one page", () => {
  expect(shape([...month([2, 0], "26.09"), ...month([3])])).toEqual([
    ["26.09/", "2: 0-2", "1: 0-0"],
    ["26.08/", "1: 0-3"],
  ]);
  expect(listParts(month([3])).map(({ label }) => label)).toEqual(["26.08"]);
});

test("a month of more records has parts, which are filled from its oldest release", () => {
  expect(shape(month([10, 300, 200, 300]))).toEqual([
    ["26.08/", "4: 0-10", "3: 0-300"],
    ["26.08/1/", "2: 0-200", "1: 0-300"],
  ]);
  expect(listParts(month([300, 300])).map(({ label }) => label)).toEqual(["26.08, part 2", "26.08, part 1"]);
});

test("each part but the newest is full if releases may be split", () => {
  expect(shape(month([10, 300, 199, 0, 500]), false)).toEqual([
    ["26.08/", "5: 0-10"],
    ["26.08/2/", "4: 0-300", "3: 0-199", "2: 0-0"],
    ["26.08/1/", "1: 0-500"],
  ]);
  expect(shape(month([400, 300, 300]), false)).toEqual([
    ["26.08/", "3: 0-400", "2: 0-100"],
    ["26.08/1/", "2: 100-300", "1: 0-300"],
  ]);
});

test("a release that is too long for a page has several pages, with its oldest artifacts first", () => {
  expect(shape(month([5, 1200, 5]))).toEqual([
    ["26.08/", "3: 0-5", "2: 0-200"],
    ["26.08/3/", "2: 200-700"],
    ["26.08/2/", "2: 700-1200"],
    ["26.08/1/", "1: 0-5"],
  ]);
});

const counts = fc.array(fc.integer({ min: 0, max: 1300 }), { minLength: 1, maxLength: 12 });

test("every artifact is on one page, in order, and no page has too many", () => {
  fc.assert(
    fc.property(counts, (some) => {
      const pieces = month(some);
      expect(rowsOf(pieces)).toEqual(pieces.flatMap(({ slices }) => slices.rows()));
      const parts = listParts(pieces);
      for (const { slices } of parts)
        expect(slices.reduce((sum, { from, to }) => sum + to - from, 0)).toBeLessThanOrEqual(most);
      expect(new Set(parts.map(({ folder }) => folder)).size).toBe(parts.length);
    }),
  );
});

test("a new release leaves the older parts of its month unchanged", () => {
  fc.assert(
    fc.property(counts, (some) => {
      const pieces = month(some);
      const before = listParts(pieces.slice(1)).slice(1);
      const after = listParts(pieces);
      expect(after.slice(after.length - before.length)).toEqual(before);
    }),
  );
});

import { createHash } from "node:crypto";
import { brotliCompressSync } from "node:zlib";
import { expect, test } from "vitest";
import type { PublishedRelease, RenderedRelease } from "../../pipeline/documents/published.ts";
import { searchFiles, searchSlice } from "../../pipeline/site/search-index.ts";
import { noteOf, packageOf, releaseOf, retractedOf, textOf } from "./pages/factory.ts";

type Rows = [checksum: string, version: string, id: number, name: string, withdrawn: 0 | 1][];
type Notes = [version: string, texts: string[]][];
interface Index {
  names: string[];
  releases: [version: string, files: number[], withdrawn?: number[]][];
  notes: string[];
}

/** The files of the index by path, below `search/`. */
function indexOf(releases: readonly PublishedRelease[]): Map<string, string> {
  const rendered = releases.map((release) => {
    const { version, retracted } = release;
    return {
      version,
      retracted,
      slices: { search: () => searchSlice(release) },
    } as unknown as RenderedRelease;
  });
  return new Map(
    [...searchFiles(rendered)].map((file) => [file.path.replace(/^search\//, ""), textOf(file)]),
  );
}

const parsed = <T>(files: Map<string, string>, path: string): T => JSON.parse(files.get(path) ?? "");

/** Version, id and name of each file, as the search page reads them. */
function listed(files: Map<string, string>): [string, number, string, boolean][] {
  const { names, releases } = parsed<Index>(files, "index.json");
  let id = 0;
  return releases.flatMap(([version, current, withdrawn = []]) =>
    [current, withdrawn].flatMap((packed, index) =>
      packed.flatMap((name, at): [string, number, string, boolean][] => {
        if (at % 2 === 1) return [];
        id += packed[at + 1] ?? 0;
        return [[version, id, (names[name] ?? "").replaceAll("\0", version), index === 1]];
      }),
    ),
  );
}

const sums = ["ab".padEnd(64, "1"), "ab".padEnd(64, "2"), "cd".padEnd(64, "3")] as const;
const releases = [
  releaseOf("26.09.001", {
    packages: [
      packageOf(12, { name: "client-26.09.001.deb", file: "client-26.09.001.deb", checksum: sums[0] }),
      packageOf(14, { name: "Client for KVM", file: "client-26.09.001.qcow2", checksum: "unknown" }),
    ],
    summary: "About keys.",
  }),
  releaseOf("26.08.001", {
    packages: [
      packageOf(9, { name: "client-26.08.001.deb", file: "client-26.08.001.deb", checksum: sums[2] }),
    ],
    retracted: [retractedOf(8, { name: "bad.deb", file: "bad.deb", checksum: sums[1] })],
    notes: [noteOf("A fix\u0007 of the clock", { refs: ["NG-7"] })],
  }),
];
const files = indexOf(releases);

test("the index has each file once, with names that repeat in other versions stored once", () => {
  expect(listed(files)).toEqual([
    ["26.09.001", 12, "client-26.09.001.deb", false],
    ["26.09.001", 14, "Client for KVM (client-26.09.001.qcow2)", false],
    ["26.08.001", 9, "client-26.08.001.deb", false],
    ["26.08.001", 8, "bad.deb", true],
  ]);
  expect(parsed<Index>(files, "index.json").names).toHaveLength(3);
});

test("a checksum is in the index, also after the withdrawal of its file", () => {
  expect(parsed<{ files: Rows }>(files, "hash/all.json").files).toEqual([
    [sums[0], "26.09.001", 12, "client-26.09.001.deb", 0],
    [sums[1], "26.08.001", 8, "bad.deb", 1],
    [sums[2], "26.08.001", 9, "client-26.08.001.deb", 0],
  ]);
  expect([...files.keys()].filter((path) => path.startsWith("hash/"))).toEqual(["hash/all.json"]);
});

test.each([
  [400, 0, 1],
  [401, 1, 16],
  [6400, 1, 16],
  [6401, 2, 256],
])(
  "%i checksums are split by %i digits into %i files, of which each has its own",
  (count, digits, number) => {
    const packages = Array.from({ length: count }, (_, id) => {
      const checksum = createHash("sha256").update(String(id)).digest("hex");
      return packageOf(id + 1, { checksum });
    });
    const all = indexOf([releaseOf("26.08.001", { packages })]);
    const paths = [...all.keys()].filter((path) => path.startsWith("hash/"));
    expect(paths).toHaveLength(number);
    const rows = paths.flatMap((path) => {
      const { files } = parsed<{ files: Rows }>(all, path);
      for (const [checksum] of files) expect(path).toBe(`hash/${checksum.slice(0, digits) || "all"}.json`);
      return files;
    });
    expect(rows).toHaveLength(count);
  },
);

test("notes are in files of their months, newest first, without control characters", () => {
  expect(parsed<Index>(files, "index.json").notes).toEqual(["26.09", "26.08"]);
  expect(parsed<{ releases: Notes }>(files, "notes/26.09.json").releases).toEqual([
    ["26.09.001", ["About keys."]],
  ]);
  expect(parsed<{ releases: Notes }>(files, "notes/26.08.json").releases).toEqual([
    ["26.08.001", ["A fix\uFFFD of the clock NG-7"]],
  ]);
});

test("a catalog without releases has an empty index", () => {
  expect(parsed(indexOf([]), "index.json")).toEqual({
    schema_version: 1,
    names: [],
    releases: [],
    notes: [],
  });
});

test("at 25,000 records, a search for a name loads less than 100 KB, and a month of notes is split", {
  tags: ["long"],
}, () => {
  const many = Array.from({ length: 1000 }, (_, index) => {
    const version = `26.${String(12 - Math.floor(index / 84)).padStart(2, "0")}.${String(999 - (index % 84)).padStart(3, "0")}`;
    const packages = Array.from({ length: 25 }, (_, file) => {
      const name = `client-part-${file}_${version}_amd64.deb`;
      return packageOf(25_000 - index * 25 - file, { name, file: name });
    });
    return releaseOf(version, { packages, notes: [noteOf("word ".repeat(400))] });
  });
  const large = indexOf(many);
  expect(listed(large)).toHaveLength(25_000);
  expect(brotliCompressSync(large.get("index.json") ?? "").length).toBeLessThan(100_000);
  const parts = parsed<Index>(large, "index.json").notes;
  expect(parts.slice(0, 3)).toEqual(["26.12", "26.12-2", "26.12-3"]);
  for (const part of parts) expect(large.get(`notes/${part}.json`)?.length).toBeLessThan(62_000);
});

import { expect, test } from "vitest";
import { type Live, liveRecord, rows } from "../../support/live-catalog.ts";
import { complaints, liveProject } from "./importing.ts";

const [chart] = rows;
const good = (id: number, rest: object = {}): Live => ({
  ...liveRecord({
    id,
    version: "26.05.001",
    row: chart as (typeof rows)[number],
    name: `chart-${id}.tgz`,
    created: "2026-05-05T08:00:00.000001Z",
  }),
  ...rest,
});

async function refused(list: unknown[] | string, ...options: string[]): Promise<string> {
  const made = liveProject(list);
  const { exitCode, stderr } = await made.run("import", "live.json", "--accept-violations", ...options);
  expect(exitCode, stderr).toBe(1);
  expect(made.list("releases")).toEqual([]);
  return stderr;
}

test("import names all records that can never be imported, and --accept-violations does not accept them", async () => {
  const lines = complaints(
    await refused([
      good(1),
      "a text",
      good(1, { name: "other.tgz" }),
      good(2, { name: 5, checksum: null }),
      good(3, { package_type: ["helm"] }),
      good(0),
      good(4.5),
      good(5, { id: "5" }),
      good(6, { version: "26.13.001" }),
      good(7, { version: undefined }),
      good(9_007_199_254_740_992),
    ]),
  );
  expect(lines).toMatchInlineSnapshot(`
    [
      "live.json:1:461 error[import-record] element 2 of the list: it is "a text", expected an object",
      "live.json:1:470 error[import-record] record 1 (element 3 of the list): its id is already used by element 1 of the list",
      "live.json:1:927 error[import-record] record 2 (element 4 of the list): name is 5, expected text",
      "live.json:1:927 error[import-record] record 2 (element 4 of the list): checksum is null, expected text",
      "live.json:1:1312 error[import-record] record 3 (element 5 of the list): package_type is a list, expected text",
      "live.json:1:1773 error[import-record] element 6 of the list: id is 0, expected a positive whole number below 2^53",
      "live.json:1:2232 error[import-record] element 7 of the list: id is 4.5, expected a positive whole number below 2^53",
      "live.json:1:2695 error[import-record] element 8 of the list: id is "5", expected a positive whole number below 2^53",
      "live.json:1:3156 error[import-record] record 6 (element 9 of the list): version is "26.13.001", expected YY.MM.NNN with a month from 01 to 12",
      "live.json:1:3615 error[import-record] record 7 (element 10 of the list): version is missing, expected YY.MM.NNN with a month from 01 to 12",
      "live.json:1:4052 error[import-record] element 11 of the list: id is 9007199254740992, expected a positive whole number below 2^53",
    ]
  `);
});

test.each([
  ["one page of a list", JSON.stringify({ count: 1, results: [good(1)] })],
  ["another value", '"packages"'],
  ["a web page", "<!doctype html><title>Package List</title>"],
  ["half a list", '[{"id": 1,'],
  ["a repeated key", '[{"id": 1, "id": 2}]'],
  [
    "a number that no reader keeps",
    '[{"id":1,"name":"a","version":"26.05.001","package_type":"helm","checksum":"","data":{"size":1e400}}]',
  ],
  [
    "a whole number that readers round",
    '[{"id":1,"name":"a","version":"26.05.001","package_type":"helm","checksum":"","description":9007199254740993}]',
  ],
  [
    "a whole number that readers round, inside of data",
    '[{"id":1,"name":"a","version":"26.05.001","package_type":"helm","checksum":"","data":{"build":[-12345678901234567890]}}]',
  ],
  [
    "a key that is not safe",
    '[{"id":1,"name":"a","version":"26.05.001","package_type":"helm","checksum":"","data":{"__proto__":{}}}]',
  ],
  [
    "nesting that a manifest has no room for",
    `[{"id":1,"name":"a","version":"26.05.001","package_type":"helm","checksum":"","data":${'{"a":'.repeat(60)}1${"}".repeat(60)}}]`,
  ],
])("%s is refused", async (what, text) => {
  expect(complaints(await refused(text)), what).toMatchSnapshot();
});

test("whole numbers below 2^53 are kept, also in text fields", async () => {
  const made = liveProject([good(1, { description: 9_007_199_254_740_991, only_for_account: 1 })]);
  await made.succeed("import", "live.json", "--accept-violations");
  expect(made.read("releases/26.05.001/manifests/imported.json")).toContain("9007199254740991");
});

test("a record that is too large for a manifest is refused by its id", async () => {
  const lines = complaints(await refused([good(1), good(2, { description: "x".repeat(4_000_000) })]));
  expect(lines).toEqual([
    'error[import-record] record 2 ("chart-2.tgz") has 4000137 bytes, expected at most 3145728',
  ]);
});

test("a release that is too large for one manifest gets several", async () => {
  const records = [1, 2, 3, 4, 5].map((id) => good(id, { description: `${id}`.repeat(1_500_000) }));
  const made = liveProject(records);
  await made.succeed("import", "live.json");
  expect(made.list("releases/26.05.001/manifests")).toEqual([
    "imported-2.json",
    "imported-3.json",
    "imported.json",
  ]);
  const { stdout } = await made.succeed("import", "live.json");
  expect(stdout).toContain("Nothing to import");
});

test("import refuses a missing file", async () => {
  const made = liveProject([]);
  const { exitCode, stderr } = await made.run("import", "none.json");
  expect([exitCode, complaints(stderr)]).toEqual([
    2,
    ["error[file-access] cannot read none.json: there is no such file"],
  ]);
});

test("import refuses a folder, and an address that is not HTTP", async () => {
  const made = liveProject([]);
  expect((await made.run("import", "releases")).stderr).toBe(
    "error[file-access] cannot read releases: there is no such file\n  hint: Check the path.",
  );
  expect((await made.run("import", ".")).stderr).toBe(
    "error[file-access] cannot read .: it is a folder\n  hint: Name a file.",
  );
  for (const command of [
    ["import", "ftp://x/list"],
    ["plan", "--against", "ftp://x/list"],
  ]) {
    made.write("releases/catalog.yaml", "");
    expect(await made.run(...command)).toMatchObject({
      exitCode: 2,
      stderr:
        "error[usage] ftp://x/list cannot be read: ftp addresses are not supported\n" +
        "  hint: Give an https address, or a file.",
    });
  }
});

test("import refuses an empty list", async () => {
  const made = liveProject([]);
  expect((await made.succeed("import", "live.json")).stdout).toBe("Nothing to import: the list is empty.");
});

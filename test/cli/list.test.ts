import { describe, expect, test } from "vitest";
import { artifact, cutCatalog, project } from "../support/project.ts";

const url = (file: string) => `http://127.0.0.1:8080/files/${file.slice(5, 14)}/${file}`;
const cells = (stdout: string) => stdout.split("\n").map((line) => line.split(/ {2,}/));
const heading = ["ID", "VERSION", "TYPE", "STATE", "ARCH", "OS", "FILE", "URL"];

test("shows the public records that match, in the order of the catalog, with the state of each", async () => {
  const { run, write } = await cutCatalog();
  write("releases/26.08.001/manifests/all.json", {
    release: "26.08.001",
    artifacts: [
      artifact("tool-26.08.001.msi", "msi", "1", { description: "Better" }),
      artifact("tool-26.08.001.rpm", "rpm", "2"),
      artifact("tool-26.08.001.xz", "xz", "8"),
    ],
  });
  const { stdout, stderr, exitCode } = await run("list");
  expect(cells(stdout)).toEqual([
    heading,
    ...[
      ["5", "26.09.001", "rpm", "cut", "–", "any", "tool-26.09.001.rpm"],
      ["3", "26.09.001", "msi", "cut", "–", "any", "tool-26.09.001.msi"],
      ["6", "26.08.001", "xz", "provisional", "–", "any", "tool-26.08.001.xz"],
      ["2", "26.08.001", "rpm", "cut", "–", "any", "tool-26.08.001.rpm"],
      ["1", "26.08.001", "msi", "revised", "–", "any", "tool-26.08.001.msi"],
    ].map((row) => [...row, url(row[6] ?? "")]),
  ]);
  expect({ stderr, exitCode }).toEqual({ stderr: "5 records.", exitCode: 0 });
});

test("shows withdrawn records with --all", async () => {
  const { run, json, succeed } = await cutCatalog();
  const at = "2026-09-21T10:00:00Z";
  await succeed("retract", "2", "--reason", "Bad.", "--replaced-by", "5", "--yes", "--now", at);
  expect(cells((await run("list")).stdout).map(([id]) => id)).toEqual(["ID", "5", "3", "1"]);
  const { stdout, stderr } = await run("list", "--all", "package_type=rpm");
  expect(cells(stdout).map((row) => row.slice(0, 4))).toEqual([
    heading.slice(0, 4),
    ["5", "26.09.001", "rpm", "cut"],
    ["2", "26.08.001", "rpm", "withdrawn"],
  ]);
  expect(stderr).toBe("2 records, 1 of them withdrawn.");
  const { document } = await json("list", "--all", "line=26.08", "ordering=-id");
  expect((document.records as { id: number }[]).map(({ id }) => id)).toEqual([2, 1]);
  expect((document.details as object[])[0]).toEqual({
    id: 2,
    arch: null,
    state: "withdrawn",
    file: "tool-26.08.001.rpm",
    url: url("tool-26.08.001.rpm"),
    withdrawal: { reason: "Bad.", replaced_by: 5, at: "2026-09-21T10:00:00.000000Z" },
  });
});

test("accepts the filters and orderings of the catalog's HTTP interface", async () => {
  const { json } = await cutCatalog();
  const idsOf = async (...terms: string[]) =>
    ((await json("list", ...terms)).document.records as { id: number }[]).map(({ id }) => id);
  expect(await idsOf("package_type=msi", "ordering=id")).toEqual([1, 3]);
  expect(await idsOf("version=latest", "package_type=rpm")).toEqual([5]);
  expect(await idsOf("line=26.08")).toEqual([2, 1]);
  expect(await idsOf("package_type=deb")).toEqual([]);
});

test.each([
  ["package_typ=msi", '"package_typ" is not a field of a record', "Did you mean package_type?"],
  [
    "colour=red",
    '"colour" is not a field of a record',
    "relcat schema package-record names them; data cannot be filtered by.",
  ],
  ["msi", '"msi" is not a filter, expected field=value', "For example: package_type=deb"],
  [
    "package_type=dbe",
    /^package_type is "dbe", expected one of .*\bdeb, .*\brpm/,
    "Did you mean package_type=deb?",
  ],
  [
    "operating_system=linx",
    /^operating_system is "linx", expected one of /,
    "Did you mean operating_system=linux?",
  ],
  ["platform=999", /^platform is "999", expected one of 2, 3, .*17$/, undefined],
  ["headless=yes", 'headless is "yes", expected one of true, false, 1, 0', undefined],
  [
    "version=26.09",
    'version is "26.09", expected a version or latest',
    "The releases of a month: line=26.09",
  ],
  ["version=newest", 'version is "newest", expected a version or latest', "For example: version=26.09.001"],
  ["line=26.13", 'line is "26.13", expected a month', "For example: line=26.09"],
  [
    "ordering=-create_date",
    'ordering is "create_date", expected fields of a record',
    "Did you mean created_date?",
  ],
])("refuses %s", async (term, message, hint) => {
  const { document, exitCode } = await project({ "releases/catalog.yaml": "{}" }).json("list", term);
  expect({ exitCode, problems: document.problems }).toMatchObject({
    exitCode: 2,
    problems: [
      {
        code: "usage",
        message: message instanceof RegExp ? expect.stringMatching(message) : message,
        hint: hint ?? null,
      },
    ],
  });
});

describe("list of one cut release", () => {
  test("prints what a list of the whole catalog prints for it", async () => {
    const made = await cutCatalog();
    await made.succeed("retract", "1", "--reason", "Broken.", "--yes");
    for (const all of [[], ["--all"]]) {
      const { document } = await made.json("list", "version=26.08.001", ...all);
      expect(document).toEqual((await made.json("list", "line=26.08", ...all)).document);
    }
  });

  test("does not read the other releases", async () => {
    const made = await cutCatalog();
    made.write("releases/26.09.001/manifests/all.json", "{");
    expect((await made.succeed("list", "version=26.08.001")).stdout).toContain("tool-26.08.001.msi");
    expect(await made.run("list", "line=26.08")).toMatchObject({ exitCode: 1 });
    made.write("releases/26.08.001/manifests/all.json", "{");
    expect(await made.run("list", "version=26.08.001")).toMatchObject({ exitCode: 1 });
  });

  test("reads the other releases if it has new or missing artifacts", async () => {
    const made = await cutCatalog();
    made.write("releases/26.07.001/release.yaml", { version: "26.07.001", date: "2026-07-15" });
    const added = (version: string, name: string) =>
      made.write(`releases/${version}/manifests/more.json`, {
        release: version,
        artifacts: [artifact(name, "rpm", name === "early.rpm" ? "8" : "9")],
      });
    added("26.07.001", "early.rpm");
    added("26.08.001", "late.rpm");
    expect((await made.succeed("list", "version=26.08.001")).stdout).toMatch(
      /^7 .* provisional .* late\.rpm/m,
    );
    made.write("releases/26.08.001/manifests/all.json", { release: "26.08.001", artifacts: [] });
    expect((await made.run("list", "version=26.08.001")).stderr).toContain("error[record-vanished]");
  });
});

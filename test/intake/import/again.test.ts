import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { type Live, liveRecord, rows } from "../../support/live-catalog.ts";
import type { Project } from "../../support/project.ts";
import { copyProject, relcat } from "../../support/run.ts";
import { complaints, entryOf, expectRebuilt, ledgerOf, liveProject, rebuilt, setLive } from "./importing.ts";

const row = (type: string) => rows.find((candidate) => candidate.type === type) as (typeof rows)[number];

const record = (id: number, rest: object = {}, type = "xz", version = "26.05.001"): Live => ({
  ...liveRecord({
    id,
    version,
    row: row(type),
    name: `tool-${id}.tar.xz`,
    created: "2026-05-05T08:00:00.000001Z",
  }),
  ...rest,
});

const later = "2026-06-01T00:00:00.000000Z";
const first = [record(3), record(5), record(8, {}, "qcow")];
let made: Project;

beforeEach(async () => {
  made = liveProject(first);
  await made.succeed("import", "live.json");
});

async function again(list: Live[], ...options: string[]) {
  setLive(made, list);
  return made.succeed("import", "live.json", ...options);
}

async function refusedAgain(list: Live[], ...options: string[]): Promise<string[]> {
  const before = made.read("releases/ledger.jsonl");
  setLive(made, list);
  const { exitCode, stderr } = await made.run("import", "live.json", ...options);
  expect(exitCode, stderr).toBe(1);
  expect(made.read("releases/ledger.jsonl")).toBe(before);
  return complaints(stderr);
}

describe("a later state of the same catalog", () => {
  test("changes nothing if it is the same", async () => {
    const before = made.read("releases/26.05.001/manifests/imported.json");
    expect((await again(first)).stdout).toBe("Nothing to import: all 3 records are already here, unchanged.");
    expect(made.read("releases/26.05.001/manifests/imported.json")).toBe(before);
  });

  test("adds new records, in existing releases and in new ones", async () => {
    const list = [...first, record(4), record(9, {}, "xz", "26.06.001")];
    const { stdout } = await again(list);
    expect(stdout).toContain("Imported 2 new records, 3 unchanged into 2 releases");
    await expectRebuilt(made, list);
    expect(ledgerOf(made).map(({ id }) => id)).toEqual([3, 5, 8, 4, 9]);
  });

  test("adds a line with its own date for each revised record", async () => {
    const list = [record(3), record(5, { description: "Corrected", modified_date: later }), first[2] as Live];
    await again(list);
    await expectRebuilt(made, list);
    expect(ledgerOf(made).at(-1)).toMatchObject({ event: "revise", id: 5, at: later, imported: true });
  });

  test("adds a revision for a new date", async () => {
    const list = [record(3, { modified_date: later }), ...first.slice(1)];
    await again(list);
    await expectRebuilt(made, list);
  });

  test("keeps fields that people added to an entry", async () => {
    const path = "releases/26.05.001/manifests/imported.json";
    const manifest = JSON.parse(made.read(path));
    for (const entry of manifest.artifacts)
      Object.assign(entry, { size: 17, url: `https://example.com/${entry.name}` });
    made.write(path, manifest);
    await again([
      record(3, { description: "Corrected", modified_date: later }),
      ...first.slice(1),
      record(9),
    ]);
    expect(entryOf(made, "26.05.001", "tool-3.tar.xz")).toMatchObject({
      description: "Corrected",
      size: 17,
      url: "https://example.com/tool-3.tar.xz",
    });
    expect(entryOf(made, "26.05.001", "tool-5.tar.xz")).toMatchObject({ size: 17 });
  });

  test("keeps release.yaml and notes", async () => {
    const text = "version: 26.05.001\ndate: 2026-05-30\nsummary: Ours.\n";
    made.write("releases/26.05.001/release.yaml", text);
    await again([...first, record(9)]);
    expect(made.read("releases/26.05.001/release.yaml")).toBe(text);
  });

  test("keeps and names records that disappeared", async () => {
    const { stderr } = await again([record(3)]);
    expect(stderr).toMatchInlineSnapshot(`
      "warning[import-gone] record 5 ("tool-5.tar.xz" of 26.05.001) is no longer in the live catalog
        hint: It stays here. To withdraw it: relcat retract 5 --reason TEXT
      warning[import-gone] record 8 ("tool-8.tar.xz" of 26.05.001) is no longer in the live catalog
        hint: It stays here. To withdraw it: relcat retract 8 --reason TEXT
      Next: relcat build --released"
    `);
    expect((await rebuilt(made)).length).toBe(3);
  });

  test("keeps a record withdrawn that was withdrawn here, after any change there", async () => {
    await made.succeed("retract", "5", "--reason", "Broken.", "--yes");
    const { stdout } = await again([
      record(3),
      record(5, { description: "New", modified_date: later }),
      record(8, {}, "qcow"),
    ]);
    expect(stdout).toBe(
      "Nothing to import: all 3 records are already here, unchanged.\nKept as changed or withdrawn here: 5.",
    );
    expect((await rebuilt(made)).map(({ id }) => id)).toEqual([3, 8]);
  });

  test("keeps a change that was made here if the record is the same there", async () => {
    await reviseHere();
    const { stdout } = await again([...first, record(9)]);
    expect(stdout).toContain("Kept as changed or withdrawn here: 5.");
    expect((await rebuilt(made)).find(({ id }) => id === 5)).toMatchObject({ description: "Ours" });
  });

  test("conflicts with a record that was changed on both sides", async () => {
    await reviseHere();
    const list = [
      record(3),
      record(5, { description: "Theirs", modified_date: later }),
      record(8, {}, "qcow"),
    ];
    expect(await refusedAgain(list)).toMatchInlineSnapshot(`
      [
        "error[import-conflict] record 5 ("tool-5.tar.xz" of 26.05.001): it was changed here and in the live catalog (description, modified_date)",
      ]
    `);
  });

  test("restores a lost manifest", async () => {
    rmSync(join(made.folder, "releases/26.05.001/manifests"), { recursive: true });
    const { stdout } = await again(first);
    expect(stdout).toContain("3 restored");
    await expectRebuilt(made, first);
  });

  test("does not duplicate an entry that was moved to another manifest", async () => {
    const path = "releases/26.05.001/manifests/imported.json";
    made.write("releases/26.05.001/manifests/ours.json", made.read(path));
    rmSync(join(made.folder, path));
    expect((await again(first)).stdout).toContain("Nothing to import");
    expect(
      await refusedAgain([record(3, { description: "New", modified_date: later }), ...first.slice(1)]),
    ).toMatchInlineSnapshot(`
      [
        "error[import-conflict] record 3 ("tool-3.tar.xz" of 26.05.001): it changed in the live catalog, but its entry was moved to releases/26.05.001/manifests/ours.json:4",
      ]
    `);
  });
});

async function reviseHere() {
  const path = "releases/26.05.001/manifests/imported.json";
  made.write(
    path,
    made
      .read(path)
      .replace('"name":"tool-5.tar.xz",', '"name":"tool-5.tar.xz","description":"Ours",')
      .replace(
        `"description":"xz of 26.05.001","sha256":"${first[1]?.checksum}`,
        `"sha256":"${first[1]?.checksum}`,
      ),
  );
  await made.succeed("cut", "--all");
}

describe("the record of an id", () => {
  test.each([
    ["its bytes", { checksum: "a".repeat(64) }],
    ["its type", { package_type: "rpm", platform: 14 }],
    ["its version", { version: "26.06.001" }],
    ["its first date", { created_date: "2026-05-05T08:00:00.000002Z", modified_date: later }],
  ])("cannot change %s", async (_, change) => {
    expect(await refusedAgain([record(3, change), ...first.slice(1)])).toMatchSnapshot();
  });

  test("is not replaced by an older state of the catalog", async () => {
    await again([record(3, { description: "New", modified_date: later }), ...first.slice(1)]);
    expect(await refusedAgain(first)).toMatchInlineSnapshot(`
      [
        "error[import-conflict] record 3 ("tool-3.tar.xz" of 26.05.001): modified_date went back from 2026-06-01T00:00:00.000000Z to 2026-05-05T08:00:00.000001Z",
      ]
    `);
  });

  test("cannot change from public to private", async () => {
    const list = [record(3, { exclude_from_api: true, modified_date: later }), ...first.slice(1)];
    expect(await refusedAgain(list)).toMatchInlineSnapshot(`
      [
        "error[record-private] "tool-3.tar.xz" is public as id 3 and cannot become private",
      ]
    `);
  });
});

describe("releases that were not imported", () => {
  test("are refused if their ids collide, each by name", async () => {
    const folder = copyProject("site/small");
    const lines = readFileSync(join(folder, "releases/ledger.jsonl"), "utf8");
    const { writeFileSync } = await import("node:fs");
    writeFileSync(join(folder, "live.json"), JSON.stringify([record(3), record(7)]));
    const { exitCode, stderr } = await relcat(folder, ["import", "live.json"]);
    expect([exitCode, stderr]).toMatchInlineSnapshot(`
      [
        1,
        "error[import-conflict] record 3 ("tool-3.tar.xz" of 26.05.001): the id belongs to "internal-26.08.001.flatpak" of 26.08.001 here (line 3 of the ledger)
        hint: This catalog was not imported from that one, and their ids collide: import into an empty releases folder.
      error[import-conflict] record 7 ("tool-7.tar.xz" of 26.05.001): the id belongs to "client-26.08.002.pkg" of 26.08.002 here (line 8 of the ledger)
        hint: This catalog was not imported from that one, and their ids collide: import into an empty releases folder.
      2 errors",
      ]
    `);
    expect(readFileSync(join(folder, "releases/ledger.jsonl"), "utf8")).toBe(lines);
  });

  test("are added if their ids match", async () => {
    made = liveProject([record(103), record(110)], {
      "releases/catalog.yaml": { require: {} },
      "releases/26.05.001/release.yaml": { version: "26.05.001", date: "2026-05-05" },
      "releases/26.05.001/manifests/ours.json": {
        release: "26.05.001",
        artifacts: [{ name: "tool-103.tar.xz", package_type: "helm", sha256: "b".repeat(64) }],
      },
    });
    await made.succeed("cut", "--all");
    await made.succeed("import", "live.json");
    expect(ledgerOf(made).map(({ id, file }) => [id, file])).toEqual([
      [1, "tool-103.tar.xz"],
      [103, "id-103"],
      [110, "tool-110.tar.xz"],
    ]);
    expect((await rebuilt(made)).filter(({ id }) => id > 1)).toEqual([record(103), record(110)]);
  });

  test("collide everywhere if they are unrelated, and fifty are named", async () => {
    made = liveProject(first);
    await made.succeed("import", "live.json");
    const others = Array.from({ length: 60 }, (_, index) => record(index + 1000));
    await again([...first, ...others]);
    const strangers = others.map(({ id }) => ({ ...record(id), checksum: "c".repeat(64) }));
    const problems = await refusedAgain(strangers);
    expect([problems.length, problems.at(-1)]).toEqual([
      51,
      "error[import-conflict] 10 more records of the list cannot be imported here",
    ]);
  });
});

test("private records remain private: they are in the ledger, and in nothing public", async () => {
  const list = [...first, record(9, { exclude_from_api: true }), record(10, { only_for_account: "acme" })];
  const { stdout } = await again(list);
  expect(stdout).toContain("2 records private: in the ledger, but in nothing public.");
  expect((await rebuilt(made)).map(({ id }) => id)).toEqual([3, 5, 8]);
  expect(
    ledgerOf(made)
      .filter(({ private: mark }) => mark === true)
      .map(({ id }) => id),
  ).toEqual([9, 10]);
  // The public list of the next day has neither, and they do not count as removed.
  const { stderr } = await again(first);
  expect(stderr).not.toContain("import-gone");
});

/** @module-tag long */
import { describe, expect, test } from "vitest";
import { artifact, initAlone, note, project, release, smallCatalog } from "../support/project.ts";
import { relcat } from "../support/run.ts";

const opened = (version: string) => new RegExp(`^Opened ${version.replaceAll(".", "\\.")} of `);

test("opens the next release of the newest month and moves the waiting notes into it", async () => {
  const { run, read, list } = project(smallCatalog);
  const { stdout, stderr, exitCode } = await run("new", "26.09", "--date", "2026-09-30");
  expect({ stdout, stderr, exitCode }).toEqual({
    stdout: "Opened 26.09.002 of 2026-09-30 in releases/26.09.002/ with 1 note from releases/next/notes.",
    stderr: "Next: relcat ingest --release 26.09.002 BUILD-OUTPUT, then relcat check",
    exitCode: 0,
  });
  expect(read("releases/26.09.002/release.yaml")).toMatch(
    /^# yaml-language-server: \$schema=\.\.\/\.\.\/node_modules\/relcat\/schemas\/release\.schema\.json\nversion: 26\.09\.002\ndate: 2026-09-30\nopened: \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z\n# summary: /,
  );
  expect(list("releases/26.09.002/notes")).toEqual(["waiting.yaml"]);
  expect(list("releases/next/notes")).toEqual([".gitkeep"]);
  expect((await run("check")).exitCode).toBe(0);
});

test("uses today's date in UTC", async () => {
  const before = new Date().toISOString().slice(0, 10);
  const { document } = await project(smallCatalog).json("new", "26.09");
  const after = new Date().toISOString().slice(0, 10);
  expect([before, after]).toContain(document.date);
  expect(document).toMatchObject({
    schema_version: 1,
    version: "26.09.002",
    folder: "releases/26.09.002",
    notes: ["waiting.yaml"],
  });
});

test("uses the current month if none is given", async () => {
  const { folder } = project(smallCatalog);
  const env = { SOURCE_DATE_EPOCH: String(Date.parse("2027-01-05T00:00:00Z") / 1000) };
  expect((await relcat(folder, ["new"], { env })).stdout).toMatch(opened("27.01.001"));
});

test("reads a month after --notes as the month", async () => {
  const { run, list } = project(smallCatalog);
  expect((await run("new", "--notes", "none", "26.12")).stdout).toMatch(opened("26.12.001"));
  expect(list("releases/next/notes")).toContain("waiting.yaml");
  expect((await run("new", "--notes", "waiting.yaml", "26.12")).stdout).toMatch(opened("26.12.002"));
  expect(list("releases/26.12.002/notes")).toEqual(["waiting.yaml"]);
});

describe("SOURCE_DATE_EPOCH", () => {
  const at = async (epoch: string, ...args: string[]) =>
    relcat(project(smallCatalog).folder, [...args, "--json"], { env: { SOURCE_DATE_EPOCH: epoch } });
  const day = String(Date.parse("2027-01-05T00:00:00Z") / 1000);

  test("sets the month of init and the day of new", async () => {
    const { files } = JSON.parse((await at(day, ...initAlone, "demo")).stdout);
    expect(files).toContain("releases/27.01.001/release.yaml");
    expect(JSON.parse((await at(day, "new", "27.01")).stdout).date).toBe("2027-01-05");
  });

  test("is ignored before 2015, with one line", async () => {
    for (const args of [
      [...initAlone, "demo"],
      ["new", "26.09"],
    ]) {
      const { stderr, exitCode } = await at("315532800", ...args);
      expect(exitCode).toBe(0);
      expect(stderr).toContain("SOURCE_DATE_EPOCH gives 1980-01-01: ignored, the clock counts.\n");
    }
  });

  test("is refused if it is not a time", async () => {
    const { stderr, exitCode } = await at("soon", ...initAlone, "demo");
    expect(exitCode).toBe(2);
    expect(stderr).toContain('error[clock] SOURCE_DATE_EPOCH is "soon", expected seconds since 1970');
  });
});

describe("the next number", () => {
  test("counts folders, also empty ones, and the ledger", async () => {
    const { succeed, write, read } = project({ "releases/26.09.004/keep/.gitkeep": "" });
    expect((await succeed("new", "26.09")).stdout).toMatch(opened("26.09.005"));
    const line = {
      event: "add",
      id: 1,
      version: "26.09.007",
      package_type: "msi",
      name: "a.msi",
      file: "a.msi",
      min_os_version: null,
      max_os_version: null,
      checksum: "a".repeat(64),
      content: "b".repeat(64),
      at: "2026-09-20T10:00:00.000000Z",
    };
    write("releases/ledger.jsonl", line);
    expect((await succeed("new", "26.09")).stdout).toMatch(opened("26.09.008"));
    expect(read("releases/26.09.008/release.yaml")).toContain("version: 26.09.008\n");
  });

  test("starts at 001", async () => {
    expect((await project(smallCatalog).succeed("new", "26.10")).stdout).toMatch(opened("26.10.001"));
  });

  test("ends at 999", async () => {
    const { run, list } = project(release("26.09.999", []));
    expect(await run("new", "26.09")).toMatchObject({
      exitCode: 2,
      stderr:
        "error[sequence-full] 26.09.999 exists: 26.09 has no number left\n  hint: Open the release under the next month.",
    });
    expect(list("releases")).toEqual(["26.09.999"]);
  });

  test("is refused if the ledger cannot be read", async () => {
    const { run, list } = project({ ...smallCatalog, "releases/ledger.jsonl": "<<<<<<< ours\n" });
    const { stderr, exitCode } = await run("new", "26.09");
    expect(exitCode).toBe(1);
    expect(stderr).toContain(
      "releases/ledger.jsonl:1:1 error[ledger-conflict-marker] a merge conflict is not resolved\n",
    );
    expect(list("releases")).not.toContain("26.09.002");
  });
});

describe("--notes", () => {
  const files = {
    ...smallCatalog,
    "releases/next/notes/hotfix.yaml": note("A hole is closed.", { security: true }),
  };
  const rest = [".gitkeep", "waiting.yaml"];

  test("is required for an older month", async () => {
    const { run, list } = project(files);
    expect(await run("new", "26.08")).toMatchObject({
      exitCode: 2,
      stderr:
        "error[usage] 26.08 is older than 26.09, so the notes of the next release may not be its own\n" +
        "  hint: Give the notes that belong to it: --notes FILE…, --notes all or --notes none.",
    });
    expect(list("releases")).not.toContain("26.08.002");
  });

  test.each(["hotfix.yaml", "releases/next/notes/hotfix.yaml", "./releases/next/notes/hotfix.yaml"])(
    "takes a note that is named as %s",
    async (name) => {
      const { succeed, list } = project(files);
      await succeed("new", "26.08", "--notes", name);
      expect(list("releases/26.08.002/notes")).toEqual(["hotfix.yaml"]);
      expect(list("releases/next/notes")).toEqual(rest);
    },
  );

  test("takes none or all", async () => {
    const { succeed, list } = project(files);
    expect((await succeed("new", "26.08", "--notes", "none")).stdout).toMatch(
      /in releases\/26\.08\.002\/\.$/,
    );
    expect(list("releases/26.08.002")).toEqual(["release.yaml"]);
    await succeed("new", "26.08", "--notes", "all");
    expect(list("releases/26.08.003/notes")).toEqual(["hotfix.yaml", "waiting.yaml"]);
  });

  test("refuses an unknown note before anything moves", async () => {
    const { run, list } = project(files);
    expect(await run("new", "26.09", "--notes", "hotfix.yaml", "hotfx.yaml")).toMatchObject({
      exitCode: 2,
      stderr:
        'error[usage] there is no note "hotfx.yaml" in releases/next/notes\n  hint: There are hotfix.yaml, waiting.yaml.',
    });
    expect(list("releases/next/notes")).toEqual(["hotfix.yaml", "waiting.yaml"]);
  });

  test("is optional for an older month if no notes wait", async () => {
    const { succeed } = project(release("26.09.001", [artifact("a.msi", "msi")]));
    expect((await succeed("new", "26.08")).stdout).toMatch(opened("26.08.001"));
  });
});

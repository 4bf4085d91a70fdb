import { statSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  artifact,
  cutCatalog,
  firstCut,
  notCompared,
  project,
  release,
  smallCatalog,
} from "../support/project.ts";

const look = "To view it: relcat serve, then open http://127.0.0.1:8080/";

test("reports the outputs, the provisional versions and the next command", async () => {
  const { stdout, stderr, exitCode } = await project(smallCatalog).run("build");
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(
    /^Built 2 releases with 4 packages into dist\/: \d+ files written, 0 unchanged, 0 removed, \d+\.\d kB in all\.$/,
  );
  expect(stderr).toBe(
    [
      look,
      "Provisional until relcat cut makes ids and dates permanent: 26.08.001 and 26.09.001.",
      "Next: relcat status",
    ].join("\n"),
  );
});

test("--json prints the report as a document", async () => {
  const { exitCode, document } = await project(smallCatalog).json("build", "--out", "site");
  const { files, bytes, ...rest } = document;
  expect({ exitCode, ...rest }).toEqual({
    exitCode: 0,
    schema_version: 1,
    out: "site",
    base_url: "http://127.0.0.1:8080",
    releases: 2,
    packages: 4,
    provisional: ["26.08.001", "26.09.001"],
    left_out: { releases: [], artifacts: [], private: 0, feeds: [] },
    warnings: 0,
  });
  expect(files).toMatchObject({ unchanged: 0, removed: 0 });
  expect(bytes).toBeGreaterThan(1000);
});

test("a second build changes nothing, and counts the warnings instead of repeating them", async () => {
  const { succeed } = project({ ...smallCatalog, ...release("26.10.001", []) });
  await succeed("build");
  const { stdout, stderr } = await succeed("build");
  expect(stdout).toMatch(/: 0 files written, \d+ unchanged, 0 removed, /);
  expect(stderr).toContain("1 warning: relcat check shows it.\n");
});

test("the next command quotes an --out folder that has a space or a slash at its end", async () => {
  const { stdout, stderr } = await project(smallCatalog).run("build", "--out", "my site/");
  expect(stdout).toContain(" into my site/: ");
  expect(stderr).toContain("relcat serve --dir 'my site/', then open");
});

test("problems stop the build before anything is written", async () => {
  const { run, list } = project({
    ...smallCatalog,
    "releases/26.09.001/release.yaml": "version: 26.09.001\n",
  });
  const { stdout, stderr, exitCode } = await run("build");
  expect({ stdout, exitCode, made: list("dist") }).toEqual({ stdout: "", exitCode: 1, made: [] });
  expect(stderr).toContain(
    "releases/26.09.001/release.yaml:1:1 error[missing-key] the key date is missing, expected a calendar date YYYY-MM-DD\n",
  );
});

describe("--released", () => {
  const opened = release("26.10.001", [artifact("tool-26.10.001.msi", "msi", "6")]);

  test("names the releases it leaves out, and is never provisional", async () => {
    const { write, run, read } = await cutCatalog();
    for (const [path, content] of Object.entries(opened)) write(path, content);
    const { stdout, stderr, exitCode } = await run("build", "--released");
    expect(exitCode).toBe(0);
    expect(stdout).toContain("Built 2 releases with 4 packages into dist/");
    expect(stderr).toBe(
      [
        notCompared,
        "Left out because they are not cut: 26.10.001.",
        look,
        "Next: relcat cut 26.10.001, when what was left out is ready",
      ].join("\n"),
    );
    expect(JSON.parse(read("dist/build.json")).provisional).toEqual([]);
    // A site is published although the next release is open, which is usual.
    const base_url = "https://downloads.example.com";
    write("releases/catalog.yaml", { require: {}, base_url, sites: { prod: { url: "dir:../www" } } });
    expect((await run("build", "--released", "--site", "prod")).stderr.split("\n")).toEqual([
      notCompared,
      "Left out because they are not cut: 26.10.001.",
      look,
      "Next: relcat publish prod",
    ]);
  });

  test("names artifacts of a cut release that have no ledger line, and counts private ones", async () => {
    const { write, run } = await cutCatalog();
    const added = [
      artifact("late-26.08.001.deb", "deb", "7", { min_os_version: "22.04" }),
      artifact("hidden.xz", "xz", "8", { only_for_account: 7 }),
    ];
    write("releases/26.08.001/manifests/more.json", { release: "26.08.001", artifacts: added });
    const { stderr, exitCode } = await run("build", "--released");
    expect(exitCode).toBe(0);
    expect(stderr).toContain('Left out for lack of a ledger line: "late-26.08.001.deb" of 26.08.001.\n');
    expect(stderr).toContain("Left out for lack of a ledger line: 1 private artifact.\n");
    expect(stderr).not.toContain("hidden");
  });

  test("fails if a cut record was edited since", async () => {
    const { write, run } = await cutCatalog();
    const edited = [
      artifact("tool-26.08.001.msi", "msi", "1", { description: "Other" }),
      artifact("tool-26.08.001.rpm", "rpm", "2"),
    ];
    write("releases/26.08.001/manifests/all.json", { release: "26.08.001", artifacts: edited });
    const { stderr, exitCode } = await run("build", "--released");
    expect(exitCode).toBe(1);
    expect(stderr).toContain(
      'error[content-not-cut] "tool-26.08.001.msi" (id 1) was changed since it was cut\n',
    );
    expect(stderr).toContain("  hint: Make the change permanent (relcat cut 26.08.001), or revert it.");
  });

  test("with --with, previews the ids that a cut of these versions assigns", async () => {
    const { write, succeed, json, read } = await cutCatalog();
    for (const [path, content] of Object.entries(opened)) write(path, content);
    const { document } = await json("build", "--released", "--with", "26.10.001");
    expect(document).toMatchObject({ releases: 3, provisional: ["26.10.001"], left_out: { releases: [] } });
    const idOf = () => JSON.parse(read("dist/api/v1/package/index.json"))[0].id;
    const previewed = idOf();
    await succeed("cut", "26.10.001");
    await succeed("build", "--released");
    expect(idOf()).toBe(previewed);
  });

  test("with --with, refuses an unknown version", async () => {
    const { run } = await cutCatalog();
    const { stderr, exitCode } = await run("build", "--released", "--with", "26.11.001");
    expect({ stderr, exitCode }).toEqual({
      stderr:
        "error[version-unknown] there is no release 26.11.001\n  hint: See releases/ for the existing versions.",
      exitCode: 1,
    });
  });
});

describe("--now", () => {
  test("dates new files", async () => {
    const { succeed, folder } = project(smallCatalog);
    await succeed("build", "--now", firstCut);
    const seconds = statSync(`${folder}/dist/index.html`).mtimeMs / 1000;
    expect(Math.abs(seconds - Date.parse(firstCut) / 1000)).toBeLessThan(4);
  });

  test("refuses a text that is not a time, and the 1980 of build environments", async () => {
    const { run } = project(smallCatalog);
    expect(await run("build", "--now", "yesterday")).toMatchObject({
      exitCode: 2,
      stderr:
        'error[clock] --now is "yesterday", expected seconds since 1970 or a time such as 2026-08-19T10:22:31Z',
    });
    expect((await run("build", "--now", "315532800")).stderr).toContain(
      "error[clock] --now gives 1980-01-01T00:00:00.000000Z, expected a time after 2015\n",
    );
  });
});

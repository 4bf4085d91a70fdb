import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { artifact, project, smallCatalog } from "../support/project.ts";

describe("files in the releases folder", () => {
  test("check names an unexpected file at any depth", async () => {
    const deep = "releases/26.09.001/manifests/a/b/c/d/e/f/g/lost.json";
    const { run } = project({ ...smallCatalog, [deep]: { release: "26.09.001", artifacts: [] } });
    const { stdout, stderr, exitCode } = await run("check");
    expect(exitCode).toBe(1);
    expect(stdout + stderr).toContain(`${deep}:1:1 error[file-unexpected] the file has no place here`);
  });

  test("check follows a link to a manifest and a link to a release folder", async () => {
    const { folder, write, succeed, json } = project(smallCatalog);
    write("elsewhere/one.json", {
      release: "26.09.001",
      artifacts: [artifact("one-26.09.001.deb", "deb", "6", { max_os_version: "24.04" })],
    });
    write("elsewhere/26.10.001/release.yaml", { version: "26.10.001", date: "2026-10-15" });
    symlinkSync("../../../elsewhere/one.json", join(folder, "releases/26.09.001/manifests/one.json"));
    symlinkSync("../elsewhere/26.10.001", join(folder, "releases/26.10.001"));
    await succeed("build");
    expect((await json("build")).document).toMatchObject({ releases: 3, packages: 5 });
  });

  test("check names all links that are broken or circular", async () => {
    const { folder, run } = project(smallCatalog);
    symlinkSync("gone.json", join(folder, "releases/26.09.001/manifests/gone-too.json"));
    symlinkSync("nowhere", join(folder, "releases/ledger.jsonl"));
    symlinkSync("..", join(folder, "releases/26.09.001/notes"));
    symlinkSync("nothing", join(folder, "releases/.#editor"));
    expect(await run("check")).toMatchObject({
      exitCode: 2,
      stderr: [
        "error[file-access] releases/26.09.001/manifests/gone-too.json is a link to something that is not there",
        "error[file-access] releases/26.09.001/notes is a link into its own path",
        "error[file-access] releases/ledger.jsonl is a link to something that is not there",
      ]
        .map((line) => `${line}\n  hint: Repair or remove the link.\n`)
        .join("")
        .concat("3 errors"),
    });
  });
});

describe("cut fails with a hint", () => {
  test("if the lock file is not a lock", async () => {
    const { run } = project({ ...smallCatalog, "releases/.relcat-lock": "mine\n".repeat(400) });
    expect(await run("cut", "--all")).toMatchObject({
      exitCode: 2,
      stderr:
        "error[file-access] cannot lock releases/.relcat-lock: file is not a database\n" +
        "  hint: It contains only the lock: make sure that no relcat is running there, and remove it.",
    });
  });

  test("if a folder has the name of the lock", async () => {
    const { folder, run } = project(smallCatalog);
    mkdirSync(join(folder, "releases/.relcat-lock"));
    expect(await run("cut", "--all")).toMatchObject({
      exitCode: 2,
      stderr:
        "error[file-access] cannot lock releases/.relcat-lock: unable to open database file\n" +
        "  hint: Check the permissions of the folder and of the file, and the free space.",
    });
  });
});

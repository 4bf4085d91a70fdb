import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { copyProject, relcat, temporaryFolder } from "../support/run.ts";
import { readTree } from "../support/tree.ts";

test("build refuses a folder with foreign files, and changes nothing", async () => {
  const folder = copyProject("site/small");
  mkdirSync(join(folder, "docs"));
  writeFileSync(join(folder, "docs/thesis.txt"), "years of work");
  const { exitCode, stderr } = await relcat(folder, ["build", "--out", "docs"]);
  expect(exitCode).toBe(2);
  expect(stderr).toContain(
    "error[folder-not-ours] docs holds files but no build.json, expected an absent or empty folder, or an earlier build",
  );
  expect([...readTree(join(folder, "docs")).keys()]).toEqual(["thesis.txt"]);
});

test("a forged list of an earlier build removes no artifacts that a link leads to", async () => {
  const site = temporaryFolder();
  const folder = copyProject("site/small", join(site, "project"));
  mkdirSync(join(site, "files"));
  writeFileSync(join(site, "files/kept"), "an artifact");
  await relcat(folder, ["build"]);
  const list = join(folder, "dist/build.json");
  const document = JSON.parse(readFileSync(list, "utf8"));
  document.files["files/kept"] = document.files["feed.json"];
  writeFileSync(list, JSON.stringify(document));
  symlinkSync("../../files", join(folder, "dist/files"));
  const { exitCode } = await relcat(folder, ["build"]);
  expect([exitCode, existsSync(join(site, "files/kept"))]).toEqual([0, true]);
});

test("build refuses a file in the place of the folder, by name", async () => {
  const folder = copyProject("site/small");
  writeFileSync(join(folder, "dist"), "not a folder");
  const { exitCode, stderr } = await relcat(folder, ["build"]);
  expect(exitCode).toBe(2);
  expect(stderr).toContain(
    "error[folder-not-ours] dist is a file, expected a folder\n  hint: Give another folder with --out.",
  );
});

test.each([
  ["releases", "is"],
  ["releases/", "is"],
  ["releases/dist", "is in"],
  ["link/26.08.002", "is in"],
  [".", "holds"],
])(
  "--out %s: a folder that %s the releases folder is refused, also if relcat locked it",
  async (out, relation) => {
    const folder = copyProject("site/small");
    symlinkSync("releases", join(folder, "link"));
    await relcat(folder, ["cut", "--all"]);
    const before = [...readTree(join(folder, "releases")).keys()];
    const { exitCode, stderr } = await relcat(folder, ["build", "--out", out]);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr:
        `error[folder-not-ours] ${out} ${relation} the releases folder, expected a folder for the site alone\n` +
        "  hint: Give another folder with --out, such as dist.",
    });
    expect([...readTree(join(folder, "releases")).keys()]).toEqual(before);
  },
);

test("a build removes the files of the last build, and nothing else", async () => {
  const folder = copyProject("site/small");
  const dist = join(folder, "dist");
  await relcat(folder, ["build"]);
  mkdirSync(join(dist, "metadata"));
  writeFileSync(join(dist, "metadata/timestamp.json"), "{}");
  writeFileSync(join(dist, "releases/26.08.002/mine.txt"), "mine");
  expect(existsSync(join(dist, "api/v1/package/7/index.json"))).toBe(true);

  rmSync(join(folder, "releases/26.08.002"), { recursive: true });
  const ledger = join(folder, "releases/ledger.jsonl");
  const lines = readFileSync(ledger, "utf8").split("\n");
  writeFileSync(
    ledger,
    `${lines.filter((line) => line !== "" && !line.includes('"26.08.002"') && !line.includes("retract")).join("\n")}\n`,
  );
  const { exitCode, stderr } = await relcat(folder, ["build"]);
  expect(exitCode, stderr).toBe(0);

  expect(existsSync(join(dist, "api/v1/package/7"))).toBe(false);
  expect(existsSync(join(dist, "releases/26.08.002/index.html"))).toBe(false);
  expect(readFileSync(join(dist, "metadata/timestamp.json"), "utf8")).toBe("{}");
  expect(readFileSync(join(dist, "releases/26.08.002/mine.txt"), "utf8")).toBe("mine");
});

test.each(["../../outside.txt", "/outside.txt", "a/../../outside.txt", "a\\..\\outside.txt"])(
  "a build.json that names %j removes nothing outside its folder",
  async (path) => {
    const folder = copyProject("site/small");
    await relcat(folder, ["build", "--out", "nested/dist"]);
    const outside = [join(folder, "outside.txt"), join(folder, "nested/outside.txt")];
    for (const victim of outside) writeFileSync(victim, "keep");
    const file = join(folder, "nested/dist/build.json");
    const build = JSON.parse(readFileSync(file, "utf8"));
    build.files[path] = { sha256: "0".repeat(64), size: 4 };
    writeFileSync(file, JSON.stringify(build));
    expect((await relcat(folder, ["build", "--out", "nested/dist"])).exitCode).toBe(0);
    for (const victim of outside) expect(readFileSync(victim, "utf8")).toBe("keep");
  },
);

test("build.json names every file with its size and digest, except itself", async () => {
  const folder = copyProject("site/small");
  await relcat(folder, ["build"]);
  const tree = readTree(join(folder, "dist"));
  const build = JSON.parse(tree.get("build.json")?.toString() ?? "");
  tree.delete("build.json");
  const { createHash } = await import("node:crypto");
  const ledger = readFileSync(join(folder, "releases/ledger.jsonl"));
  const actual = Object.fromEntries(
    [...tree].map(([path, bytes]) => [
      path,
      { sha256: createHash("sha256").update(bytes).digest("hex"), size: bytes.length },
    ]),
  );
  expect(build).toEqual({
    schema_version: 1,
    base_url: "https://downloads.example.com/catalog",
    provisional: [],
    ledger: {
      lines: ledger
        .toString()
        .split("\n")
        .filter((line) => line !== "" && !line.includes('"private":true')).length,
      sha256: createHash("sha256").update(ledger).digest("hex"),
    },
    files: actual,
  });
  expect(Object.keys(build.files)).toEqual(Object.keys(build.files).sort());
});

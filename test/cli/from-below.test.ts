/** @module-tag long */
import { cpSync, lchownSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { describe, expect, test } from "vitest";
import { conflicting, cutBranch, records, settledProject } from "../ledger/rebase/branches.ts";
import { some } from "../support/effort.ts";
import { liveRecord, rows } from "../support/live-catalog.ts";
import {
  artifact,
  cutCatalog,
  firstCut,
  initAlone,
  note,
  project,
  release,
  smallCatalog,
} from "../support/project.ts";
import { program, relcat, temporaryFolder } from "../support/run.ts";
import { differences, readTree } from "../support/tree.ts";

/** Folders of a project to work in, each with the project's folder relative to it. */
const places = [
  ["releases", ".."],
  ["releases/26.08.001/manifests", "../../.."],
  ["out", ".."],
] as const;

describe.each(some(places, 2))("in %s", (place, root) => {
  test("check, list, status and cut find the project, and name files relative to the current folder", async () => {
    const made = project({
      ...smallCatalog,
      "releases/26.09.001/release.yaml": { version: "26.09.001", date: "2026-09-15", surprise: 1 },
      "out/keep": "",
    });
    const run = (...args: string[]) => relcat(join(made.folder, place), args);
    const checked = await run("check");
    expect(checked.exitCode).toBe(1);
    expect(checked.stdout).toContain(`${root}/releases/26.09.001/release.yaml:1:`);
    made.write("releases/26.09.001/release.yaml", { version: "26.09.001", date: "2026-09-15" });
    expect((await run("cut", "--all", "--now", firstCut)).exitCode).toBe(0);
    expect(made.read("releases/ledger.jsonl").split("\n")).toHaveLength(6);
    const [here, there] = [await made.run("list"), await run("list")];
    expect(there).toEqual(here);
    expect((await run("status", "--offline")).stdout).toContain("26.09.001");
    expect((await run("__words", "next", "--", "plan")).stdout).toContain(
      "26.09.001\t3 records in the ledger",
    );
  });

  test("build writes the same bytes into the project's dist; --out is relative to the current folder", async () => {
    const made = await cutCatalog();
    made.write("out/keep", "");
    await made.succeed("build", "--out", "expected");
    const run = (...args: string[]) => relcat(join(made.folder, place), args);
    const first = await run("build");
    expect([first.exitCode, first.stdout]).toEqual([0, expect.stringContaining(`into ${root}/dist/: `)]);
    expect(differences(readTree(join(made.folder, "dist")), readTree(join(made.folder, "expected")))).toEqual(
      [],
    );
    expect((await run("build", "--out", `${root}/public`)).stdout).toContain(`into ${root}/public/: `);
    expect(made.list("public")).toEqual(made.list("dist"));
    expect(made.list(place)).not.toContain("dist");
    // A build without changes ends before the command line is parsed.
    expect((await run("build")).stdout).toContain(": 0 files written, ");
  });
});

test("--out in two folders builds into two folders", async () => {
  const made = await cutCatalog();
  for (const folder of ["out", "docs"]) {
    made.write(`${folder}/keep`, "");
    const run = () => relcat(join(made.folder, folder), ["build", "--out", "site"]);
    expect((await run()).stdout).toMatch(/into site\/: [1-9]\d* files written/);
    expect(made.list(folder)).toEqual(["keep", "site"]);
    expect((await run()).stdout).toContain("into site/: 0 files written");
  }
  // A built site has a releases folder, but is not a project.
  expect((await relcat(join(made.folder, "docs/site"), ["list"])).stdout).toBe(
    (await made.run("list")).stdout,
  );
});

test("a typed file is relative to the current folder, and the default manifest to the project", async () => {
  const made = project({
    "releases/catalog.yaml": { require: {} },
    ...release("26.09.001", []),
    "out/tool-26.09.001.rpm": "rpm",
  });
  const manifests = "releases/26.09.001/manifests";
  const ingest = (folder: string, ...words: string[]) =>
    relcat(join(made.folder, folder), ["ingest", "--release", "26.09.001", ...words]);
  const first = await ingest("out", "tool-26.09.001.rpm");
  expect([first.exitCode, first.stderr]).toEqual([0, expect.stringContaining("Next: relcat check")]);
  const [name = ""] = made.list(manifests);
  expect(first.stdout).toContain(`Wrote ../${manifests}/${name} `);
  rmSync(join(made.folder, manifests, name));
  made.write(`${manifests}/.keep`, "");
  const second = await ingest(manifests, "--out", "a.json", "../../../out/tool-26.09.001.rpm");
  expect([second.exitCode, second.stderr]).toEqual([0, expect.stringContaining("Next: relcat check")]);
  expect(made.list(manifests)).toEqual([".keep", "a.json"]);
});

test("upload, sign, publish, history and verify use the project's folders, keys and programs", async () => {
  const made = project({ ...release("26.09.001", []), "out/tool-26.09.001.rpm": "rpm" });
  const keys = join(temporaryFolder(), "keys");
  expect((await relcat(join(made.folder, "releases/26.09.001"), ["trust", "init", keys])).exitCode).toBe(0);
  cpSync(join(keys, "online.pem"), join(made.folder, "online.pem"));
  const script = 'fs.appendFileSync("hook.log", process.cwd() + "\\n")';
  made.write("releases/catalog.yaml", {
    require: {},
    base_url: "https://downloads.example.com",
    trust: { profile: "simple", online: { file: "online.pem" } },
    sites: { prod: { url: "dir:www", purge: { exec: [process.execPath, "-e", script] } } },
  });
  const run = async (line: string) => {
    const result = await relcat(join(made.folder, "out"), line.split(" "));
    expect(result.exitCode, `${line}\n${result.stderr}`).toBe(0);
    return result.stdout;
  };
  await run("ingest --release 26.09.001 tool-26.09.001.rpm");
  await run("upload --site prod --release 26.09.001 tool-26.09.001.rpm");
  await run("cut --all");
  for (const command of ["build --released --site prod", "sign --site prod", "publish prod"])
    await run(command);
  expect(made.list("www")).toContain("current");
  expect(made.read("hook.log")).toBe(`${realpathSync(made.folder)}\n`);
  expect(await run("history prod")).toBe((await made.succeed("history", "prod")).stdout);
  expect(await run("verify ../www/current")).toContain("../www/current");
  expect(await run("status")).toContain("nothing to do");
  expect(made.list("out")).toEqual(["tool-26.09.001.rpm"]);
  const taken = await run("download latest rpm --from ../www/current --out copy.rpm");
  expect(taken).toContain("Downloaded copy.rpm: rpm of 26.09.001");
  made.write("releases/26.09.001/notes/late.yaml", note("Said later."));
  const corrected = new Date().toISOString().slice(0, 10);
  made.write("releases/26.09.001/release.yaml", { version: "26.09.001", date: "2026-09-15", corrected });
  for (const command of ["build --released --site prod", "sign --site prod", "publish prod"])
    await run(command);
  const page = () => made.read("www/current/releases/26.09.001/index.html");
  expect(page()).toContain("Said later.");
  await run("rollback prod --reason Wrong --yes");
  expect(page()).not.toContain("Said later.");
  expect(made.read("hook.log")).toBe(`${realpathSync(made.folder)}\n`.repeat(3));
  // The hint names the project's root relative to this folder.
  const address = ["verify", "https://elsewhere.example.com"];
  const hint = "hint: Give the root you trust: --root ../releases/trust/1.root.json, or ";
  expect((await relcat(join(made.folder, "out"), address)).stderr).toContain(hint);
});

test("retract, reinstate and uncut write the project's ledger", async () => {
  const made = await cutCatalog();
  const there = join(made.folder, "releases/26.08.001");
  const ledger = () => made.read("releases/ledger.jsonl").trimEnd().split("\n");
  const run = async (...words: string[]) => {
    const { exitCode, stderr } = await relcat(there, words);
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining("Next: ")]);
    return stderr;
  };
  expect(await run("retract", "1", "--reason", "Bad.", "--yes")).toContain(
    "commit ../../releases/ledger.jsonl, then",
  );
  expect(ledger().at(-1)).toContain('{"event":"retract","id":1,');
  await run("reinstate", "1", "--yes");
  expect(ledger().at(-1)).toContain('{"event":"reinstate","id":1,');
  made.write("releases/26.10.001/release.yaml", { version: "26.10.001", date: "2026-10-15" });
  made.write("releases/26.10.001/manifests/all.json", {
    release: "26.10.001",
    artifacts: [artifact("tool-26.10.001.rpm", "rpm", "6")],
  });
  await run("cut", "26.10.001");
  expect(ledger()).toHaveLength(8);
  await run("uncut", "26.10.001", "--ledger-base", "none");
  expect(ledger()).toHaveLength(7);
});

test("ledger rebase joins the project's ledgers", async () => {
  const made = await settledProject();
  await cutBranch(made, "first", "26.09.001", "3", "2026-09-02T10:00:00Z");
  await cutBranch(made, "second", "26.09.002", "4", "2026-09-03T10:00:00Z");
  await conflicting(made, "merge", "first");
  const { exitCode, stderr } = await relcat(join(made.folder, "releases/26.08.001"), [
    ...["ledger", "rebase", "--onto", "first"],
  ]);
  expect([exitCode, stderr]).toEqual([
    0,
    expect.stringContaining("Next: git add ../../releases/ledger.jsonl, then git merge --continue, "),
  ]);
  expect(records(made).slice(2)).toEqual([
    "3 26.09.001 tool-26.09.001.msi",
    "4 26.09.001 tool-26.09.001.rpm",
    "5 26.09.002 tool-26.09.002.msi",
    "6 26.09.002 tool-26.09.002.rpm",
  ]);
});

test("import reads a file of the current folder into the project", async () => {
  const [row] = rows;
  if (!row) throw new Error("no row");
  const live = liveRecord({ id: 2, version: "26.05.001", row, name: "tool", created: firstCut });
  const made = project({ "releases/catalog.yaml": { require: {} }, "out/live.json": [live] });
  const { exitCode, stderr } = await relcat(join(made.folder, "out"), [
    ...["import", "live.json", "--accept-violations"],
  ]);
  expect([exitCode, stderr]).toEqual([
    0,
    expect.stringContaining("Next: relcat check, commit ../releases/, then relcat build --released"),
  ]);
  expect(made.list("releases/26.05.001")).toEqual(["manifests", "release.yaml"]);
  expect(made.list("out")).toEqual(["live.json"]);
});

test("serve serves the project's site", async () => {
  const made = await cutCatalog();
  await made.succeed("build");
  const running = execa(process.execPath, [program, "serve", "--json", "--port", "0"], {
    cwd: join(made.folder, "releases"),
    reject: false,
  });
  let said = "";
  for await (const chunk of running.stdout) {
    said += chunk;
    if (said.includes('"url"')) break;
  }
  const { url } = JSON.parse(said) as { url: string };
  expect(await (await fetch(new URL("build.json", url))).text()).toBe(made.read("dist/build.json"));
  running.kill("SIGTERM");
  expect((await running).exitCode).toBe(0);
});

test("plan and cut --commit use the project's repository", async () => {
  const made = project({
    ...smallCatalog,
    "releases/catalog.yaml": { require: {}, ledger: { base: "main" } },
  });
  await made.git("init", "--quiet", "-b", "main");
  await made.git("config", "user.name", "Test");
  await made.git("config", "user.email", "test@example.com");
  await made.git("add", ".");
  await made.git("commit", "--quiet", "-m", "first");
  const there = join(made.folder, "releases/26.08.001");
  const plan = ["plan", "--now", firstCut, "--out"];
  await made.succeed(...plan, "here.json");
  expect((await relcat(there, [...plan, "../../there.json"])).exitCode).toBe(0);
  expect(made.read("there.json")).toBe(made.read("here.json"));
  const cut = await relcat(there, ["cut", "--plan", "../../here.json", "--commit"]);
  expect([cut.exitCode, cut.stderr]).toEqual([0, expect.any(String)]);
  expect(await made.git("show", "--name-only", "--format=", "HEAD")).toBe("releases/ledger.jsonl");
});

describe("relcat does not find", () => {
  const missing = "error[folder-missing] there is no folder releases here";

  test("a project above the top of the git work tree", async () => {
    const made = project({ ...smallCatalog, "source/deep/keep": "" });
    await made.git("init", "--quiet", "source");
    for (const folder of ["source", "source/deep"])
      expect((await relcat(join(made.folder, folder), ["check"])).stderr).toContain(missing);
    made.write("source/releases/catalog.yaml", { product: "Inner", require: {} });
    expect((await relcat(join(made.folder, "source/deep"), ["check"])).exitCode).toBe(0);
  });

  test.skipIf(process.getuid?.() !== 0)("a project of another user, except with -C", async () => {
    const made = project({ ...smallCatalog, "deep/keep": "" });
    lchownSync(join(made.folder, "releases"), 65534, 65534);
    const below = join(made.folder, "deep");
    expect((await relcat(below, ["check"])).stderr).toBe(
      `${missing}\n  hint: Run relcat init to create one, or give the project's folder with -C. A project above this folder counts if it is yours.`,
    );
    expect((await relcat(below, ["-C", "..", "check"])).exitCode).toBe(0);
  });
});

test("-C names the folder to start from, and hints repeat it", async () => {
  const made = project(smallCatalog);
  const { exitCode, stderr } = await made.run("-C", "releases/26.08.001", "cut", "--all");
  expect([exitCode, stderr]).toEqual([
    0,
    expect.stringContaining(
      "Next: commit ../../releases/, then relcat -C releases/26.08.001 build --released",
    ),
  ]);
  const build = await made.run("build", "-C", "releases");
  expect(build.stdout).toContain("into ../dist/: ");
  // A remembered command line applies to its folder only.
  expect((await relcat(join(made.folder, "releases"), ["build", "-C", "releases"])).stderr).toContain(
    "error[folder-missing] there is no folder releases here",
  );
});

test("init starts in the given folder, and reports a project above it", async () => {
  const made = project({ ...smallCatalog, "deep/keep": "" });
  const { exitCode, stderr } = await relcat(join(made.folder, "deep"), initAlone);
  expect(exitCode).toBe(0);
  expect(made.list("deep")).toContain("releases");
  expect(stderr).toContain(
    "../ already contains a project: commands in this folder now use the new one instead.",
  );
  expect((await project().run(...initAlone)).stderr).not.toContain("already contains a project");
});

test("init in a folder of a repository says where its workflow belongs", async () => {
  const made = project({ "deep/keep": "" });
  await execa("git", ["init", "--quiet"], { cwd: made.folder });
  const below = await relcat(join(made.folder, "deep"), initAlone);
  expect(below.stderr).toContain("Move .github/workflows/ there,");
  expect((await made.run(...initAlone)).stderr).not.toContain("workflows");
});

test("new opens a release of the project", async () => {
  const made = project(smallCatalog);
  const { stdout, stderr } = await relcat(join(made.folder, "releases/next/notes"), ["new", "26.10"]);
  expect(stdout).toContain("in ../../../releases/26.10.001/ with 1 note from ../../../releases/next/notes");
  expect(stderr).toContain("Next: relcat ingest --release 26.10.001 BUILD-OUTPUT, then relcat check");
  expect(made.list("releases/26.10.001")).toContain("release.yaml");
});

test("annotations name files relative to the repository's root", async () => {
  const made = project({
    ...smallCatalog,
    "releases/26.08.001/release.yaml": { version: "26.08.001", date: "?" },
  });
  const below = join(made.folder, "releases/26.09.001");
  expect((await relcat(below, ["check", "--format", "github"])).stdout).toContain(
    "file=releases/26.08.001/release.yaml",
  );
});

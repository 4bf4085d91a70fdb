import {
  cpSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import { copyProject, program, relcat, temporaryFolder } from "../support/run.ts";
import { differences, readTree } from "../support/tree.ts";

const unchanged = /: 0 files written, \d+ unchanged, 0 removed, /;

async function built(folder: string, ...options: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await relcat(folder, ["build", ...options]);
  expect(exitCode, stderr).toBe(0);
  return stdout;
}

/** Modules that a build without changes loads, except its own libraries. */
async function loaded(folder: string, ...options: string[]): Promise<string[]> {
  const watch = join(folder, "watch.mjs");
  writeFileSync(
    watch,
    `import { writeFileSync } from "node:fs"; import { registerHooks } from "node:module"; const seen = [];
registerHooks({ load(url, context, next) { seen.push(url); return next(url, context); } });
process.on("exit", () => writeFileSync("seen", seen.join("\\n")));`,
  );
  const args = ["--import", watch, program, "build", ...options];
  await execa(process.execPath, args, { cwd: folder });
  const urls = readFileSync(join(folder, "seen"), "utf8").split("\n");
  return urls.filter((url) => url.startsWith("file:")).map((url) => url.slice(url.lastIndexOf("/") + 1));
}

test("a build with nothing to do prints the report of the last one, and loads no library", async () => {
  const folder = copyProject("site/small");
  const first = await relcat(folder, ["build"]);
  const second = await relcat(folder, ["build"]);
  expect(second.stdout.replace(unchanged, "")).toBe(
    first.stdout.replace(/: \d+ files written, .* removed, /, ""),
  );
  expect(second.stdout).toMatch(unchanged);
  expect(second.stderr).toBe(first.stderr);
  const chunks = await loaded(folder);
  expect(chunks.length).toBeLessThan(17);
  const text = chunks.map((name) => {
    const chunk = join(dirname(program), "../build/program", name);
    return statSync(chunk, { throwIfNoEntry: false }) ? readFileSync(chunk, "utf8") : "";
  });
  expect(text.join("\n")).not.toMatch(/node_modules\/(zod|yaml|handlebars|commander|fast-glob)\//);
  expect(text.join("\n")).not.toMatch(/^import .*"node:/m);
});

test("a build with nothing to do prints the same document with --json", async () => {
  const folder = copyProject("site/small");
  const { files, ...first } = JSON.parse(await built(folder, "--json"));
  const { files: later, ...second } = JSON.parse(await built(folder, "--json"));
  expect(second).toEqual(first);
  expect(later).toEqual({ written: 0, unchanged: files.written, removed: 0 });
});

test("the repeated report has the colours of the current options", async () => {
  const folder = copyProject("site/small");
  const run = async (...options: string[]) =>
    (await relcat(folder, ["build", ...options], { env: { FORCE_COLOR: "1" } })).stderr;
  const [first, plain] = [await run(), await run("--no-color")];
  expect(first).toContain("\u001b[2mNext:");
  expect(plain).not.toContain("\u001b");
  expect([await run(), await run("--no-color")]).toEqual([first, plain]);
  expect((await relcat(folder, ["build"])).stderr).toBe(plain);
});

test("the repeated report can be written to files, to closed pipes and to full disks", async () => {
  const folder = copyProject("site/small");
  await built(folder);
  const line = `"${process.execPath}" "${program}" build`;
  const shell = (command: string) => execa("bash", ["-c", command], { cwd: folder, reject: false });
  await shell(`${line} >out 2>err`);
  const { stdout, stderr } = await relcat(folder, ["build"]);
  expect(stdout).toMatch(unchanged);
  expect(readFileSync(join(folder, "out"), "utf8")).toBe(`${stdout}\n`);
  expect(readFileSync(join(folder, "err"), "utf8")).toBe(`${stderr}\n`);
  const waitUntilGone = "trap '' PIPE; while echo; do :; done 2>/dev/null";
  const gone = await shell(`{ ${waitUntilGone}; ${line}; echo "status $?" >&2; } | true`);
  expect(gone.stderr).toBe(`${stderr}\nstatus 0`);
  const full = await shell(`${line} >/dev/full`);
  expect(full.exitCode).toBe(2);
  expect(full.stderr).toContain("error[file-access] cannot write the output (ENOSPC)");
});

const release = "releases/26.08.002/release.yaml";

test("a build notices a change of the same size in the same second", async () => {
  const folder = copyProject("site/small");
  await built(folder);
  const path = join(folder, release);
  const text = readFileSync(path, "utf8");
  writeFileSync(path, text.replace("date: 2026-08-", "date: 2026-07-"));
  expect(await built(folder)).not.toMatch(unchanged);
});

test("a build notices a change behind a time that was set back", async () => {
  const folder = copyProject("site/small");
  const path = join(folder, release);
  utimesSync(path, 1_700_000_000, 1_700_000_000);
  await built(folder);
  const text = readFileSync(path, "utf8");
  writeFileSync(path, text.replace("date: 2026-08-", "date: 2026-07-"));
  utimesSync(path, 1_700_000_000, 1_700_000_000);
  expect(await built(folder)).not.toMatch(unchanged);
});

test("a build reads a file with a new time once, and changes nothing", async () => {
  const folder = copyProject("site/small");
  await built(folder);
  utimesSync(join(folder, release), 1_700_000_000, 1_700_000_000);
  expect(await built(folder)).toMatch(unchanged);
  expect((await loaded(folder)).length).toBeLessThan(17);
});

test("a build makes outputs again that were deleted, edited or replaced by links", {
  tags: ["long"],
}, async () => {
  const folder = copyProject("site/small");
  const dist = join(folder, "dist");
  await built(folder);
  const before = readTree(dist);
  for (const path of ["api/v1/package/1/index.json", "releases/26.08.002/SHA256SUMS", "feed.atom"]) {
    rmSync(join(dist, path));
    await built(folder);
    expect(differences(readTree(dist), before)).toEqual([]);
  }
  writeFileSync(join(dist, "releases/26.08.002/index.html"), "edited");
  renameSync(join(dist, "api/v1"), join(folder, "moved"));
  symlinkSync(join(folder, "moved"), join(dist, "api/v1"));
  await built(folder);
  expect(differences(readTree(dist), before)).toEqual([]);
  expect(await built(folder)).toMatch(unchanged);
});

test("a build notices a changed template", { tags: ["long"] }, async () => {
  const folder = copyProject("site/small");
  const own = join(temporaryFolder(), "relcat");
  for (const name of ["cli", "build", "package.json", "templates", "schemas"])
    cpSync(join(dirname(program), "..", name), join(own, name), { recursive: true, dereference: true });
  symlinkSync(join(dirname(program), "../node_modules"), join(own, "node_modules"));
  const run = async () => {
    const args = [join(own, "cli/relcat.mjs"), "build"];
    return (await execa(process.execPath, args, { cwd: folder })).stdout;
  };
  await run();
  expect(await run()).toMatch(unchanged);
  const template = join(own, "templates/not-found.hbs");
  writeFileSync(template, readFileSync(template, "utf8").replace("</h1>", "!</h1>"));
  expect(await run()).toMatch(/: [1-9]\d* files written/);
  expect(readFileSync(join(folder, "dist/404.html"), "utf8")).toContain("!</h1>");
});

test("a project whose cache cannot be written builds into another folder", async () => {
  const folder = copyProject("site/small");
  mkdirSync(join(folder, "elsewhere"));
  writeFileSync(join(folder, ".relcat-cache"), "not a folder");
  expect(await built(folder, "--out", "elsewhere")).toContain("Built ");
  expect(await built(folder, "--out", "elsewhere")).toMatch(unchanged);
});

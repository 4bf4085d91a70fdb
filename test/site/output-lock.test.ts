import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { afterEach, expect, test, vi } from "vitest";
import { withOutputLock } from "../../pipeline/system/lock.ts";
import { copyProject, relcat, temporaryFolder } from "../support/run.ts";
import { readSiblings, readTree } from "../support/tree.ts";

afterEach(() => vi.unstubAllEnvs());

const locked = (out: string) =>
  withOutputLock(
    out,
    process.pid,
    () => {},
    () => "held",
  );

test("a built folder has only the site's files, and is the same in any place", async () => {
  const [one, other] = [copyProject("site/small"), copyProject("site/small")];
  expect(await relcat(one, ["build"])).toMatchObject({ exitCode: 0 });
  expect(await relcat(other, ["build", "--out", "deep/below/site"])).toMatchObject({ exitCode: 0 });
  // Earlier versions left these.
  writeFileSync(join(one, "dist/.relcat-lock"), "");
  expect(await relcat(one, ["build", "--json"])).toMatchObject({ exitCode: 0 });
  const [dist, site] = [join(one, "dist"), join(other, "deep/below/site")];
  const { stdout } = await execa("diff", ["-r", dist, site], { reject: false });
  expect(stdout).toBe("");
  const files = readdirSync(dist, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  expect(files).toHaveLength(readTree(dist).size + readSiblings(dist).size);
  expect(readdirSync(one)).toContain(".relcat-lock-dist");
  expect(readdirSync(join(other, "deep/below")).sort()).toEqual([".relcat-lock-site", "site"]);
});

test("every path to a folder leads to one lock", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "real/dist"), { recursive: true });
  symlinkSync(join(folder, "real"), join(folder, "link"));
  symlinkSync(join(folder, "link/dist"), join(folder, "current"));
  await locked(join(folder, "current"));
  await locked(join(folder, "link/dist/"));
  await locked(join(folder, "link/../real/./dist"));
  expect(readdirSync(join(folder, "real")).sort()).toEqual([".relcat-lock-dist", "dist"]);
  expect(readdirSync(folder).sort()).toEqual(["current", "link", "real"]);
});

test("the lock is in a folder of this host if the folder's parent is not writable", async () => {
  const [folder, runtime] = [temporaryFolder(), temporaryFolder()];
  writeFileSync(join(folder, "file"), "");
  vi.stubEnv("XDG_RUNTIME_DIR", runtime);
  await locked(join(folder, "file/dist"));
  expect(readdirSync(join(runtime, "relcat"))).toEqual([expect.stringMatching(/^[0-9a-f]{32}\.lock$/)]);
  vi.stubEnv("XDG_RUNTIME_DIR", undefined);
  vi.stubEnv("TMPDIR", runtime);
  await locked(join(folder, "file/dist"));
  expect(readdirSync(runtime).filter((name) => name.startsWith("relcat-"))).toHaveLength(1);
});

test("a folder with an unusually long name has a lock too", async () => {
  const folder = temporaryFolder();
  await locked(join(folder, "x".repeat(250)));
  expect(readdirSync(folder)).toEqual([expect.stringMatching(/^\.relcat-lock-[0-9a-f]{32}$/)]);
});

test("a build finishes a folder of an interrupted first build, and removes its remains", async () => {
  const folder = copyProject("site/small");
  mkdirSync(join(folder, "dist/.relcat-tmp"), { recursive: true });
  writeFileSync(join(folder, "dist/.relcat-tmp/journal"), "half/made.html\nhalf/no");
  writeFileSync(join(folder, "dist/.relcat-tmp/file"), "on its way");
  mkdirSync(join(folder, "dist/half"));
  writeFileSync(join(folder, "dist/half/made.html"), "half");
  expect(await relcat(folder, ["build"])).toMatchObject({ exitCode: 0 });
  expect(existsSync(join(folder, "dist/half"))).toBe(false);
  expect(existsSync(join(folder, "dist/.relcat-tmp"))).toBe(false);
});

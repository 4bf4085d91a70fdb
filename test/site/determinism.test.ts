/** @module-tag long */
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import { copyProject, program, relcat, temporaryFolder } from "../support/run.ts";
import { differences, readTree } from "../support/tree.ts";

/** Copies file by file in the opposite order, so that folders list them differently. */
function copyBackwards(from: string, to: string): void {
  const files = readdirSync(from, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  for (const entry of files.reverse()) {
    const path = join(entry.parentPath, entry.name);
    const target = join(to, path.slice(from.length));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, readFileSync(path));
  }
}

test("folder, time zone, locale, umask, file order and time of day change no byte", async () => {
  const here = copyProject(".");
  const there = join(temporaryFolder(), "another folder/with ünïcode");
  copyBackwards(join(here, "releases"), join(there, "releases"));
  const command = [process.execPath, program, "build"].map((part) => `'${part}'`).join(" ");

  const first = await execa("sh", ["-c", `umask 022; ${command}`], {
    cwd: here,
    env: { TZ: "UTC", LC_ALL: "C" },
    reject: false,
  });
  const second = await execa("sh", ["-c", `umask 077; ${command} --out site`], {
    cwd: there,
    env: {
      TZ: "Pacific/Chatham",
      LC_ALL: "tr_TR.UTF-8",
      LANG: "tr_TR.UTF-8",
      COLUMNS: "40",
      FORCE_COLOR: "1",
    },
    reject: false,
  });
  expect([first.exitCode, second.exitCode], first.stderr + second.stderr).toEqual([0, 0]);

  const [a, b] = [readTree(join(here, "dist")), readTree(join(there, "site"))];
  expect(a.size).toBeGreaterThan(100);
  expect(differences(a, b)).toEqual([]);
});

test("building over an older site gives the same bytes as building into an empty folder", async () => {
  const folder = copyProject("site/small");
  expect((await relcat(folder, ["build"])).exitCode).toBe(0);
  const manifest = join(folder, "releases/26.08.002/manifests/desktop.json");
  writeFileSync(
    manifest,
    readFileSync(manifest, "utf8")
      .replaceAll("client-26.08.002.pkg", "Client-26.08.002.pkg")
      .replace('"name"', '"description": "Installer", "name"'),
  );
  cpSync(join(folder, "releases/ledger.jsonl"), join(folder, "ledger.bak"));
  writeFileSync(
    join(folder, "releases/ledger.jsonl"),
    readFileSync(join(folder, "ledger.bak"), "utf8").split("\n").slice(0, 7).join("\n").concat("\n"),
  );
  for (const args of [["build"], ["build", "--out", "fresh"]]) {
    const { exitCode, stderr } = await relcat(folder, args);
    expect(exitCode, stderr).toBe(0);
  }
  expect(differences(readTree(join(folder, "dist")), readTree(join(folder, "fresh")))).toEqual([]);
});

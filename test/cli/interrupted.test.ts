import { mkdirSync, watch } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import { artifact, type Files, project, release } from "../support/project.ts";
import { program } from "../support/run.ts";

/** Enough files for an interrupt in the middle of them. */
const months = ["01", "02", "03", "04", "05", "06"];
const manyReleases: Files = {
  "releases/catalog.yaml": { require: {} },
  ...Object.assign(
    {},
    ...months.map((month) => {
      const version = `26.${month}.001`;
      const artifacts = Array.from({ length: 60 }, (_, index) =>
        artifact(`tool-${index}-${version}.xz`, "xz", "a"),
      );
      return release(version, artifacts);
    }),
  ),
};

/** Starts a command and sends Ctrl-C's signal once something under a name appears below a folder. */
async function interruptAt(folder: string, below: string, name: string, args: readonly string[]) {
  mkdirSync(join(folder, below), { recursive: true });
  const command = [program, ...args];
  const running = execa(process.execPath, command, { cwd: folder, reject: false });
  const watcher = watch(join(folder, below), { recursive: true }, (_, path) => {
    if (path?.startsWith(name)) running.kill("SIGINT");
  });
  const result = await running;
  watcher.close();
  return result;
}

test("Ctrl-C during a build leaves complete files and a folder that the next build finishes", {
  tags: ["long"],
}, async () => {
  const { folder, read, list, succeed } = project(manyReleases);
  const { exitCode, signal } = await interruptAt(folder, "dist", "api", ["build"]);
  // A fast machine may finish before the signal arrives, but must not fail in another way.
  expect(signal ?? exitCode).toBe(list("dist").includes("build.json") ? (signal ?? 0) : "SIGINT");
  for (const id of list("dist/api/v1/package").filter((name) => /^\d+$/.test(name))) {
    for (const file of list(`dist/api/v1/package/${id}`))
      JSON.parse(read(`dist/api/v1/package/${id}/${file}`));
  }
  await succeed("build");
  expect(JSON.parse(read("dist/build.json")).schema_version).toBe(1);
});

test("Ctrl-C during a cut leaves the ledger unchanged or complete", async () => {
  const { folder, run, read, list } = project(manyReleases);
  await interruptAt(folder, "releases", ".relcat", ["cut", "--all"]);
  const ledger = list("releases").includes("ledger.jsonl") ? read("releases/ledger.jsonl") : "";
  expect([0, 360]).toContain(ledger.split("\n").length - 1);
  expect((await run("check")).exitCode).toBe(0);
});

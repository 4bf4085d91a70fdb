import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { execa } from "execa";
import { expect, test } from "vitest";
import { readLedgerNow } from "../../pipeline/index.ts";
import { copyProject, program, relcat, spawnRelcat } from "../support/run.ts";

const writers = 20;

test("twenty concurrent writers, some of them killed, leave a valid ledger with every finished event once", async () => {
  const folder = copyProject("site/small");
  const manifests = join(folder, "releases/26.08.002/manifests");
  mkdirSync(manifests, { recursive: true });
  const artifact = (index: number) => ({
    name: `tool-${index}.rpm`,
    package_type: "rpm",
    sha256: index.toString(16).padStart(64, "0"),
    attestation: { sha256: index.toString(16).padStart(64, "0") },
  });
  const runs = Array.from({ length: writers }, async (_, index) => {
    writeFileSync(
      join(manifests, `job-${index}.json`),
      JSON.stringify({ release: "26.08.002", artifacts: [artifact(index)] }),
    );
    const child = execa(process.execPath, [program, "cut", "26.08.002"], {
      cwd: folder,
      reject: false,
    });
    // A quarter of them is killed about when it gets the lock.
    if (index % 4 === 3) child.stderr?.once("data", () => child.kill("SIGKILL"));
    return child;
  });
  const results = await Promise.all(runs);
  const finished = results.filter((result) => result.exitCode === 0);
  expect(finished.length).toBeGreaterThanOrEqual(writers / 2);
  for (const { exitCode, signal, stderr } of results) {
    expect(exitCode === 0 || signal === "SIGKILL", `${exitCode} ${signal} ${stderr}`).toBe(true);
  }
  expect((await relcat(folder, ["cut", "26.08.002"])).exitCode).toBe(0);
  const ledger = readLedgerNow(join(folder, "releases"));
  const files = [...ledger.byId.values()]
    .map((entry) => entry.add.file)
    .filter((file) => file.startsWith("tool-"));
  expect(files.sort()).toEqual(Array.from({ length: writers }, (_, index) => `tool-${index}.rpm`).sort());
});

/** Node's options for a process in which every wait of 30 seconds takes 0.6. */
const shortWaits = `
  import { syncBuiltinESMExports } from "node:module";
  import timers from "node:timers/promises";
  const { setTimeout } = timers;
  timers.setTimeout = (milliseconds, ...rest) => setTimeout(milliseconds / 50, ...rest);
  syncBuiltinESMExports();`;

test("a writer that waits too long names the holder of the lock", async () => {
  const folder = copyProject("site/small");
  const lock = new DatabaseSync(join(folder, "releases/.relcat-lock"));
  lock.exec("BEGIN IMMEDIATE");
  writeFileSync(join(folder, "releases/.relcat-lock-holder"), "4711\n");
  const before = readFileSync(join(folder, "releases/ledger.jsonl"), "utf8");
  const { exitCode, stderr } = await spawnRelcat(folder, ["retract", "7", "--reason", "Broken.", "--yes"], {
    nodeArgs: ["--import", `data:text/javascript,${encodeURIComponent(shortWaits)}`],
  });
  lock.close();
  expect(exitCode).toBe(3);
  expect(stderr).toContain(
    "error[lock-held] the relcat with process id 4711 is writing to releases\n  hint: Wait for it to finish, then run the command again.",
  );
  expect(readFileSync(join(folder, "releases/ledger.jsonl"), "utf8")).toBe(before);
});

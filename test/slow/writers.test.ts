import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import type { Readable } from "node:stream";
import { execa } from "execa";
import { expect, test } from "vitest";
import { readLedgerNow } from "../../pipeline/index.ts";
import { eventsOf, files } from "../ledger/history.ts";
import { plainRelease, type Releases, releases } from "../support/catalog.ts";
import { often } from "../support/effort.ts";
import { copyProject, program, relcat, spawnRelcat } from "../support/run.ts";

interface Writer {
  /** The event that it should write, as eventsOf shows it, without the id of an added file. */
  event: RegExp;
  child: ChildProcessByStdio<null, Readable, Readable>;
  said: string[];
  errors: string[];
}

/** Starts a writer, which is killed when it prints a word with this beginning. */
function start(catalog: Releases, verb: string, what: string, killAt?: string): Writer {
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, "writer.ts"), catalog.folder, verb, what],
    {
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  const event = verb === "cut" ? new RegExp(`^add \\d+ a-${what}\\.rpm$`) : new RegExp(`^retract ${what}$`);
  const writer: Writer = { event, child, said: [], errors: [] };
  createInterface(child.stdout).on("line", (word) => {
    writer.said.push(word);
    if (killAt !== undefined && word.startsWith(killAt)) child.kill("SIGKILL");
  });
  createInterface(child.stderr).on("line", (text) => writer.errors.push(text));
  return writer;
}

const numbers = Array.from({ length: often(10, 5) }, (_, index) => index + 1);
const version = (number: number) => `26.09.${String(number).padStart(3, "0")}`;

test("many writers, some of them killed, write every other event exactly once", async () => {
  const names = numbers.map((number) => `r${number}`);
  const catalog = releases(plainRelease("26.08.001", files("26.08.001", ...names)));
  await catalog.cut({}, "2026-08-19T10:00:00Z");
  for (const number of numbers) catalog.write(plainRelease(version(number), files(version(number), "a")));

  // Two each are killed before, while and after they hold the lock.
  const fate = (number: number) => [undefined, "started", "waiting", undefined, "done"][number % 5];
  const writers = numbers.flatMap((number) => [
    start(catalog, "cut", version(number), fate(number)),
    start(catalog, "retract", String(number), fate(number + 1)),
  ]);
  await Promise.all(writers.map(({ child }) => once(child, "close")));

  const events = eventsOf(catalog);
  for (const { event, child, said, errors } of writers) {
    const count = events.filter((each) => event.test(each)).length;
    expect(errors).toEqual([]);
    if (child.signalCode === null || said.includes("done")) expect(count, `${event}`).toBe(1);
    else expect(count, `${event}`).toBeLessThanOrEqual(1);
  }
  expect(writers.filter(({ child }) => child.signalCode === "SIGKILL").length).toBeGreaterThan(3);
  // Releases with fewer artifacts than the one before are warned about.
  expect((await catalog.problems()).filter((each) => !each.includes(" warning["))).toEqual([]);

  // The next writer is not blocked by the killed ones.
  await catalog.cut();
  const ids = [...(await catalog.load()).ledger.byId.values()].map(({ add }) => add.id);
  expect(ids).toEqual(Array.from({ length: 2 * numbers.length }, (_, index) => index + 1));
});

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

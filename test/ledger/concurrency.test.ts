/** @module-tag long */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { expect, test } from "vitest";
import { retract, uncut } from "../../pipeline/index.ts";
import { withLock } from "../../pipeline/system/lock.ts";
import { plainRelease, type Releases, releases, surroundings } from "../support/catalog.ts";
import { often } from "../support/effort.ts";
import { eventsOf, files } from "./history.ts";

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

test("a waiting writer gets the process id of the holder, and continues when the lock is free", async () => {
  const catalog = releases(plainRelease("26.08.001", files("26.08.001", "a")));
  await catalog.cut();
  const waiting = Promise.withResolvers<number>();
  const holding = withLock(
    catalog.folder,
    4711,
    () => {},
    () => waiting.promise,
  );
  await retract(
    catalog.folder,
    { ids: [1], reason: "Broken." },
    { ...surroundings(), onWait: waiting.resolve },
  );
  expect(await holding).toBe(4711);
  expect(eventsOf(catalog)).toEqual(["add 1 a-26.08.001.rpm", "retract 1"]);
});

test("a ledger that a program without the lock changes meanwhile is not overwritten", async () => {
  const catalog = releases(plainRelease("26.08.001", files("26.08.001", "a")));
  await catalog.cut();
  const ledger = join(catalog.folder, "ledger.jsonl");
  const before = readFileSync(ledger, "utf8");
  const proveLedger = async () => appendFileSync(ledger, "{}\n");
  await expect(
    uncut(catalog.folder, "26.08.001", "none", { ...surroundings(), proveLedger }),
  ).rejects.toThrow(`lock-held: ${ledger} was changed by something else in the meantime`);
  expect(readFileSync(ledger, "utf8")).toBe(`${before}{}\n`);
});

test("a lock leaves the same bytes behind, so that a lock file in git stays unchanged", async () => {
  const catalog = releases(plainRelease("26.08.001", files("26.08.001", "a")));
  await catalog.cut();
  const locks = () => readdirSync(catalog.folder).filter((name) => name.startsWith(".relcat-lock"));
  const before = readFileSync(join(catalog.folder, ".relcat-lock"));
  await catalog.retract({ ids: [1], reason: "Broken." });
  expect([locks(), readFileSync(join(catalog.folder, ".relcat-lock"))]).toEqual([[".relcat-lock"], before]);
});

test("a lock is free again after its work failed", async () => {
  const catalog = releases(plainRelease("26.08.001", files("26.08.001", "a")));
  await expect(catalog.retract({ ids: [9], reason: "Broken." })).rejects.toThrow("record-unknown");
  await catalog.cut();
  expect(eventsOf(catalog)).toEqual(["add 1 a-26.08.001.rpm"]);
});

/** @module-tag long */
import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { retract, uncut } from "../../pipeline/index.ts";
import { withLock } from "../../pipeline/system/lock.ts";
import { plainRelease, releases, surroundings } from "../support/catalog.ts";
import { eventsOf, files } from "./history.ts";

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

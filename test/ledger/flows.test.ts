import { expect, test } from "vitest";
import { complaints, plainRelease, releases } from "../support/catalog.ts";
import { change, describeRecord, eventsOf, files, history, linesOf } from "./history.ts";

const twoReleases = () =>
  releases(
    plainRelease("26.08.001", files("26.08.001", "a", "b")),
    plainRelease("26.09.001", files("26.09.001", "a")),
  );

const codesOf = async (catalog: { folder: string }, action: () => Promise<unknown>) =>
  (await complaints(catalog.folder, action)).map((problem) => /\[([a-z-]+)\]/.exec(problem)?.[1]);

test("a ledger has one line for each event of its history", async () => {
  expect(eventsOf(await history())).toEqual([
    "add 1 a-26.08.001.rpm",
    "add 2 b-26.08.001.rpm",
    "add 3 c-26.08.001.rpm",
    "revise 1",
    "retract 1",
    "reinstate 1",
    "add 4 a-26.09.001.rpm",
    "add 5 b-26.09.001.rpm",
    "retract 5",
  ]);
});

test("a build writes no ledger", async () => {
  const catalog = twoReleases();
  await catalog.build();
  expect((await catalog.load()).ledger.text()).toBe("");
});

test("a cut adds new artifacts, revises changed ones, and does nothing the second time", async () => {
  const catalog = twoReleases();
  expect((await catalog.cut()).cut.events.map(({ event }) => event)).toEqual(["add", "add", "add"]);
  describeRecord(catalog, "26.09.001", 0, "Better.");
  catalog.write(plainRelease("26.09.002", files("26.09.002", "a")));
  expect((await catalog.cut()).cut.events.map(({ event, id }) => [event, id])).toEqual([
    ["add", 4],
    ["revise", 3],
  ]);
  const before = catalog.read("ledger.jsonl");
  expect((await catalog.cut()).cut.events).toEqual([]);
  expect(catalog.read("ledger.jsonl")).toBe(before);
});

test("a cut of one version leaves changes of the others", async () => {
  const catalog = twoReleases();
  await catalog.cut({ versions: ["26.09.001"] });
  expect(eventsOf(catalog)).toEqual(["add 1 a-26.09.001.rpm"]);
  describeRecord(catalog, "26.09.001", 0, "Better.");
  await catalog.cut({ versions: ["26.08.001"] });
  expect(eventsOf(catalog).slice(1)).toEqual(["add 2 a-26.08.001.rpm", "add 3 b-26.08.001.rpm"]);
});

test("all lines of one command have one date", async () => {
  const catalog = twoReleases();
  await catalog.cut({}, "2026-09-20T10:00:00.5Z");
  const dates = linesOf(catalog.read("ledger.jsonl")).map((line) => JSON.parse(line).at);
  expect(new Set(dates)).toEqual(new Set(["2026-09-20T10:00:00.500000Z"]));
});

test("changed urls, sizes and notes are not a revision", async () => {
  const catalog = twoReleases();
  await catalog.cut();
  change(catalog, "26.08.001", 0, { size: 12, url: "https://example.com/elsewhere.rpm" });
  catalog.write({ "26.08.001/notes/late.yaml": { component: "server", kind: "fix", text: "Mended." } });
  expect((await catalog.cut()).cut.events).toEqual([]);
});

test("an operating system range can be corrected, published bytes and their type cannot", async () => {
  const catalog = twoReleases();
  await catalog.cut();
  change(catalog, "26.08.001", 0, { min_os_version: "9" });
  expect((await catalog.cut()).cut.events.map(({ event, id }) => [event, id])).toEqual([["revise", 1]]);
  change(catalog, "26.08.001", 0, { sha256: "f".repeat(64) });
  expect(await codesOf(catalog, () => catalog.cut())).toEqual(["bytes-changed"]);
});

test("a private record can become public, a public one cannot become private", async () => {
  const catalog = twoReleases();
  change(catalog, "26.08.001", 0, { exclude_from_api: true });
  await catalog.cut();
  expect(JSON.parse(linesOf(catalog.read("ledger.jsonl"))[0] ?? "")).toMatchObject({ id: 1, private: true });
  change(catalog, "26.08.001", 0, { exclude_from_api: false });
  await catalog.cut();
  expect(JSON.parse(linesOf(catalog.read("ledger.jsonl"))[3] ?? "")).not.toHaveProperty("private");
  change(catalog, "26.08.001", 0, { only_for_account: 7 });
  expect(await codesOf(catalog, () => catalog.cut())).toEqual(["record-private"]);
});

test("a retracted record is frozen until it is reinstated", async () => {
  const catalog = twoReleases();
  await catalog.cut();
  await catalog.retract({ ids: [1], reason: "Broken." });
  describeRecord(catalog, "26.08.001", 0, "Better.");
  expect((await catalog.cut()).cut.events).toEqual([]);
  await catalog.reinstate([1]);
  expect((await catalog.cut()).cut.events.map(({ event, id }) => [event, id])).toEqual([["revise", 1]]);
});

test("a second retraction can change the reason or add the replacement, and writes nothing else", async () => {
  const catalog = twoReleases();
  await catalog.cut();
  const retract = async (reason: string, replacedBy?: number | null) =>
    (await catalog.retract({ ids: [1], reason, ...(replacedBy !== undefined && { replacedBy }) })).events;
  expect(await retract("Broken.")).toMatchObject([{ reason: "Broken.", replaced_by: null }]);
  expect(await retract("Broken.")).toEqual([]);
  expect(await retract("Broken.", 2)).toMatchObject([{ reason: "Broken.", replaced_by: 2 }]);
  expect(await retract("Very broken.")).toMatchObject([{ reason: "Very broken.", replaced_by: 2 }]);
  expect(await retract("Very broken.", null)).toMatchObject([{ reason: "Very broken.", replaced_by: null }]);
});

test("a reason can be corrected after the replacement was withdrawn", async () => {
  const catalog = twoReleases();
  await catalog.cut();
  await catalog.retract({ ids: [1], reason: "Broken.", replacedBy: 2 });
  await catalog.retract({ ids: [2], reason: "Broken." });
  const { events } = await catalog.retract({ ids: [1], reason: "Very broken." });
  expect(events).toMatchObject([{ id: 1, reason: "Very broken.", replaced_by: 2 }]);
});

test("an uncut removes exactly the lines of the last version, and its ids are assigned again", async () => {
  const catalog = twoReleases();
  await catalog.cut({ versions: ["26.08.001"] });
  const before = catalog.read("ledger.jsonl");
  await catalog.cut();
  describeRecord(catalog, "26.09.001", 0, "Better.");
  await catalog.cut();
  await catalog.retract({ ids: [3], reason: "Broken." });
  await catalog.uncut("26.09.001");
  expect(catalog.read("ledger.jsonl")).toBe(before);
  await catalog.cut();
  expect(eventsOf(catalog).at(-1)).toBe("add 3 a-26.09.001.rpm");
});

test("an uncut is refused if another version has later lines", async () => {
  const catalog = twoReleases();
  await catalog.cut({ versions: ["26.08.001"] });
  await catalog.cut();
  expect(await codesOf(catalog, () => catalog.uncut("26.08.001"))).toEqual(["version-not-last"]);
  await catalog.uncut("26.09.001");
  await catalog.uncut("26.08.001");
  expect(catalog.read("ledger.jsonl")).toBe("");
});

test("a broken ledger is never written to", async () => {
  const catalog = await history();
  const broken = `${catalog.read("ledger.jsonl")}{"event":"add"`;
  catalog.write({ "ledger.jsonl": broken, ...plainRelease("26.10.001", files("26.10.001", "a")) });
  for (const action of [
    () => catalog.cut(),
    () => catalog.retract({ ids: [2], reason: "Broken." }),
    () => catalog.reinstate([5]),
    () => catalog.uncut("26.09.001"),
  ]) {
    expect(await codesOf(catalog, action)).toEqual(["ledger-truncated"]);
  }
  expect(catalog.read("ledger.jsonl")).toBe(broken);
});

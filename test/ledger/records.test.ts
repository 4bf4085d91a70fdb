import { describe, expect, test } from "vitest";
import type { LedgerEvent } from "../../pipeline/documents/ledger.ts";
import { ledgerLine, readLedger } from "../../pipeline/ledger/ledger.ts";
import { ledgerMark } from "../../pipeline/ledger/ledger-mark.ts";
import { identity } from "../../pipeline/ledger/ledger-records.ts";

const day = (number: number) => `2026-08-${String(number).padStart(2, "0")}T00:00:00.000000Z`;
const content = (digit: string) => digit.repeat(64);

const add = (id: number, version: string, file: string, at: string, marks = {}): LedgerEvent => ({
  event: "add",
  id,
  version,
  package_type: "msi",
  name: file,
  file,
  min_os_version: null,
  max_os_version: null,
  checksum: "c".repeat(64),
  content: content("0"),
  at,
  ...marks,
});
const revise = (id: number, digit: string, at: string, marks = {}): LedgerEvent => ({
  event: "revise",
  id,
  content: content(digit),
  at,
  ...marks,
});
const retract = (id: number, reason: string, at: string): LedgerEvent => ({
  event: "retract",
  id,
  reason,
  replaced_by: null,
  at,
});
const reinstate = (id: number, at: string): LedgerEvent => ({ event: "reinstate", id, at });

function ledgerOf(events: readonly LedgerEvent[]) {
  const { ledger, problems } = readLedger({ file: "ledger.jsonl", text: events.map(ledgerLine).join("") });
  expect(problems).toEqual([]);
  return ledger;
}

test("an empty ledger has no records", () => {
  const { byId, byIdentity, events, versions, nextId, newest, publicLines, ...ledger } = ledgerOf([]);
  expect([byId.size, byId.has(1), byId.get(1), [...byId.values()]]).toEqual([0, false, undefined, []]);
  expect([byIdentity.has("26.08.001/a"), byIdentity.get("26.08.001/a")]).toEqual([false, undefined]);
  expect([events.length, [...events], events.slice(0), ledger.ofVersion("26.08.001")]).toEqual([
    0,
    [],
    [],
    [],
  ]);
  expect([versions.size, nextId, newest, publicLines]).toEqual([0, 1, "", 0]);
});

test("events are those that were written, from any line on", () => {
  const events = [
    add(1, "26.08.001", "é.msi", day(1)),
    retract(1, "„Broken“.", day(2)),
    { event: "reserve", next_id: 7, at: day(3) } as const,
    add(7, "26.08.001", "b.msi", day(3)),
  ];
  const ledger = ledgerOf(events);
  expect([...ledger.events]).toEqual(events);
  for (let count = 0; count <= events.length; count++)
    expect(ledger.events.slice(count)).toEqual(events.slice(count));
});

describe("lookups", () => {
  const files = ["a.msi", "b.msi", "c.msi"];
  const versions = ["26.08.001", "26.09.001"];
  const events = files.flatMap((file, index) =>
    versions.map((version, which) => add(2 * index + which + 1, version, file, day(1))),
  );

  test("find records of two versions in turn, by identity and by version", () => {
    const ledger = ledgerOf(events);
    const found = files.flatMap((file) =>
      versions.map((version) => ledger.byIdentity.get(identity(version, file))?.add.id),
    );
    expect(found).toEqual([1, 2, 3, 4, 5, 6]);
    expect(versions.map((version) => ledger.ofVersion(version).map(({ line }) => line))).toEqual([
      [1, 3, 5],
      [2, 4, 6],
    ]);
    expect([...ledger.versions]).toEqual(versions);
    expect(ledger.byIdentity.has("26.09.001/d.msi")).toBe(false);
  });

  test("distinguish two identities of one hash, and an unknown one", () => {
    const [one, other] = ["tool-229599.msi", "tool-432382.msi"];
    const both = ledgerOf([one, other].map((file, index) => add(index + 1, "26.08.001", file, day(1))));
    expect(both.byIdentity.get(`26.08.001/${one}`)?.add.id).toBe(1);
    expect(both.byIdentity.get(`26.08.001/${other}`)?.add.id).toBe(2);
    const alone = ledgerOf([add(1, "26.08.001", one, day(1))]);
    expect(alone.byIdentity.has(`26.08.001/${other}`)).toBe(false);
  });

  test("find imported ids of any size in any order", () => {
    const ids = [2 ** 40, 3, 2 ** 31, 1];
    const imported = ids.map((id) => add(id, "26.08.001", `${id}.msi`, day(1), { imported: true }));
    const ledger = ledgerOf(imported);
    expect(ids.map((id) => ledger.byId.get(id)?.line)).toEqual([1, 2, 3, 4]);
    expect(ledger.nextId).toBe(2 ** 40 + 1);
  });
});

describe("a record has the state of its last lines", () => {
  test("after many revisions, one of them before another record is added", () => {
    const digits = ["1", "2", "3", "4"];
    const ledger = ledgerOf([
      add(1, "26.08.001", "a.msi", day(1)),
      revise(1, "9", day(2)),
      add(2, "26.08.001", "b.msi", day(3)),
      ...digits.map((digit, index) => revise(1, digit, day(4 + index))),
    ]);
    expect(ledger.byId.get(1)).toMatchObject({ content: content("4"), created: day(1), modified: day(7) });
    expect(ledger.byId.get(2)).toMatchObject({ content: content("0"), modified: day(3), line: 3 });
  });

  test("after retractions with other reasons, a reinstatement and a revision", () => {
    const events = [
      add(1, "26.08.001", "a.msi", day(1), { imported: true }),
      revise(1, "1", day(2), { imported: true }),
      retract(1, "Broken.", day(3)),
      retract(1, "Very broken.", day(4)),
      reinstate(1, day(5)),
      revise(1, "2", day(6)),
      retract(1, "Still broken.", day(7)),
    ];
    const states = events.map((_, index) => ledgerOf(events.slice(0, index + 1)).byId.get(1));
    expect(states.map((state) => [state?.content[0], state?.modified, state?.imported])).toEqual([
      ["0", day(1), true],
      ["1", day(2), true],
      ["1", day(3), false],
      ["1", day(4), false],
      ["1", day(5), false],
      ["2", day(6), false],
      ["2", day(7), false],
    ]);
    const reasons = states.map((state) => state?.retraction?.reason);
    expect(reasons.slice(2)).toEqual(["Broken.", "Very broken.", undefined, undefined, "Still broken."]);
  });

  test("with lines that are public while it is", () => {
    const hidden = { private: true };
    const events = [
      add(1, "26.08.001", "a.msi", day(1)),
      add(2, "26.08.001", "b.msi", day(1), hidden),
      { event: "reserve", next_id: 9, at: day(2) } as const,
      revise(2, "1", day(3), hidden),
      retract(2, "Broken.", day(4)),
      reinstate(2, day(5)),
      revise(2, "2", day(6)),
      revise(1, "2", day(7), hidden),
    ];
    const counts = events.map((_, index) => ledgerMark(ledgerOf(events.slice(0, index + 1))).lines);
    expect(counts).toEqual([1, 1, 2, 2, 2, 2, 7, 6]);
  });
});

describe("a repeated line", () => {
  const found = (lines: readonly string[]) =>
    readLedger({ file: "ledger.jsonl", text: lines.map((line) => `${line}\n`).join("") }).problems.map(
      ({ message, at }) => `${at?.line}: ${message}`,
    );
  const [first = "", other = "", last = ""] = [
    add(1, "26.08.001", "a.msi", day(1)),
    add(1, "26.08.001", "b.msi", day(1)),
    retract(1, "Broken.", day(2)),
  ].map((event) => JSON.stringify(event));

  test("is distinguished from a second record under the same id, and names its first occurrence", () => {
    expect(found([first, other, other, last, first, last])).toEqual([
      "2: the id 1 is added a second time, first in line 1",
      "3: the line repeats line 2",
      "5: the line repeats line 1",
      "6: the line repeats line 4",
    ]);
  });

  test("is the only problem, even if the line is invalid", () => {
    expect(found([first, "", last, ""])).toEqual(["2: the line is not JSON", "4: the line repeats line 2"]);
  });

  test("does not change the line numbers after it", () => {
    const { ledger } = readLedger({
      file: "ledger.jsonl",
      text: `${first}\n${first}\n${ledgerLine(add(2, "26.08.001", "b.msi", day(2)))}`,
    });
    expect([ledger.byId.get(2)?.line, ledger.events.length, ledger.events.slice(1)]).toEqual([
      3,
      2,
      [add(2, "26.08.001", "b.msi", day(2))],
    ]);
  });
});

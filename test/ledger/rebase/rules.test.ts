import { describe, expect, test } from "vitest";
import type { LedgerEvent } from "../../../pipeline/documents/ledger.ts";
import { ledgerLine } from "../../../pipeline/ledger/ledger.ts";
import { decideRebase } from "../../../pipeline/ledger/rebase.ts";
import { type Problem, RelcatError } from "../../../shared/errors.ts";

const day = (number: number, micros = 0) =>
  `2026-09-${String(number).padStart(2, "0")}T10:00:00.${String(micros).padStart(6, "0")}Z`;

const add = (id: number, file: string, rest: object = {}): LedgerEvent =>
  ({
    event: "add",
    id,
    version: "26.09.001",
    package_type: "msi",
    name: file,
    file,
    min_os_version: null,
    max_os_version: null,
    checksum: "a".repeat(64),
    content: "c".repeat(64),
    at: day(1),
    ...rest,
  }) as LedgerEvent;
const revise = (id: number, digit: string, at: string, rest: object = {}): LedgerEvent =>
  ({ event: "revise", id, content: digit.repeat(64), at, ...rest }) as LedgerEvent;
const retract = (id: number, reason: string, at: string, replaced_by: number | null = null): LedgerEvent => ({
  event: "retract",
  id,
  reason,
  replaced_by,
  at,
});
const reinstate = (id: number, at: string): LedgerEvent => ({ event: "reinstate", id, at });

const text = (events: readonly LedgerEvent[]) => events.map(ledgerLine).join("");
const settled = [add(1, "one.msi"), add(2, "two.msi")];

/** Both sides continue from `shared`. @returns the rebased form of our events */
function rebase(theirs: readonly LedgerEvent[], ours: readonly LedgerEvent[], shared = settled) {
  const side = (name: string, events: readonly LedgerEvent[]) => ({
    name,
    file: `${name}:ledger.jsonl`,
    text: text([...shared, ...events]),
  });
  const sides = { onto: side("main", theirs), ours: side("HEAD", ours), shared: text(shared) };
  return decideRebase(sides, sides.ours.text, () => day(20));
}

function problemsOf(work: () => unknown): Problem[] {
  try {
    work();
  } catch (error) {
    if (error instanceof RelcatError) return [...error.problems];
    throw error;
  }
  throw new Error("nothing was refused");
}

test("thousands of records with other bytes are reported in a time that does not grow with their square", () => {
  const all = Array.from({ length: 4000 }, (_, index) => add(index + 1, `${index}.msi`));
  const others = all.map((event) => ({ ...event, checksum: "b".repeat(64) }) as LedgerEvent);
  const before = process.cpuUsage();
  const problems = problemsOf(() => rebase(all, others, []));
  expect(process.cpuUsage(before).user).toBeLessThan(2_000_000);
  expect(problems.map(({ at }) => at?.line)).toEqual(all.map((_, index) => index + 1));
});

describe("a record of the base", () => {
  test("keeps its id when we withdraw or revise it, and its replacement refers to our record's new id", () => {
    const ours = [add(3, "new.msi", { at: day(2) }), retract(1, "Bad.", day(3), 3), revise(2, "d", day(3))];
    const { events } = rebase([add(3, "main.msi", { at: day(5) })], ours);
    expect(events).toEqual([
      add(4, "new.msi", { at: day(20) }),
      retract(1, "Bad.", day(20, 1), 4),
      revise(2, "d", day(20, 1)),
    ]);
  });

  test("withdrawn on both sides gets only new reasons and replacements", () => {
    const theirs = [retract(1, "Bad.", day(5), 2)];
    expect(rebase(theirs, [retract(1, "Bad.", day(3))]).events).toEqual([]);
    expect(rebase(theirs, [retract(1, "Very bad.", day(3))]).events).toEqual([
      retract(1, "Very bad.", day(20), 2),
    ]);
  });

  test("withdrawn before we branched off loses its replacement if we removed that", () => {
    const shared = [...settled, retract(1, "Bad.", day(2), 2)];
    expect(rebase([add(3, "main.msi", { at: day(5) })], [retract(1, "Bad.", day(3))], shared).events).toEqual(
      [retract(1, "Bad.", day(20))],
    );
  });

  test("reinstated on both sides is reinstated once, and gets no line if only we withdrew it", () => {
    expect(rebase([], [retract(1, "Bad.", day(2)), reinstate(1, day(3))]).events).toEqual([]);
    const theirs = [retract(1, "Bad.", day(3))];
    expect(rebase(theirs, [retract(1, "Bad.", day(2)), reinstate(1, day(4))]).events).toEqual([
      reinstate(1, day(20)),
    ]);
  });

  test("revised by us and withdrawn or published there keeps the base's state, and is named", () => {
    const done = rebase([retract(1, "Bad.", day(5))], [revise(1, "d", day(3)), revise(2, "d", day(3))]);
    expect(done.events).toEqual([revise(2, "d", day(20))]);
    expect(done.overtaken).toEqual([1]);
    const hidden = revise(2, "e", day(3), { private: true });
    expect(rebase([], [hidden])).toMatchObject({ events: [], overtaken: [2] });
  });

  test("revised on both sides to the same content has one revision", () => {
    expect(rebase([revise(1, "d", day(5))], [revise(1, "e", day(3)), revise(1, "d", day(4))]).events).toEqual(
      [],
    );
  });
});

describe("our records", () => {
  test("keep their history, in the order of its dates", () => {
    const ours = [add(3, "new.msi", { at: day(2) }), retract(3, "Bad.", day(3)), reinstate(3, day(4))];
    const { events } = rebase([add(3, "main.msi", { at: day(5) })], ours);
    expect(events).toEqual([
      add(4, "new.msi", { at: day(20) }),
      retract(4, "Bad.", day(20, 1)),
      reinstate(4, day(20, 2)),
    ]);
  });

  test("get the base's id if it has the same artifact", () => {
    const ours = [add(3, "new.msi", { at: day(2) }), retract(3, "Bad.", day(3))];
    const { events, moved } = rebase([add(3, "main.msi"), add(4, "new.msi")], ours);
    expect(events).toEqual([retract(4, "Bad.", day(20))]);
    expect(moved).toMatchObject([{ from: 3, to: 4, alreadyThere: true }]);
  });

  test("are named if one version was cut on both sides", () => {
    expect(rebase([add(3, "main.msi")], [add(3, "new.msi", { at: day(2) })]).cutTwice).toEqual(["26.09.001"]);
    const other = add(3, "new.msi", { at: day(2), version: "26.09.002" });
    expect(rebase([add(3, "main.msi")], [other]).cutTwice).toEqual([]);
  });

  test("keep reserved ids that are still ahead", () => {
    const reserve: LedgerEvent = { event: "reserve", next_id: 10, at: day(2) };
    const ours = [reserve, add(10, "new.msi", { at: day(3) })];
    expect(rebase([add(3, "main.msi")], ours).events).toEqual([
      { ...reserve, at: day(20) },
      add(10, "new.msi", { at: day(20, 1) }),
    ]);
    const theirs: LedgerEvent = { event: "reserve", next_id: 30, at: day(2) };
    expect(rebase([theirs], ours).events).toEqual([add(30, "new.msi", { at: day(20) })]);
  });

  test("keep imported ids and dates, and a revision that is older than the base's gets a new date", () => {
    const imported = add(40, "old.msi", { at: "2020-01-01T00:00:00.000000Z", imported: true });
    const later = revise(40, "d", "2020-02-01T00:00:00.000000Z", { imported: true });
    const ours = [imported, later, add(41, "new.msi", { at: day(3) })];
    expect(rebase([add(3, "main.msi", { at: day(5) })], ours).events).toEqual([
      imported,
      later,
      add(41, "new.msi", { at: day(20) }),
    ]);
    const known = { ...imported, name: "Old" } as LedgerEvent;
    expect(rebase([known, revise(40, "e", day(5))], ours.slice(0, 2)).events).toEqual([
      revise(40, "d", day(20)),
    ]);
  });
});

describe("ledger rebase refuses", () => {
  test("an artifact that the base published with other bytes or as another type", () => {
    const theirs = [add(3, "new.msi", { checksum: "b".repeat(64), package_type: "pkg" })];
    expect(problemsOf(() => rebase(theirs, [add(3, "new.msi", { at: day(2) })]))).toEqual([
      {
        code: "bytes-changed",
        severity: "error",
        message:
          '"new.msi" of 26.09.001 is published on main as id 3 and cannot change: ' +
          `checksum ${"b".repeat(64)} there, ${"a".repeat(64)} here; package_type pkg there, msi here`,
        hint:
          "Keep main's ledger and manifest of it, and publish our bytes under the next version (relcat new 26.09); " +
          "or, while no one has main's, take that cut back there (relcat uncut 26.09.001).",
        at: expect.objectContaining({ file: "HEAD:ledger.jsonl", line: 3, column: 1 }),
      },
    ]);
  });

  test("an imported id that is in use", () => {
    const imported = add(3, "old.msi", { imported: true });
    const [problem] = problemsOf(() => rebase([add(3, "main.msi")], [imported]));
    expect(problem).toMatchObject({
      code: "rebase-conflict",
      message: 'the imported id 3 of "old.msi" belongs to another record of main',
      hint: "Imported ids never move: import first, then cut on top of it.",
    });
  });

  test("a record that the base took back", () => {
    const sides = {
      onto: { name: "main", file: "main", text: text([add(1, "one.msi")]) },
      ours: { name: "HEAD", file: "HEAD", text: text([...settled, retract(2, "Bad.", day(3))]) },
      shared: text(settled),
    };
    const [problem] = problemsOf(() => decideRebase(sides, "", () => day(20)));
    expect(problem).toMatchObject({
      code: "rebase-conflict",
      message: 'our retract names the id 2, "two.msi" of 26.09.001, which main does not have',
      hint: "main took that cut back. Take its ledger, run relcat cut 26.09.001, then retract again under the new id.",
    });
    const kept = { ...sides, ours: { ...sides.ours, text: text(settled) } };
    expect(decideRebase(kept, "", () => day(20)).after).toBe(sides.onto.text);
  });

  test("a ledger that relcat did not write", () => {
    const side = { name: "main", file: "main:ledger.jsonl", text: "{}\n" };
    const sides = { onto: side, ours: { name: "HEAD", file: "HEAD:ledger.jsonl", text: "" }, shared: "" };
    expect(problemsOf(() => decideRebase(sides, "", () => day(20)))).toMatchObject([
      { code: "ledger-line", at: { file: "main:ledger.jsonl", line: 1 } },
    ]);
  });
});

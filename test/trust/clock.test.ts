import { describe, expect, test } from "vitest";
import { RelcatError } from "../../pipeline/index.ts";
import { type KnownDates, requireClock } from "../../pipeline/trust/clock.ts";

const day = 24 * 3_600_000;
const now = Date.parse("2026-11-26T03:00:00Z");
const at = (days: number) => now + days * day;

/** Message and hint of a refusal; undefined: the clock is accepted. */
function refusal(offset: number | undefined, known: KnownDates): string | undefined {
  try {
    requireClock(now, offset, known);
    return undefined;
  } catch (error) {
    const [problem] = error instanceof RelcatError ? error.problems : [];
    if (problem?.code !== "clock") throw error;
    return `${problem.message}\n${problem.hint}`;
  }
}

describe("with the time of the storage, nothing else counts:", () => {
  const wrong = { timestamp: at(40), before: at(20), commit: at(365), ledger: at(30) };

  test.each([[0], [299], [-299]])("a difference of %i seconds is accepted", (seconds) => {
    expect(refusal(seconds * 1000, wrong)).toBeUndefined();
  });

  test.each([
    [301, "2026-11-26T03:05:01Z"],
    [-301, "2026-11-26T02:54:59Z"],
  ])("a difference of %i seconds is refused", (seconds, there) => {
    expect(refusal(seconds * 1000, {})).toBe(
      `the clock gives 2026-11-26T03:00:00Z, and that of the storage ${there}, expected at most 5 minutes between them\n` +
        "Nothing was changed. Set the clock of this machine.",
    );
  });
});

describe("without it, the clock is accepted", () => {
  test.each<[string, KnownDates]>([
    ["if nothing was signed, committed or cut yet", {}],
    ["if a project without signatures has no commit for years", { commit: at(-800), ledger: at(-900) }],
    ["if all dates are earlier", { timestamp: at(-3), before: at(-6), commit: at(-80), ledger: at(-81) }],
    ["if the site was left alone for months, and someone commits", { timestamp: at(-200), commit: at(-0.1) }],
    ["if a date is later by minutes", { timestamp: now + 290_000, commit: now + 200_000 }],
    ["after a refresh by a clock that was ahead", { timestamp: at(40), before: at(-3), ledger: at(-90) }],
    ["after the first publish by such a clock", { timestamp: at(40), commit: at(-0.01), ledger: at(-0.02) }],
    [
      "after a release by such a clock",
      { timestamp: at(40), before: at(-9), commit: at(40), ledger: at(40) },
    ],
    ["after a retract by such a clock", { timestamp: at(-1), before: at(-5), ledger: at(30) }],
    ["after a commit by such a clock", { timestamp: at(-1), commit: at(365), ledger: at(-1) }],
  ])("%s", (_, known) => {
    expect(refusal(undefined, known)).toBeUndefined();
  });
});

test.each<[string, KnownDates, string]>([
  [
    "a clock behind the dates of a site that was published today",
    { timestamp: at(20), commit: at(20), ledger: at(20) },
    "before the date of the newest timestamp.json (2026-12-16T03:00:00Z), the last commit (2026-12-16T03:00:00Z), the newest line of the ledger (2026-12-16T03:00:00Z)",
  ],
  [
    "a clock behind two days on which a site was signed",
    { timestamp: at(19), before: at(14), commit: at(-1) },
    "before the date of the newest timestamp.json (2026-12-15T03:00:00Z), the one before it (2026-12-10T03:00:00Z)",
  ],
  [
    "a clock behind a commit, in a project that was never signed",
    { commit: at(20), ledger: at(-60) },
    "before the date of the last commit (2026-12-16T03:00:00Z)",
  ],
  [
    "a clock far ahead of a signed site",
    { timestamp: at(-91), commit: at(-100), ledger: at(-100) },
    "more than 90 days after the newest known date, that of the newest timestamp.json (2026-08-27T03:00:00Z)",
  ],
])("%s is refused, with a way out", (_, known, what) => {
  expect(refusal(undefined, known)).toBe(
    `the clock gives 2026-11-26T03:00:00Z, which is ${what}\n` +
      "Nothing was changed. Set the clock of this machine. If it is right: " +
      "relcat build --released --site SITE, then relcat sign --site SITE --now 2026-11-26T03:00:00Z, then relcat publish SITE",
  );
});

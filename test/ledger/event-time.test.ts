import { expect, test } from "vitest";
import { eventTime, RelcatError } from "../../pipeline/index.ts";
import { complaints, plainRelease, releases } from "../support/catalog.ts";
import { files } from "./history.ts";

const clock = Date.parse("2026-10-01T12:00:00.123Z");
const given = (value: string, name = "--now") => ({ name, value });

/** `code message / hint` of a refused time. */
function refusal(at: Parameters<typeof eventTime>[1], newest = "", now = clock): string {
  try {
    return eventTime(now, at, newest);
  } catch (error) {
    const [problem] = error instanceof RelcatError ? error.problems : [];
    if (!problem) throw error;
    return `${problem.code} ${problem.message} / ${problem.hint ?? ""}`;
  }
}

test("the date has the clock's milliseconds, written with microseconds", () => {
  expect(eventTime(clock, undefined, "")).toBe("2026-10-01T12:00:00.123000Z");
  expect(eventTime(clock, undefined, "2026-10-01T12:00:00.122999Z")).toBe("2026-10-01T12:00:00.123000Z");
});

test("a clock that is not ahead of the ledger's newest date gives the next microsecond", () => {
  const after = (newest: string) => eventTime(clock, undefined, newest);
  expect(after("2026-10-01T12:00:00.123000Z")).toBe("2026-10-01T12:00:00.123001Z");
  expect(after("2026-10-01T12:00:00.123999Z")).toBe("2026-10-01T12:00:00.124000Z");
  expect(after("2026-10-01T23:59:59.999999Z")).toBe("2026-10-02T00:00:00.000000Z");
  expect(after("2026-10-02T12:00:00.000000Z")).toBe("2026-10-02T12:00:00.000001Z");
  expect(after("2026-12-24T18:00:00.000000Z")).toBe("2026-12-24T18:00:00.000001Z");
});

test("a given time is accepted in each of its forms", () => {
  expect(eventTime(clock, given("2026-09-01T10:00:00Z"), "")).toBe("2026-09-01T10:00:00.000000Z");
  expect(eventTime(clock, given("2026-09-01T10:00:00.5Z"), "")).toBe("2026-09-01T10:00:00.500000Z");
  expect(eventTime(clock, given("2026-09-01T10:00:00.123456Z"), "")).toBe("2026-09-01T10:00:00.123456Z");
  expect(eventTime(clock, given("1790000000", "SOURCE_DATE_EPOCH"), "")).toBe("2026-09-21T14:13:20.000000Z");
  expect(eventTime(clock, given("2026-09-01T10:00:00Z"), "2026-09-01T10:00:00.000000Z")).toBe(
    "2026-09-01T10:00:00.000000Z",
  );
});

test.each([
  "",
  "yesterday",
  "2026-09-01",
  "2026-09-01T10:00:00",
  "2026-09-01T10:00:00+02:00",
  "2026-09-01 10:00:00Z",
  "2026-02-30T10:00:00Z",
  "2026-09-01T24:00:00Z",
  "2026-09-01T10:00:60Z",
  "2026-13-01T10:00:00Z",
  "-1",
  "1e9",
  "2026-09-01T10:00:00.1234567Z",
  "1790000000000",
])("%j is not a time", (value) => {
  const wanted = "expected seconds since 1970 or a time such as 2026-08-19T10:22:31Z";
  expect(refusal(given(value))).toBe(`clock --now is ${JSON.stringify(value)}, ${wanted} / `);
});

test("a time before 2015 is refused with the name of its variable", () => {
  const hint = "Build environments preset 1980: unset SOURCE_DATE_EPOCH, or set the time.";
  expect(refusal(given("315532800", "SOURCE_DATE_EPOCH"))).toBe(
    `clock SOURCE_DATE_EPOCH gives 1980-01-01T00:00:00.000000Z, expected a time after 2015 / ${hint}`,
  );
  expect(refusal(given("0", "SOURCE_DATE_EPOCH"), "2026-09-01T10:00:00.000000Z")).toContain(
    "expected a time after 2015",
  );
  expect(eventTime(clock, given("2015-01-01T00:00:00Z"), "")).toBe("2015-01-01T00:00:00.000000Z");
});

test("a clock that was never set is refused", () => {
  expect(refusal(undefined, "", 5_000)).toBe(
    "clock the clock gives 1970-01-01T00:00:05.000000Z, expected a time after 2015 / Set the clock right.",
  );
});

test("a given time before the ledger's newest date is refused", () => {
  expect(refusal(given("2026-09-01T10:00:00Z"), "2026-09-01T10:00:00.000001Z")).toBe(
    "clock --now gives 2026-09-01T10:00:00.000000Z, before the ledger's newest date 2026-09-01T10:00:00.000001Z / " +
      "Leave out --now, or give a later time.",
  );
});

test("a given time more than a day ahead of the clock is refused", () => {
  expect(refusal(given("2026-10-02T12:00:00Z"))).toBe("2026-10-02T12:00:00.000000Z");
  expect(refusal(given("2026-10-02T12:00:01Z"))).toBe(
    "clock --now gives 2026-10-02T12:00:01.000000Z, more than 24 hours ahead of the clock / " +
      "Set the clock right, or give another time.",
  );
});

test("a refused time leaves the ledger unchanged", async () => {
  const catalog = releases(plainRelease("26.08.001", files("26.08.001", "a")));
  await catalog.cut({}, "2026-09-01T10:00:00Z");
  const before = catalog.read("ledger.jsonl");
  const retract = () => catalog.retract({ ids: [1], reason: "Broken." }, "2026-08-31T10:00:00Z");
  expect(await complaints(catalog.folder, retract)).toHaveLength(1);
  expect(catalog.read("ledger.jsonl")).toBe(before);
});

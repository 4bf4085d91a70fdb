import fc from "fast-check";
import { expect, test } from "vitest";
import { versionsInside } from "../../../pipeline/policy/refusals.ts";

test.each([
  ["26.08.002", ["{YY}.{M}.{N}", "{YY}.{MM}.{NNN}"], ["26.8.2", "26.08.002"]],
  ["26.11.010", ["{YY}.{M}.{N}", "{YY}.{MM}.{NNN}"], ["26.11.10", "26.11.010"]],
  ["26.12.120", ["{YY}.{M}.{N}", "{YY}.{MM}.{NNN}"], ["26.12.120"]],
  ["26.08.002", ["1.{YY}{MM}.{N}-rc"], ["1.2608.2-rc"]],
  ["26.08.002", ["7"], ["7"]],
])("%s by %j is %j", (version, templates, expected) => {
  expect(versionsInside(version, templates)).toEqual(expected);
});

test("the usual templates give no two releases the same version inside", () => {
  const digits = (length: number) =>
    fc.integer({ min: 0, max: 10 ** length - 1 }).map((value) => String(value).padStart(length, "0"));
  const month = fc.integer({ min: 1, max: 12 }).map((value) => String(value).padStart(2, "0"));
  const version = fc.tuple(digits(2), month, digits(3)).map((parts) => parts.join("."));
  const usual = ["{YY}.{M}.{N}", "{YY}.{MM}.{NNN}"];
  fc.assert(
    fc.property(version, version, (one, other) => {
      fc.pre(one !== other);
      const inside = new Set(versionsInside(one, usual));
      expect(versionsInside(other, usual).filter((each) => inside.has(each))).toEqual([]);
    }),
  );
});

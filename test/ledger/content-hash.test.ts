import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { RecordData } from "../../pipeline/documents/package-record.ts";
import { hashContent } from "../../pipeline/records/normalize.ts";

/** A second, plain implementation. */
function plainHash(data: RecordData): string {
  const sorted = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(sorted);
    if (value === null || typeof value !== "object") return value;
    const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item)]));
  };
  const text = JSON.stringify({ name: "a", data: sorted(data) });
  return createHash("sha256").update(text).digest("hex");
}

const key = fc.oneof(
  fc.constantFrom("__proto__", "10", "9", "-1", "b", "a", "é", "🎉", "\uffff", ""),
  fc.string(),
);
const { data } = fc.letrec<{ data: RecordData; value: unknown }>((tie) => ({
  data: fc.dictionary(key, tie("value"), { noNullPrototype: true }),
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom(null, true, 1, "a"),
    fc.array(tie("value"), { maxLength: 3 }),
    tie("data"),
  ),
}));

test("every key of data is part of the hash, in any order", () => {
  fc.assert(
    fc.property(data, (made) => {
      expect(hashContent({ name: "a", data: made })).toBe(plainHash(made));
    }),
    { numRuns: 500 },
  );
  expect(hashContent({ data: JSON.parse('{"b":1,"__proto__":{"a":1}}') })).not.toBe(
    hashContent({ data: { b: 1 } }),
  );
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { often, seed } from "../support/effort.ts";
import { documentsOf, drawnCatalog } from "./random-advisories.ts";

test("a document has the same bytes again, and later events move no time of the ledger", () => {
  fc.assert(
    fc.property(drawnCatalog, fc.nat(6), (all, last) => {
      const before = documentsOf(all);
      expect(documentsOf(all)).toEqual(before);
      const files = all[last]?.files.map((file) => ({ ...file, changes: file.changes + 1 }));
      const after = documentsOf(
        all.map((each, index) => (index === last && files ? { ...each, files } : each)),
      );
      for (const [index, { document }] of before.entries()) {
        const now = after[index]?.document.tracking.revision_history ?? [];
        const times = (list: typeof now) =>
          list.flatMap(({ number, date }) => (number.endsWith(".0.0") ? date : []));
        expect(times(now)).toEqual(expect.arrayContaining(times(document.tracking.revision_history)));
      }
    }),
    { numRuns: often(5000, 500), seed },
  );
});

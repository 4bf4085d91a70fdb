import { expect, test } from "vitest";
import { table } from "../../cli/terminal/cells.ts";
import { applyExceptions } from "../../pipeline/ledger/exceptions.ts";

/** About the most arguments of a call; a catalog can have more records. */
const many = 250_000;

test("a table can have more rows than a call can have arguments", () => {
  const rows = Array.from({ length: many }, (_, index) => [String(index), "deb"]);
  expect(table(rows).split("\n").at(-1)).toBe("249999  deb");
});

test("a list of problems can have more rows than a call can have arguments", () => {
  const problem = { code: "record-type", severity: "error", message: "no", hint: "no" } as never;
  const findings = Array.from({ length: many }, () => ({ version: "26.08.001", problem }));
  const value = [{ rule: "record-type", versions: "26.01.001..26.12.001", count: 1 }];
  const document = {
    file: "exceptions.yaml",
    value,
    place: () => ({ file: "exceptions.yaml", line: 1, column: 1 }),
  };
  expect(applyExceptions(document as never, findings).length).toBe(many + 1);
});

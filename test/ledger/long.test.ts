/** @module-tag long */
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { readLedger, readLedgerPieces } from "../../pipeline/ledger/ledger.ts";
import { ledgerMark } from "../../pipeline/ledger/ledger-mark.ts";
import { RelcatError } from "../../shared/errors.ts";
import { decodePieces } from "../../shared/source.ts";
import { history, linesOf } from "./history.ts";

let text = "";

beforeAll(async () => {
  text = (await history()).read("ledger.jsonl");
});

/** Lines cut into pieces, each a line or more. */
const inPieces = (lines: readonly string[], ends: readonly boolean[]): string[] => {
  const pieces = [""];
  for (const [index, line] of lines.entries()) {
    pieces.push(`${pieces.pop()}${line}`);
    if (ends[index]) pieces.push("");
  }
  return pieces.filter((piece) => piece !== "");
};

const ends = fc.array(fc.boolean(), { minLength: 9, maxLength: 9 });

test("a ledger has the same content in pieces of any size", () => {
  const whole = readLedger({ file: "ledger.jsonl", text }).ledger;
  fc.assert(
    fc.property(ends, (cuts) => {
      const { ledger, problems } = readLedgerPieces("ledger.jsonl", inPieces(linesOf(text), cuts));
      expect(problems).toEqual([]);
      expect(ledger.text()).toBe(text);
      expect([...ledger.events]).toEqual([...whole.events]);
      expect(ledger.byId.values().toArray()).toEqual(whole.byId.values().toArray());
      expect(ledgerMark(ledger)).toEqual(ledgerMark(whole));
    }),
  );
});

test("damage is found in the same lines", () => {
  const damaged = linesOf(text);
  damaged[4] = damaged[4]?.replace('"', "'") ?? "";
  damaged.push("half a li");
  const inOne = readLedger({ file: "ledger.jsonl", text: damaged.join("") }).problems;
  expect(inOne.length).toBeGreaterThan(1);
  fc.assert(
    fc.property(ends, (cuts) => {
      expect(readLedgerPieces("ledger.jsonl", inPieces(damaged, cuts)).problems).toEqual(inOne);
    }),
  );
});

test("the bytes of a long ledger are read in pieces that end with a line", () => {
  const line = `{"summary":"Größe"}${" ".repeat(70)}\n`;
  const bytes = Buffer.from(line.repeat(400_000));
  const pieces = [...decodePieces("ledger.jsonl", bytes)];
  expect(pieces.length).toBeGreaterThan(100);
  expect(pieces.every((piece) => piece.endsWith("\n"))).toBe(true);
  expect(pieces.join("") === bytes.toString()).toBe(true);
});

test.each([
  ["the file is not UTF-8", 0xff],
  ["the file contains a NUL byte", 0],
])("a fault of a long ledger is reported: %s", (message, fault) => {
  const bytes = Buffer.alloc(40 << 20, `${"x".repeat(99)}\n`);
  bytes[30_000_042] = fault;
  const read = () => [...decodePieces("ledger.jsonl", bytes)];
  expect(read).toThrow(RelcatError);
  try {
    read();
  } catch (error) {
    const [problem] = error instanceof RelcatError ? error.problems : [];
    expect(problem?.message).toContain(message);
    expect(problem?.at).toMatchObject({ line: 300_001, column: 43 });
  }
});

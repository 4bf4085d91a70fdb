/** @module-tag long */
import { beforeAll, describe, expect, test } from "vitest";
import { assignIds } from "../../pipeline/ledger/assign-ids.ts";
import { checkGrowth } from "../../pipeline/ledger/growth.ts";
import { readLedger } from "../../pipeline/ledger/ledger.ts";
import type { Release } from "../../pipeline/records/normalize.ts";
import { history, linesOf } from "./history.ts";

let text = "";
let lines: string[] = [];
let releases: readonly Release[] = [];

beforeAll(async () => {
  const catalog = await history();
  text = catalog.read("ledger.jsonl");
  lines = linesOf(text).slice(0, 9);
  releases = (await catalog.load()).releases;
});

const read = (damaged: string) => readLedger({ file: "ledger.jsonl", text: damaged });
const codes = (damaged: string) => read(damaged).problems.map(({ code, at }) => `${code} ${at?.line}`);

/** Problems of a released build: of the ledger alone, and of the ledger with the manifests. */
function found(damaged: string): string[] {
  const { ledger, problems } = read(damaged);
  if (problems.length > 0) return problems.map(({ code }) => code);
  const identified = assignIds(releases, ledger, () => false);
  return [...identified.problems, ...identified.notCut].map(({ code }) => code);
}

const againstBase = (damaged: string) =>
  checkGrowth(read(damaged).ledger, text, "origin/main").map(({ code, at }) => `${code} ${at?.line}`);

test("the undamaged ledger has nine lines and no problems", () => {
  expect(lines).toHaveLength(9);
  expect(lines.join("")).toBe(text);
  expect(found(text)).toEqual([]);
  expect(againstBase(text)).toEqual([]);
  expect(againstBase(`${text}more\n`)).toEqual([]);
});

test("a ledger that ends inside a line is detected, and one that ends between lines by its base", () => {
  for (let length = 0; length < text.length; length++) {
    const rest = text.slice(0, length);
    const whole = linesOf(rest).filter((line) => line.endsWith("\n")).length;
    expect(codes(rest)).toEqual(rest === "" || rest.endsWith("\n") ? [] : [`ledger-truncated ${whole + 1}`]);
    expect(againstBase(rest)).toHaveLength(1);
  }
});

test("two exchanged lines are detected", () => {
  for (let a = 0; a < lines.length; a++) {
    for (let b = a + 1; b < lines.length; b++) {
      const swapped = lines
        .with(a, lines[b] ?? "")
        .with(b, lines[a] ?? "")
        .join("");
      expect(codes(swapped), `lines ${a + 1} and ${b + 1}`).not.toEqual([]);
      expect(againstBase(swapped)).toEqual([`ledger-rewritten ${a + 1}`]);
    }
  }
});

test("a duplicate line is detected at any place", () => {
  for (let from = 0; from < lines.length; from++) {
    for (let to = 0; to <= lines.length; to++) {
      const doubled = lines.toSpliced(to, 0, lines[from] ?? "").join("");
      expect(codes(doubled).join(), `line ${from + 1} at ${to + 1}`).toContain("ledger-duplicate");
    }
  }
});

test("a removed line is detected if other lines or a manifest depend on it", () => {
  const unnoticed = lines.flatMap((line, index) => {
    const without = lines.toSpliced(index, 1).join("");
    expect(againstBase(without)).toEqual([`ledger-rewritten ${index + 1}`]);
    return found(without).length > 0 ? [] : [`${JSON.parse(line).event} ${JSON.parse(line).id}`];
  });
  // A retraction that was reversed leaves no trace in other lines: only the base has it.
  expect(unnoticed).toEqual(["reinstate 1", "retract 5"]);
});

test("merge conflicts are detected, and only their markers are reported", () => {
  const [first = "", ...rest] = lines;
  const merged = [
    first,
    "<<<<<<< HEAD\n",
    ...rest,
    "||||||| base\n",
    "=======\n",
    ...rest.slice(1),
    ">>>>>>> main\n",
  ];
  expect(codes(merged.join(""))).toEqual([
    "ledger-conflict-marker 2",
    "ledger-conflict-marker 11",
    "ledger-conflict-marker 12",
    "ledger-conflict-marker 20",
  ]);
});

describe("one edited character", () => {
  /** Another character of the same kind, which is the hardest to detect. */
  const other = (character: string) => {
    if (/\d/.test(character)) return String((Number(character) + 1) % 10);
    if (/[a-z]/.test(character)) return character === "a" ? "b" : "a";
    return character === "_" ? "-" : "_";
  };

  /** `event.column` of an offset, "form" where it is not inside a value. */
  function columnAt(line: string, offset: number): string {
    const event = JSON.parse(line);
    for (const match of line.matchAll(/"(\w+)":("[^"]*"|[^,}]*)/g)) {
      const start = match.index + match[0].length - (match[2]?.length ?? 0);
      const quoted = match[2]?.startsWith('"') ? 1 : 0;
      if (offset >= start + quoted && offset < start + (match[2]?.length ?? 0) - quoted)
        return `${event.event}.${match[1]}`;
    }
    return "form";
  }

  test("is detected with the base, and without it except in fields without dependents", () => {
    const unnoticed = new Set<string>();
    for (const [number, line] of lines.entries()) {
      for (let offset = 0; offset < line.length - 1; offset++) {
        const edited = line.slice(0, offset) + other(line[offset] ?? "") + line.slice(offset + 1);
        const damaged = lines.with(number, edited).join("");
        expect(againstBase(damaged)).toEqual([`ledger-rewritten ${number + 1}`]);
        if (found(damaged).length === 0) unnoticed.add(columnAt(line, offset));
      }
    }
    // Names are for readers, reasons are prose, a date or a replacement may still be plausible, and the content
    // of a record is compared only in its newest line, and not while it is retracted.
    expect([...unnoticed].sort()).toEqual([
      "add.at",
      "add.content",
      "add.name",
      "reinstate.at",
      "retract.at",
      "retract.reason",
      "retract.replaced_by",
      "revise.at",
    ]);
  });
});

import fc from "fast-check";
import { expect, test } from "vitest";
import type { AddEvent, LedgerEvent } from "../../../pipeline/documents/ledger.ts";
import { type Ledger, ledgerLine, readLedger } from "../../../pipeline/ledger/ledger.ts";
import { type Entry, identity } from "../../../pipeline/ledger/ledger-records.ts";
import { decideRebase } from "../../../pipeline/ledger/rebase.ts";
import { decideReinstate, decideRetract } from "../../../pipeline/ledger/retract.ts";
import { eventTime } from "../../../pipeline/project/event-time.ts";
import { often } from "../../support/effort.ts";

const clock = Date.parse("2026-10-01T12:00:00Z");

const read = (text: string): Ledger => {
  const { ledger, problems } = readLedger({ file: "ledger.jsonl", text });
  expect(problems).toEqual([]);
  return ledger;
};

/** One change of a branch to its ledger; numbers select records. */
type Step =
  | { kind: "cut"; files: number[]; hidden: boolean }
  | { kind: "revise" | "retract" | "reinstate"; which: number; what: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant("cut" as const),
    files: fc.uniqueArray(fc.nat(30), { minLength: 1, maxLength: 4 }),
    hidden: fc.boolean(),
  }),
  fc.record({
    kind: fc.constantFrom("revise" as const, "retract" as const, "reinstate" as const),
    which: fc.nat(),
    what: fc.nat(4),
  }),
);
const branch = fc.array(step, { maxLength: 8 });

/** Applies steps like the commands; impossible steps are skipped. A file has the same bytes everywhere. */
const grow = (text: string, steps: readonly Step[]) => steps.reduce(take, text);

function take(text: string, { kind, ...rest }: Step): string {
  const ledger = read(text);
  const at = eventTime(clock, undefined, ledger.newest);
  if ("files" in rest) return text + cut(ledger, rest.files, rest.hidden, at).map(ledgerLine).join("");
  const entries = [...ledger.byId.values()];
  const entry = entries[rest.which % Math.max(1, entries.length)];
  if (!entry) return text;
  const { id } = entry.add;
  const options = {
    ids: [id],
    reason: `Reason ${rest.what}.`,
    replacedBy: replacement(entries, id, rest.what),
  };
  if (kind === "retract") return decideRetract(ledger, options, at).after;
  if (kind === "reinstate") return entry.retraction ? decideReinstate(ledger, [id], at).after : text;
  const content = String(rest.what).repeat(64);
  if (entry.retraction || entry.content === content) return text;
  return text + ledgerLine({ event: "revise", id, content, at, ...(entry.private && { private: true }) });
}

function replacement(entries: readonly Entry[], id: number, what: number) {
  const usable = entries.filter((entry) => entry.add.id !== id && !entry.retraction && !entry.private);
  return what === 0 ? undefined : usable[what % Math.max(1, usable.length)]?.add.id;
}

function cut(ledger: Ledger, files: readonly number[], hidden: boolean, at: string): LedgerEvent[] {
  const added = files.filter((file) => !ledger.byIdentity.has(identity(versionOf(file), `${file}.msi`)));
  return added.map((file, index) => ({
    event: "add",
    id: ledger.nextId + index,
    version: versionOf(file),
    package_type: "msi",
    name: `${file}.msi`,
    file: `${file}.msi`,
    min_os_version: null,
    max_os_version: null,
    checksum: file.toString(16).padStart(64, "0"),
    content: "c".repeat(64),
    at,
    ...(hidden && { private: true }),
  }));
}

const versionOf = (file: number) => `26.09.00${1 + (file % 3)}`;

const identities = ({ byId }: Ledger) => [...byId.values()].map(({ add }) => identity(add.version, add.file));

const sides = (onto: string, ours: string, shared: string) => ({
  onto: { name: "main", file: "main", text: onto },
  ours: { name: "HEAD", file: "HEAD", text: ours },
  shared,
});

const join = (onto: string, ours: string, shared: string) =>
  decideRebase(sides(onto, ours, shared), ours, (newest) => eventTime(clock, undefined, newest));

test("a rebase of random histories is valid, begins with the base's bytes, and keeps every artifact of ours", () => {
  fc.assert(
    fc.property(branch, branch, branch, (before, theirs, own) => {
      const shared = grow("", before);
      const onto = grow(shared, theirs);
      const ours = grow(shared, own);
      const { after, moved } = join(onto, ours, shared);
      expect(after.startsWith(onto)).toBe(true);
      const [base, mine, result] = [onto, ours, after].map(read) as [Ledger, Ledger, Ledger];
      const to = new Map(moved.map(({ from, to: id }) => [from, id]));
      for (const { add, ...entry } of mine.byId.values()) {
        const kept = result.byIdentity.get(identity(add.version, add.file));
        expect(kept?.add.checksum).toBe(add.checksum);
        if (!to.has(add.id)) expect(kept?.add.id).toBe(add.id);
        else expect(kept?.add.id).toBe(to.get(add.id));
        if (base.byIdentity.has(identity(add.version, add.file))) continue;
        expect(kept).toMatchObject({ content: entry.content, private: entry.private });
        expect(kept?.retraction?.reason).toBe(entry.retraction?.reason);
      }
      expect(result.byId.size).toBe(new Set([base, mine].flatMap(identities)).size);
    }),
    { numRuns: often(400, 50) },
  );
});

test("a rebase of random histories keeps our changes of the base's records", () => {
  fc.assert(
    fc.property(branch, branch, (before, own) => {
      const shared = grow("", before);
      const onto = grow(shared, [{ kind: "cut", files: [31, 32], hidden: false }]);
      const [mine, result] = [grow(shared, own), join(onto, grow(shared, own), shared).after].map(read) as [
        Ledger,
        Ledger,
      ];
      const file = (ledger: Ledger, id: number | null | undefined) => ledger.byId.get(id ?? -1)?.add.file;
      for (const entry of mine.byId.values()) {
        const kept = result.byIdentity.get(identity(entry.add.version, entry.add.file));
        expect(kept?.retraction?.reason).toBe(entry.retraction?.reason);
        // Withdrawn records are frozen, so an earlier revision may be dropped.
        if (!entry.retraction) expect(kept?.content).toBe(entry.content);
        expect(file(result, kept?.retraction?.replaced_by)).toBe(file(mine, entry.retraction?.replaced_by));
      }
    }),
    { numRuns: often(400, 50) },
  );
});

test("a rebase of random histories adds nothing the second time, and the same in two steps", () => {
  fc.assert(
    fc.property(branch, branch, branch, branch, (before, theirs, own, third) => {
      const shared = grow("", before);
      const [onto, ours, other] = [theirs, own, third].map((steps) => grow(shared, steps)) as [
        string,
        string,
        string,
      ];
      const once = join(onto, ours, shared).after;
      expect(join(once, ours, shared).events).toEqual([]);
      const all = join(once, other, shared).after;
      expect(join(all, other, shared).events).toEqual([]);
      const ids = [...read(all).byId.values()].map(({ add }: { add: AddEvent }) => add.id);
      expect(ids).toEqual(ids.map((_, index) => index + 1));
    }),
    { numRuns: often(400, 50) },
  );
});

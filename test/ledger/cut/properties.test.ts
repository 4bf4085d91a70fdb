import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readLedgerNow, reinstate, retract } from "../../../pipeline/index.ts";
import { often } from "../../support/effort.ts";
import { type Draft, Workshop } from "./workshop.ts";

const versions = ["26.01.001", "26.01.002", "26.02.001", "25.12.003"];
const drafts: fc.Arbitrary<Draft> = fc.record({
  file: fc.constantFrom("a.deb", "b.rpm", "c.msi", "Ä.pkg", "z z.rpm", "0.xz", "m.rpm", "n.rpm"),
  package_type: fc.constantFrom("rpm", "xz", "helm"),
  gui_only: fc.boolean(),
  description: fc.constantFrom("one", "two", "three"),
});
const steps = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constant("add" as const),
        version: fc.constantFrom(...versions),
        draft: drafts,
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant("describe" as const),
        at: fc.nat(),
        text: fc.string({ unit: "grapheme", maxLength: 5 }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("cut" as const) }) },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant("cut one" as const), version: fc.constantFrom(...versions) }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("retract" as const), at: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("reinstate" as const), at: fc.nat() }) },
  ),
  { minLength: 1, maxLength: 14 },
);
const order = fc.array(fc.nat({ max: 30 }), { minLength: 1, maxLength: 6 });

test("ids are unique, permanent and ascending, provisional ids are those of the cut, and the ledger only grows", {
  tags: ["long"],
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(steps, order), { minLength: 1, maxLength: 3 }), async (days) => {
      const workshop = new Workshop();
      workshop.add("26.01.001", {
        file: "first.rpm",
        package_type: "rpm",
        gui_only: false,
        description: "one",
      });
      let before = { ids: new Map<string, number>(), text: "" };
      for (const [actions, shuffle] of days) {
        for (const action of actions) {
          await perform(workshop, action, shuffle);
          before = invariants(workshop, before);
        }
      }
    }),
    { numRuns: often(60, 12) },
  );
});

type Step = Parameters<Parameters<typeof steps.map>[0]>[0][number];

async function perform(workshop: Workshop, step: Step, shuffle: readonly number[]): Promise<void> {
  const all = [...workshop.drafts.values()].flatMap((release) => [...release.values()]);
  if (step.do === "add") workshop.add(step.version, { ...step.draft });
  if (step.do === "describe")
    Object.assign(all[step.at % all.length] ?? {}, { description: step.text.replace(/\p{Cs}/gu, "") });
  workshop.write(shuffle);
  if (step.do === "cut") await cutAsShown(workshop);
  if (step.do === "cut one" && workshop.drafts.has(step.version)) await cutAsShown(workshop, step.version);
  if (step.do === "retract") {
    const live = withState(workshop, false);
    const id = live[step.at % live.length];
    if (id !== undefined)
      await retract(workshop.folder, { ids: [id], reason: "Broken." }, workshop.surroundings());
  }
  if (step.do === "reinstate") {
    const gone = withState(workshop, true);
    const id = gone[step.at % gone.length];
    if (id !== undefined) await reinstate(workshop.folder, [id], workshop.surroundings());
  }
}

const withState = ({ folder }: Workshop, retracted: boolean) =>
  [...readLedgerNow(folder).byId.values()]
    .filter(({ retraction }) => (retraction !== null) === retracted)
    .map(({ add }) => add.id);

/** A build before the cut shows what the cut makes permanent and what a later build shows. */
async function cutAsShown(workshop: Workshop, version?: string): Promise<void> {
  const chosen = version === undefined ? undefined : [version];
  const shown = await workshop.shownIds(chosen ? { released: true, versions: chosen } : {});
  await workshop.cut(chosen);
  expect(sorted(workshop.permanentIds())).toEqual(sorted(shown));
  expect(sorted(await workshop.shownIds({ released: true }))).toEqual(sorted(shown));
  await workshop.cut(chosen);
  expect(sorted(workshop.permanentIds())).toEqual(sorted(shown));
}

const sorted = (ids: Map<string, number>) => [...ids].sort(([, a], [, b]) => a - b);

function invariants(workshop: Workshop, before: { ids: Map<string, number>; text: string }) {
  const ids = workshop.permanentIds();
  for (const [key, id] of before.ids) expect(ids.get(key)).toBe(id);
  const highest = Math.max(0, ...before.ids.values());
  for (const [key, id] of ids) if (!before.ids.has(key)) expect(id).toBeGreaterThan(highest);
  expect([...ids.values()].sort((a, b) => a - b)).toEqual(
    Array.from({ length: ids.size }, (_, index) => index + 1),
  );
  const text = ledgerText(workshop);
  expect(text.startsWith(before.text)).toBe(true);
  return { ids, text };
}

function ledgerText({ folder }: Workshop): string {
  try {
    return readFileSync(join(folder, "ledger.jsonl"), "utf8");
  } catch {
    return "";
  }
}

test("ids do not depend on the distribution of artifacts over manifests", async () => {
  const release = fc.array(drafts, { minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(release, order, order, async (list, one, other) => {
      const shown = [];
      for (const shuffle of [one, other]) {
        const workshop = new Workshop();
        const turned =
          shuffle === one ? list : [...new Map(list.map((draft) => [draft.file, draft])).values()].reverse();
        for (const draft of [...new Map(turned.map((draft) => [draft.file, draft])).values()])
          workshop.add("26.01.001", draft);
        workshop.write(shuffle);
        shown.push(sorted(await workshop.shownIds()));
      }
      expect(shown[0]).toEqual(shown[1]);
    }),
    { numRuns: often(60, 12) },
  );
});

test("versions have the same order as text and as numbers", () => {
  const number = fc.tuple(
    fc.integer({ min: 0, max: 99 }),
    fc.integer({ min: 1, max: 12 }),
    fc.integer({ min: 0, max: 999 }),
  );
  const text = ([year, month, sequence]: [number, number, number]) =>
    `${String(year).padStart(2, "0")}.${String(month).padStart(2, "0")}.${String(sequence).padStart(3, "0")}`;
  const value = ([year, month, sequence]: [number, number, number]) => (year * 100 + month) * 1000 + sequence;
  fc.assert(
    fc.property(number, number, (a, b) => {
      expect(Math.sign(value(a) - value(b))).toBe(text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0);
    }),
  );
});

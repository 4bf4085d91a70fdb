import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { buildCatalog, importCatalog } from "../../../pipeline/index.ts";
import { often } from "../../support/effort.ts";
import { type Live, liveRecord, rows } from "../../support/live-catalog.ts";
import { temporaryFolder } from "../../support/run.ts";
import { byId } from "./importing.ts";

const surroundings = { clock: Date.parse("2026-09-15T12:00:00Z"), pid: 1, onWait: () => {} };

async function importInto(folder: string, records: readonly Live[], acceptViolations: boolean) {
  const source = join(folder, "live.json");
  writeFileSync(source, JSON.stringify(records));
  const nothing = {
    wire: {},
    downloadUrl: undefined,
    resolveDownloads: false,
    resolveBase: undefined,
    nextId: undefined,
  };
  const request = { source, acceptViolations, ...nothing };
  return importCatalog(join(folder, "releases"), request, surroundings, { onLookup() {}, onWrite() {} });
}

/** The records a released build lists, ascending by id. */
async function listed(folder: string): Promise<Live[]> {
  const { site } = await buildCatalog(join(folder, "releases"), { released: true });
  for (const { path, chunks } of site.files)
    if (path === "api/v1/package/index.json") return byId(JSON.parse(Buffer.concat([...chunks]).toString()));
  return [];
}

const digits = (count: number) => fc.nat(10 ** count - 1).map((value) => String(value).padStart(count, "0"));

/** Dates of a few days, so that equal ones and all orders occur. */
const moment = fc
  .tuple(fc.integer({ min: 1, max: 28 }), fc.nat(23), digits(6))
  .map(
    ([day, hour, micros]) =>
      `2026-02-${String(day).padStart(2, "0")}T${String(hour).padStart(2, "0")}:00:00.${micros}Z`,
  );

const names = fc.oneof(
  fc.constantFrom("tool.bin", "TOOL.BIN", "id-3", "Tool, a label", "tööl 日本.bin"),
  fc
    .string({ unit: "grapheme", minLength: 1, maxLength: 12 })
    .filter(
      (text) =>
        /^(?!\.)[^/\\\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]+$/u.test(text) &&
        !/\d\d\.\d\d\.\d{3}/.test(text),
    ),
);

const wire = { vendor: "acme", cryptolib_post: "acme_post" };

const valid = fc
  .record({
    version: fc.constantFrom("25.11.001", "26.02.001", "26.02.002", "26.08.001"),
    row: fc.constantFrom(...rows),
    name: names,
    dates: fc.tuple(moment, moment).map((pair) => pair.sort()),
    description: fc.string({ unit: "grapheme" }),
    variant: fc.constantFrom("gui_only" as const, "headless" as const, undefined),
    older: fc.boolean(),
  })
  .map(({ dates: [created = "", modified = ""], ...seed }) => ({ ...seed, created, modified, wire }));

const ids = (count: number) =>
  fc.uniqueArray(
    fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER - 1 })),
    { minLength: count, maxLength: count },
  );

const catalogs = fc
  .array(valid, { minLength: 1, maxLength: 12 })
  .chain((seeds) => fc.tuple(fc.constant(seeds), ids(seeds.length)))
  .map(([seeds, chosen]) => seeds.map((seed, index) => liveRecord({ ...seed, id: chosen[index] ?? 1 })));

test("any valid catalog imports, and builds to the same records", { tags: ["long"] }, async () => {
  await fc.assert(
    fc.asyncProperty(catalogs, async (records) => {
      const folder = temporaryFolder();
      await importInto(folder, records, false);
      expect(await listed(folder)).toEqual(byId(records));
    }),
    { numRuns: often(60, 12) },
  );
});

/** A round trip through JSON removes -0 and undefined. */
/** Larger whole numbers are refused: JSON readers round them. */
const readable = (_: string, value: unknown) =>
  Number.isInteger(value) && !Number.isSafeInteger(value) ? 0.5 : value;

const json = fc
  .jsonValue({ maxDepth: 3 })
  .map((value) => JSON.parse(JSON.stringify(value, readable)) as unknown);
const noProto = (value: unknown): boolean => !JSON.stringify(value).includes("__proto__");

const anyText = fc.string({ unit: "binary", maxLength: 10 });
const damage = fc.oneof(
  fc.record({
    field: fc.constantFrom(
      "description",
      "operating_system",
      "min_os_version",
      "max_os_version",
      "created_date",
      "modified_date",
      "data",
      "gui_only",
      "headless",
      "platform",
      "extra",
    ),
    value: json.filter(noProto),
  }),
  fc.record({
    field: fc.constantFrom(
      "name",
      "package_type",
      "checksum",
      "operating_system",
      "created_date",
      "modified_date",
    ),
    value: anyText,
  }),
  fc.record({ field: fc.constantFrom("platform"), value: fc.integer({ min: -1, max: 30 }) }),
  fc.record({
    field: fc.constantFrom("package_type"),
    value: fc.constantFrom("constructor", "index", "QCOW", "ova", "unnamed", "…"),
  }),
  fc.record({
    field: fc.constantFrom("description", "data", "created_date", "modified_date", "gui_only", "platform"),
    value: fc.constant(undefined),
  }),
);

const damaged = catalogs.chain((records) =>
  fc.array(fc.tuple(fc.nat(records.length - 1), damage), { maxLength: 12 }).map((damages) => {
    const result = records.map((record) => ({ ...record }));
    for (const [index, { field, value }] of damages) {
      const record: Record<string, unknown> | undefined = result[index];
      if (record && value === undefined) delete record[field];
      else if (record) record[field] = value;
    }
    return result as Live[];
  }),
);

test("any catalog with accepted violations builds to the same records", { tags: ["long"] }, async () => {
  await fc.assert(
    fc.asyncProperty(damaged, async (records) => {
      const folder = temporaryFolder();
      await importInto(folder, records, true);
      expect(await listed(folder)).toEqual(byId(records));
      const again = await importInto(folder, records, false);
      expect([again.plan.files, again.plan.ledger.events]).toEqual([[], []]);
    }),
    { numRuns: often(100, 20) },
  );
});

test("an import in two steps gives the same records as one", async () => {
  await fc.assert(
    fc.asyncProperty(damaged, fc.nat(12), async (records, first) => {
      const folder = temporaryFolder();
      await importInto(folder, records.slice(0, first), true);
      await importInto(folder, records, true);
      expect(await listed(folder)).toEqual(byId(records));
    }),
    { numRuns: often(30, 6) },
  );
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { packageRecordSchema } from "../../pipeline/documents/package-record.ts";
import { recordFields } from "../../pipeline/documents/record-fields.ts";
import { filterFields } from "../../pipeline/selection/fields.ts";
import { canonicalQuery, readListQuery } from "../../pipeline/selection/query.ts";
import { indexRecords, type Row } from "../../pipeline/selection/record-index.ts";
import { chooseLatest, select } from "../../pipeline/selection/select.ts";
import { readPackageList } from "../../service/catalog/package-list.ts";
import { often } from "../support/effort.ts";

test("the fields are those of the record, in its order", () => {
  expect(recordFields).toEqual(Object.keys(packageRecordSchema.shape));
});

const version = fc.constantFrom("26.07.001", "26.07.002", "26.08.001");
const osVersion = fc.constantFrom(null, "20.04", "22.04");
const record = fc.record({
  name: fc.constantFrom("a", "b", "true", "null", "", "1", 'quo"te}', "back\\", "ü"),
  version,
  description: fc.string(),
  checksum: fc.constantFrom("aa", "bb"),
  operating_system: fc.constantFrom("linux", "Linux", "windows"),
  min_os_version: osVersion,
  max_os_version: osVersion,
  package_type: fc.constantFrom("deb", "rpm"),
  created_date: fc.constantFrom("2026-01-01", "2026-01-02"),
  modified_date: fc.constant("2026-01-02"),
  data: fc.constantFrom({}, { store: { size: 1 } }, { store: { path: "}{" } }),
  exclude_from_api: fc.constant(false),
  gui_only: fc.boolean(),
  headless: fc.boolean(),
  platform: fc.constantFrom(1, 2, 10),
  only_for_account: fc.constantFrom(null, 5, "5"),
});
const records = fc
  .array(record, { maxLength: 12 })
  .map((rows): Row[] => rows.map((row, index) => ({ id: ((index * 7) % 12) + 1, ...row })));

const texts = ["a", "true", "false", "1", "0", "null", "", "linux", "20.04", "5", "26.07.001", "10", "010"];
const query = fc
  .record({
    filters: fc.array(fc.tuple(fc.constantFrom(...filterFields), fc.constantFrom(...texts)), {
      maxLength: 3,
    }),
    ordering: fc.array(fc.tuple(fc.constantFrom("", "-"), fc.constantFrom<string[]>(...recordFields, "pk")), {
      maxLength: 3,
    }),
    rest: fc.constantFrom("", "version=latest", "line=26.07", "line=26.07&version=latest"),
  })
  .map(({ filters, ordering, rest }) => {
    const parameters = new URLSearchParams(filters.map(([field, text]) => [field, text]));
    parameters.set("ordering", ordering.map((term) => term.join("")).join(","));
    for (const [name, value] of new URLSearchParams(rest)) parameters.set(name, value);
    return parameters;
  });

/** A second, plain implementation of the rules. */
function plainly(rows: readonly Row[], parameters: URLSearchParams): Row[] {
  let chosen = rows.filter((row) =>
    [...new Map(parameters)].every(([name, text]) => {
      if (!filterFields.includes(name as never) || (name === "version" && text === "latest")) return true;
      const value = row[name];
      if (value === null) return text === "" || text === "null";
      if (typeof value === "boolean") return (value ? ["true", "1"] : ["false", "0"]).includes(text);
      return String(value) === text;
    }),
  );
  const line = parameters.get("line");
  if (line !== null) chosen = chosen.filter((row) => String(row.version).startsWith(`${line}.`));
  if (parameters.getAll("version").at(-1) === "latest") {
    const newest = chosen
      .map((row) => String(row.version))
      .sort()
      .at(-1);
    chosen = chosen.filter((row) => row.version === newest);
  }
  const terms = (parameters.get("ordering") ?? "")
    .split(",")
    .filter((term) => recordFields.includes(term.replace(/^-/, "") as never));
  if (terms.length === 0) return chosen;
  const rank = (value: unknown) => ["object", "boolean", "number", "string"].indexOf(typeof value);
  const compare = (a: unknown, b: unknown): number => {
    if (a === null || b === null) return Number(b === null) - Number(a === null);
    if (rank(a) !== rank(b)) return rank(a) - rank(b);
    const [left, right] = typeof a === "object" ? [JSON.stringify(a), JSON.stringify(b)] : [a, b];
    return (left as string) < (right as string) ? -1 : Number((left as string) > (right as string));
  };
  return chosen.toSorted((a, b) => {
    for (const term of terms) {
      const field = term.replace(/^-/, "");
      const difference = compare(a[field], b[field]);
      if (difference !== 0) return term.startsWith("-") ? -difference : difference;
    }
    return Number(a.id) - Number(b.id);
  });
}

const bytesOf = (rows: readonly Row[]) => new TextEncoder().encode(JSON.stringify(rows));
const rowsOf = (bytes: Uint8Array): Row[] => JSON.parse(new TextDecoder().decode(bytes));

describe("in a generated list", () => {
  test("a selection from the list's bytes follows the rules", () => {
    fc.assert(
      fc.property(records, query, (rows, parameters) => {
        const { index, texts } = readPackageList(bytesOf(rows), "");
        const positions = select(index, readListQuery(parameters));
        const bytes = Buffer.concat([...texts.pieces(positions, Number.POSITIVE_INFINITY)]);
        expect(bytes.length).toBe(texts.lengthOf(positions));
        expect(rowsOf(bytes)).toEqual(plainly(rows, parameters));
        for (const size of [1, 500, 5000]) {
          const pieces = [...texts.pieces(positions, size)];
          expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThanOrEqual(size);
          expect(Buffer.concat(pieces)).toEqual(bytes);
        }
      }),
      { numRuns: often(2000, 300) },
    );
  });

  test("queries with the same canonical form select the same records", () => {
    fc.assert(
      fc.property(records, query, query, (rows, one, other) => {
        const index = indexRecords(rows);
        const [first, second] = [readListQuery(one), readListQuery(other)];
        if (canonicalQuery(first) !== canonicalQuery(second)) return;
        expect(select(index, first)).toEqual(select(index, second));
      }),
    );
  });

  test("latest redirects to a record that version=latest selects, or lists several", () => {
    fc.assert(
      fc.property(records, query, (rows, parameters) => {
        const index = indexRecords(rows);
        const asked = readListQuery(parameters);
        const selected = [...select(index, { ...asked, latest: true, ordering: [] })].sort();
        const choice = chooseLatest(index, asked);
        if (choice.kind === "none") expect(selected).toEqual([]);
        else if (choice.kind === "one") expect(selected).toEqual([choice.position]);
        else expect([...choice.positions].sort()).toEqual(selected);
      }),
    );
  });
});

describe("a query", () => {
  const read = (text: string) => readListQuery(new URLSearchParams(text));

  test.each([
    ["the last of a repeated parameter counts", "id=1&id=2&ordering=name&ordering=-id", "id=2&ordering=-id"],
    ["unknown terms of an ordering are dropped", "ordering=pk,-version, bogus ,--id", "ordering=-version"],
    ["after the id nothing is left to order", "ordering=-id,name", "ordering=-id"],
    ["a field is ordered by once", "ordering=name,-name,id", "ordering=name,id"],
    ["filters in any order ask the same", "name=b&id=1", "id=1&name=b"],
    ["the format selects nothing", "format=json", ""],
    ["data is not a filter", "data=x", ""],
    ["newest first is a filter of its own", "version=latest&line=26.07", "line=26.07&latest"],
  ])("%s", (_, text, canonical) => {
    expect(canonicalQuery(read(text))).toBe(canonical);
  });

  test("names each unknown parameter once", () => {
    expect(read("page=2&page=3&limit=1&data=x&id=1").unknown).toEqual(["page", "limit", "data"]);
  });
});

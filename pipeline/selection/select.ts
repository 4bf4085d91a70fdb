import { lineOf } from "../../shared/version.ts";
import { compareKeys, type Field, filterFields, sortKey } from "./fields.ts";
import type { ListQuery, OrderTerm } from "./query.ts";
import { matcher, type RecordIndex } from "./record-index.ts";

export function select(index: RecordIndex, query: ListQuery): readonly number[] {
  return order(index, choose(index, query), query.ordering);
}

/** `line` and `latest` apply after all other filters, so that they have the same meaning everywhere. */
function choose(index: RecordIndex, { filters, line, latest }: ListQuery): readonly number[] {
  let chosen = filter(index, filters);
  const version = (position: number) => String(index.value("version", position));
  if (line !== undefined) chosen = chosen.filter((position) => lineOf(version(position)) === line);
  if (!latest) return chosen;
  chosen = offeredOf(index, filters, chosen);
  const newest = chosen.reduce((best, position) => (version(position) > best ? version(position) : best), "");
  return chosen.filter((position) => version(position) === newest);
}

/** The positions that `latest` chooses from. A query that names one release or record gets it in any case. */
export function offeredOf(index: RecordIndex, filters: ListQuery["filters"], positions: readonly number[]) {
  const { offered } = index;
  if (!offered || filters.some(({ field }) => field === "version" || field === "id")) return positions;
  return positions.filter((position) => offered.has(String(index.value("version", position))));
}

function filter(index: RecordIndex, filters: ListQuery["filters"]): readonly number[] {
  const terms = filters.map(({ field, text }) => ({ field, matches: matcher(text) }));
  const chosen: number[] = [];
  for (let position = 0; position < index.count; position++) {
    if (terms.every(({ field, matches }) => matches(index.value(field, position)))) chosen.push(position);
  }
  return chosen;
}

function order(index: RecordIndex, positions: readonly number[], terms: readonly OrderTerm[]) {
  if (terms.length === 0) return positions;
  const all = [...terms, byId];
  const keyed = positions.map((position) => ({
    position,
    keys: all.map(({ field }) => sortKey(index.value(field, position))),
  }));
  keyed.sort((a, b) => {
    for (const [at, { descending }] of all.entries()) {
      const difference = compareKeys(a.keys[at], b.keys[at]);
      if (difference !== 0) return descending ? -difference : difference;
    }
    return 0;
  });
  return keyed.map(({ position }) => position);
}

const byId: OrderTerm = { field: "id", descending: false };

export type LatestChoice =
  | { kind: "none" }
  | { kind: "one"; position: number }
  | { kind: "many"; positions: readonly number[]; distinguishing: Field[] };

/** The single matching artifact of the highest version. */
export function chooseLatest(index: RecordIndex, query: ListQuery): LatestChoice {
  const positions = select(index, { ...query, latest: true, ordering: [byId] });
  const [position] = positions;
  if (position === undefined) return { kind: "none" };
  if (positions.length === 1) return { kind: "one", position };
  const differs = (field: Field) => new Set(positions.map((each) => index.value(field, each))).size > 1;
  const kinds = filterFields.filter((field) => !ofOneFile.has(field) && differs(field));
  const combination = (each: number) => JSON.stringify(kinds.map((field) => index.value(field, each)));
  const isEnough = new Set(positions.map(combination)).size === positions.length;
  const distinguishing = isEnough ? kinds : [...kinds, ...(["id", "name"] as const).filter(differs)];
  return { kind: "many", positions, distinguishing };
}

/** A field that identifies a single file does not describe the kind of file that is wanted. */
const ofOneFile: ReadonlySet<Field> = new Set([
  "id",
  "name",
  "description",
  "checksum",
  "created_date",
  "modified_date",
]);

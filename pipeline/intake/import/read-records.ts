import { failure, type Problem, throwErrors } from "../../../shared/errors.ts";
import { id, version } from "../../../shared/fields.ts";
import { parseJson } from "../../../shared/json.ts";
import { maxDepth, parseSource, placeAt, type Source, type Syntax } from "../../../shared/source.ts";
import { isObject } from "../../documents/is-object.ts";
import { display } from "../../project/display.ts";

/** A record of a live catalog: the required fields, and any others. */
export interface LiveRecord {
  readonly id: number;
  readonly name: string;
  readonly version: string;
  readonly package_type: string;
  readonly checksum: string;
  readonly [field: string]: unknown;
}

/** As messages name it. */
export const recordName = ({ id, name, version }: Pick<LiveRecord, "id" | "name" | "version">): string =>
  `record ${id} (${display(name)} of ${version})`;

export const neverImported =
  "It can never be imported: correct it in the live catalog, or take it out of the list.";

/**
 * @param hint for a record that is invalid @returns ascending by id
 * @throws RelcatError import-list, import-record with every record that can never be imported, json-syntax …
 */
export function readRecords(source: Source, hint = neverImported): LiveRecord[] {
  const { value, locate } = parse(source);
  const list = listOf(value, source);
  const firstWithId = new Map<unknown, number>();
  const problems: Problem[] = [];
  for (const [index, record] of list.entries()) {
    const faults = isObject(record) ? faultsOf(record) : [`it is ${display(record)}, expected an object`];
    const before = isObject(record) ? firstWithId.get(record.id) : undefined;
    if (before !== undefined) faults.push(`its id is already used by element ${before} of the list`);
    else if (isObject(record)) firstWithId.set(record.id, index + 1);
    const element = `element ${index + 1} of the list`;
    const isKnown = isObject(record) && id.safeParse(record.id).success;
    const who = isKnown ? `record ${record.id} (${element})` : element;
    for (const fault of faults) {
      const at = placeAt(source, locate([index], "value"));
      problems.push({ code: "import-record", severity: "error", message: `${who}: ${fault}`, hint, at });
    }
  }
  throwErrors(problems);
  return (list as LiveRecord[]).toSorted((a, b) => a.id - b.id);
}

function parse(source: Source): Syntax {
  try {
    return parseSource(source, parseJson);
  } catch (error) {
    if (!/^\s*</.test(source.text)) throw error;
    const hint = "Give the address of the JSON itself; a browser's rendering has ?format=api.";
    throw failure("import-list", `${source.file} is a page, expected a JSON array of records`, hint);
  }
}

function listOf(value: unknown, { file }: Source): unknown[] {
  if (Array.isArray(value)) return value;
  const pages = isObject(value) && Array.isArray(value.results);
  const hint = pages
    ? "It is one page of a list: give the whole list in one array."
    : "Give what GET …/package/ answers.";
  throw failure("import-list", `${file} is ${display(value)}, expected a JSON array of records`, hint);
}

/** The identity of the record is unclear, or it cannot be reproduced exactly. */
function faultsOf(record: Record<string, unknown>): string[] {
  const faults = Object.entries(required).flatMap(([field, { fits, expected }]) => {
    const value = record[field];
    if (fits(value)) return [];
    return [`${field} is ${value === undefined ? "missing" : display(value)}, expected ${expected}`];
  });
  const lost = Object.entries(record).flatMap(([field, value]) => {
    // The id has its own rule.
    const fault = field === "id" ? undefined : unkeepable(field, value);
    return fault === undefined ? [] : [`${field}: ${fault}`];
  });
  return [...faults, ...lost.slice(0, 1)];
}

const text = { fits: (value: unknown) => typeof value === "string", expected: "text" };

const required: Record<string, { fits(value: unknown): boolean; expected: string }> = {
  id: { fits: (value) => id.safeParse(value).success, expected: "a positive whole number below 2^53" },
  name: text,
  version: {
    fits: (value) => version.safeParse(value).success,
    expected: "YY.MM.NNN with a month from 01 to 12",
  },
  package_type: text,
  checksum: text,
};

/** Nesting left for a record inside a manifest. */
const maxRecordDepth = maxDepth - 8;

function unkeepable(key: string, value: unknown, depth = 1): string | undefined {
  if (key === "__proto__") return 'the key "__proto__" is not safe to keep';
  if (typeof value === "number" && !Number.isFinite(value))
    return "a number is too large for JSON readers to keep";
  if (Number.isInteger(value) && !Number.isSafeInteger(value))
    return "a whole number is 2^53 or more, which JSON readers round: expected it as text";
  if (value === null || typeof value !== "object") return undefined;
  if (depth > maxRecordDepth) return `values are nested more than ${maxRecordDepth} levels deep`;
  for (const [name, item] of Object.entries(value)) {
    const lost = unkeepable(name, item, depth + 1);
    if (lost !== undefined) return lost;
  }
  return undefined;
}

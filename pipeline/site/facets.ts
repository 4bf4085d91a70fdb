import type { OutputFile } from "../documents/published.ts";
import { readListQuery } from "../selection/query.ts";
import { matcher, type RecordIndex, type Row } from "../selection/record-index.ts";
import { select } from "../selection/select.ts";
import { array } from "./catalog-list.ts";
import { joinedFile, textFile } from "./output.ts";

/** List parameters that hosts without a program can answer. */
export const facetParameters = {
  system: "operating_system",
  type: "package_type",
  min: "min_os_version",
  max: "max_os_version",
} as const;

/** Key of a prebuilt list: a system, or a package type and a range of versions of the system. */
export type FacetKey = { [part in keyof typeof facetParameters]?: string | undefined };

/** Keys of all prebuilt lists: each operating system, and each package type with the bounds that its records have. */
export function facetKeys(rows: readonly Row[]): FacetKey[] {
  const systems = distinct(rows.map((row) => row.operating_system)).map((system) => ({ system }));
  const types = distinct(rows.map((row) => row.package_type));
  return [...systems, ...types.flatMap((type) => keysOfType(rows, type))];
}

const distinct = (values: readonly unknown[]): string[] => [...new Set(values.filter(canBeFacet))].sort();

function keysOfType(rows: readonly Row[], type: string): FacetKey[] {
  const keys = new Map<string, FacetKey>();
  for (const row of rows) {
    if (!matcher(type)(row.package_type)) continue;
    const min = canBeFacet(row.min_os_version) ? row.min_os_version : undefined;
    const max = canBeFacet(row.max_os_version) ? row.max_os_version : undefined;
    for (const key of [{ type }, { type, min }, { type, max }, { type, min, max }])
      keys.set(facetPath(key), key);
  }
  return [...keys].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, key]) => key);
}

/** `facets/`: the lists, selected by the same code as on servers. */
export function* facetFiles(
  keys: readonly FacetKey[],
  index: RecordIndex,
  records: readonly string[],
): Generator<OutputFile> {
  yield textFile(emptyFacet, "[]");
  for (const key of keys) {
    const positions = select(index, readListQuery(facetQuery(key)));
    yield joinedFile(facetPath(key), () => array(positions.flatMap((position) => records[position] ?? [])));
  }
}

export function facetQuery(key: FacetKey): URLSearchParams {
  const query = new URLSearchParams();
  for (const [part, name] of Object.entries(facetParameters)) {
    const value = key[part as keyof FacetKey];
    if (value !== undefined) query.set(name, value);
  }
  return query;
}

/** Only values that are valid in a path and in every host's configuration. */
export const canBeFacet = (value: unknown): value is string =>
  typeof value === "string" && /^[0-9A-Za-z][0-9A-Za-z._-]{0,63}$/.test(value);

/** Marks capitals: `linux` and `Linux` are two systems, but the same file on case-insensitive file systems. */
export const facetSegment = (value: string): string =>
  value.replace(/[A-Z]/g, (capital) => `!${capital.toLowerCase()}`);

/** @returns relative to the site's root */
export function facetPath({ system, type = "", min, max }: FacetKey): string {
  if (system !== undefined) return `facets/os/${facetSegment(system)}.json`;
  const bounds = Object.entries({ min, max }).flatMap(([name, value]) =>
    value === undefined ? [] : `${name}=${facetSegment(value)}`,
  );
  return `facets/type/${[facetSegment(type), ...bounds].join("/")}.json`;
}

/** The empty list, for queries that match nothing. */
export const emptyFacet = "facets/none.json";

import type { Config, WrittenConfig } from "../../documents/config.ts";
import { freeText, line, packageType } from "../../documents/fields.ts";
import { isObject } from "../../documents/is-object.ts";
import { defaultPackageTypes, type Kind } from "../../documents/package-types.ts";
import type { LiveRecord } from "./read-records.ts";

type TypeRow = NonNullable<WrittenConfig["package_types"]>[string];

/** What catalog.yaml lacks to describe the records. */
export interface CatalogRows {
  package_types: Record<string, TypeRow>;
  platforms: Record<string, string>;
}

/** What is fixed already and stays as it is. */
export interface FixedRows {
  config: Config;
  /** Package types that catalog.yaml or the ledger has. */
  types: ReadonlySet<string>;
  /** The name of `vendor` inside `data`. */
  vendor: string;
}

/** The row of the package type table a record belongs to; types that cannot stand in a URL share a similar one's. */
export function typeKey(type: string): string {
  if (packageType.safeParse(type).success) return type;
  const similar = type
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+/, "")
    .slice(0, 32)
    .replace(/-+$/, "");
  return packageType.safeParse(similar).success ? similar : "unnamed";
}

/**
 * Package types and platforms as they are found. A type of the specification keeps its row as long as any record
 * agrees with it; what most records say counts where none does.
 */
export function catalogRows(records: readonly LiveRecord[], fixed: FixedRows): CatalogRows {
  const rows: CatalogRows = { package_types: {}, platforms: {} };
  const spare = spareNumber(records, fixed.config);
  for (const [type, group] of Map.groupBy(records, (record) => typeKey(record.package_type))) {
    if (fixed.types.has(type)) continue;
    const row = Object.hasOwn(defaultPackageTypes, type)
      ? changedRow(type, group)
      : newRow(type, group, spare, fixed.vendor);
    if (Object.keys(row).length > 0) rows.package_types[type] = row;
  }
  const used = [
    ...records.map(({ platform }) => platform),
    ...Object.values(rows.package_types).map((row) => row.platform),
  ];
  for (const platform of new Set(used.filter(isPlatform))) {
    if (fixed.config.platforms.has(platform)) continue;
    rows.platforms[platform] = platform === spare ? "Unknown platform" : `Platform ${platform}`;
  }
  return { package_types: sorted(rows.package_types), platforms: rows.platforms };
}

const sorted = <T>(table: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(table).sort(([a], [b]) => (a < b ? -1 : 1)));

/** As catalog.yaml can name it. */
const isPlatform = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) > 0 && Number(value) < 1e9;
const isSystem = (value: unknown): value is string => line.safeParse(value).success;

function changedRow(type: string, records: readonly LiveRecord[]): TypeRow {
  const row = defaultPackageTypes[type];
  const systems = records.map((record) => record.operating_system).filter(isSystem);
  const platforms = records.map((record) => record.platform).filter(isPlatform);
  return {
    ...(row &&
      !systems.includes(row.operating_system) &&
      systems.length > 0 && { operating_system: mostCommon(systems) }),
    ...(row &&
      !platforms.includes(row.platform) &&
      platforms.length > 0 && { platform: mostCommon(platforms) }),
  };
}

function newRow(type: string, records: readonly LiveRecord[], spare: number, vendor: string): TypeRow {
  const operating_system =
    mostCommon(records.map((record) => record.operating_system).filter(isSystem)) ?? "unknown";
  return {
    operating_system,
    platform: mostCommon(records.map((record) => record.platform).filter(isPlatform)) ?? spare,
    kind: kindOf(records, operating_system, vendor),
    // What only one record says of itself is no description of its type.
    description: mostCommon(records.map((record) => record.description).filter(isDescription), 2) ?? type,
  };
}

const isDescription = (value: unknown): value is string => value !== "" && freeText.safeParse(value).success;

function kindOf(records: readonly LiveRecord[], operatingSystem: string, vendor: string): Kind {
  const parts = (data: unknown) => (isObject(data) ? Object.keys(data) : []);
  if (records.some(({ data }) => parts(data).some((part) => part === "store" || part === vendor)))
    return "image";
  return operatingSystem === "kubernetes" ? "chart" : "client";
}

/** The value most records have, the latest of several; undefined when fewer than `least` have it. */
function mostCommon<T>(values: readonly T[], least = 1): T | undefined {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const most = [...counts.values()].reduce((a, b) => Math.max(a, b), 0);
  return most < least ? undefined : values.findLast((value) => counts.get(value) === most);
}

/** A platform number that nothing uses, for types whose records name none. */
function spareNumber(records: readonly LiveRecord[], { platforms }: Config): number {
  const used = new Set<unknown>([...platforms.keys(), ...records.map((record) => record.platform)]);
  let spare = 1;
  while (used.has(spare)) spare++;
  return spare;
}

import { freeText, line, packageType } from "../../../shared/fields.ts";
import { defaultPackageTypes, type Kind, type PackageType } from "../../../shared/package-types.ts";
import type { Settings, WrittenConfig } from "../../documents/config.ts";
import { isObject } from "../../documents/is-object.ts";
import type { LiveRecord } from "./read-records.ts";

type TypeRow = NonNullable<WrittenConfig["package_types"]>[string];

export interface CatalogRows {
  package_types: Record<string, TypeRow>;
  platforms: Record<string, string>;
}

interface FixedRows {
  config: Settings;
  /** Package types in catalog.yaml or the ledger. */
  types: ReadonlySet<string>;
  /** Key name of `vendor` inside `data`. */
  vendor: string;
}

/** Row of the package type table for a type; a type that cannot be part of a URL uses a similar one. */
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

/** A built-in type keeps its row if any record agrees with it; otherwise the majority decides. */
export function catalogRows(records: readonly LiveRecord[], fixed: FixedRows): CatalogRows {
  const rows: CatalogRows = { package_types: {}, platforms: {} };
  const spare = spareNumber(records, fixed.config);
  for (const [type, group] of Map.groupBy(records, (record) => typeKey(record.package_type))) {
    if (fixed.types.has(type)) continue;
    const row = Object.hasOwn(defaultPackageTypes, type)
      ? changedRow(defaultPackageTypes[type], group)
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

/** Values that catalog.yaml can express. */
const isPlatform = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) > 0 && Number(value) < 1e9;
const isSystem = (value: unknown): value is string => line.safeParse(value).success;

function changedRow(row: PackageType | undefined, records: readonly LiveRecord[]): TypeRow {
  if (!row) return {};
  const systems = records.map((record) => record.operating_system).filter(isSystem);
  const platforms = records.map((record) => record.platform).filter(isPlatform);
  const isOther = <T>(value: T, found: readonly T[]) => found.length > 0 && !found.includes(value);
  return {
    ...(isOther(row.operating_system, systems) && { operating_system: commonest(systems) }),
    ...(isOther(row.platform, platforms) && { platform: commonest(platforms) }),
  };
}

function newRow(type: string, records: readonly LiveRecord[], spare: number, vendor: string): TypeRow {
  const operating_system =
    commonest(records.map((record) => record.operating_system).filter(isSystem)) ?? "unknown";
  return {
    operating_system,
    platform: commonest(records.map((record) => record.platform).filter(isPlatform)) ?? spare,
    kind: kindOf(records, operating_system, vendor),
    // A description that only one record has does not describe its type.
    description: commonest(records.map((record) => record.description).filter(isDescription), 2) ?? type,
  };
}

const isDescription = (value: unknown): value is string => value !== "" && freeText.safeParse(value).success;

function kindOf(records: readonly LiveRecord[], operatingSystem: string, vendor: string): Kind {
  const parts = (data: unknown) => (isObject(data) ? Object.keys(data) : []);
  if (records.some(({ data }) => parts(data).some((part) => part === "store" || part === vendor)))
    return "image";
  return operatingSystem === "kubernetes" ? "chart" : "client";
}

/** Most frequent value, the latest on a tie; undefined below `least` occurrences. */
function commonest<T>(values: readonly T[], least = 1): T | undefined {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const most = [...counts.values()].reduce((a, b) => Math.max(a, b), 0);
  return most < least ? undefined : values.findLast((value) => counts.get(value) === most);
}

/** An unused platform number, for types whose records have none. */
function spareNumber(records: readonly LiveRecord[], { platforms }: Settings): number {
  const used = new Set<unknown>([...platforms.keys(), ...records.map((record) => record.platform)]);
  let spare = 1;
  while (used.has(spare)) spare++;
  return spare;
}

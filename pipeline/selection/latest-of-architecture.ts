import type { ReleaseDocument } from "../documents/site.ts";
import { type ListQuery, readListQuery } from "./query.ts";
import { matcher, type RecordIndex } from "./record-index.ts";
import { chooseLatest, type LatestChoice, offeredOf, select } from "./select.ts";

/** Architectures of a release's records, by id; a record without one is absent. */
export type ReleaseArchitectures = ReadonlyMap<number, string>;

export const architecturesOf = ({ artifacts }: Pick<ReleaseDocument, "artifacts">): ReleaseArchitectures =>
  new Map(Object.entries(artifacts).flatMap(([id, { arch }]) => (arch ? [[Number(id), arch]] : [])));

/** A query's `arch`, which is not a field of records, and its other parameters. */
export function splitArchitecture(parameters: Iterable<readonly [string, string]>) {
  const values = new Map(parameters);
  const arch = values.get("arch");
  values.delete("arch");
  return { architectures: arch === undefined ? [] : [arch], others: [...values] };
}

/** A choice among records that may differ only in architecture. */
interface ArchitectureChoice {
  choice: LatestChoice;
  /** Architectures of the chosen records, if these differ in them; null: not known. */
  architectures: (string | null)[] | undefined;
}

/**
 * The single matching artifact of the highest version that has one for the architecture.
 * @param parameters `arch` and filters of records
 * @param read reads the architectures of a release; releases are read from the highest version on, as few as possible
 */
export async function chooseLatestOfArchitecture(
  index: RecordIndex,
  parameters: Iterable<readonly [string, string]>,
  read: (version: string) => Promise<ReleaseArchitectures>,
): Promise<ArchitectureChoice> {
  const { architectures, others } = splitArchitecture(parameters);
  const query = readListQuery(others);
  if (architectures.length === 0) return withArchitectures(index, chooseLatest(index, query), read);
  const fits = matcher(architectures[0] ?? "");
  for (const [version, positions] of byVersion(index, query)) {
    const known = await read(version);
    const fitting = positions.filter((position) => fits(known.get(idOf(index, position)) ?? null));
    if (fitting.length === 0) continue;
    const chosen = chooseLatest(part(index, fitting), { ...query, filters: [] });
    return { choice: inWhole(chosen, fitting), architectures: undefined };
  }
  return { choice: { kind: "none" }, architectures: undefined };
}

async function withArchitectures(
  index: RecordIndex,
  choice: LatestChoice,
  read: (version: string) => Promise<ReleaseArchitectures>,
): Promise<ArchitectureChoice> {
  const [first] = choice.kind === "many" ? choice.positions : [];
  if (choice.kind !== "many" || first === undefined) return { choice, architectures: undefined };
  const known = await read(String(index.value("version", first)));
  const architectures = choice.positions.map((position) => known.get(idOf(index, position)) ?? null);
  return { choice, architectures: new Set(architectures).size > 1 ? architectures : undefined };
}

/** Positions of matching records, highest version first. */
function byVersion(index: RecordIndex, query: ListQuery): [string, number[]][] {
  const all = select(index, { ...query, latest: false, ordering: [] });
  const positions = offeredOf(index, query.filters, all);
  const groups = Map.groupBy(positions, (position) => String(index.value("version", position)));
  return [...groups].sort(([a], [b]) => (a < b ? 1 : -1));
}

const idOf = (index: RecordIndex, position: number): number => Number(index.value("id", position));

const part = (index: RecordIndex, positions: readonly number[]): RecordIndex => ({
  count: positions.length,
  value: (field, position) => index.value(field, positions[position] ?? -1),
});

function inWhole(choice: LatestChoice, positions: readonly number[]): LatestChoice {
  const whole = (position: number) => positions[position] ?? -1;
  if (choice.kind === "one") return { kind: "one", position: whole(choice.position) };
  return choice.kind === "many" ? { ...choice, positions: choice.positions.map(whole) } : choice;
}

import type { OutputFile, ReleaseOutline, TextPart } from "../documents/published.ts";
import { digestOf, joinedFile, jsonFile } from "./output.ts";

/** A record's id and its wire JSON. */
export interface RecordText {
  id: number;
  json: string;
}

/** Records of one release that stand one after the other. */
interface Run {
  release: ReleaseOutline;
  ids: readonly number[];
}

/**
 * The whole list, one bare array: versions descending, then ids descending (source: section 4.1), and the
 * same ordered by id alone.
 * @param releases newest first
 */
export function listFiles(releases: readonly ReleaseOutline[], baseUrl: string): OutputFile[] {
  const byId = "api/v1/package/ordering=-id.json";
  const list = "api/v1/package.json";
  const runs = releases.map((release) => ({ release, ids: release.packages.map(({ id }) => id) }));
  const ids = runs.flatMap((run) => run.ids);
  // Usually versions ascend as their ids do.
  const isById = ids.every((id, index) => index === 0 || id < (ids[index - 1] ?? 0));
  const parts = () => joined(runs);
  const partsById = isById ? parts : () => joined(runsById(releases));
  return [
    { ...joinedFile(byId, () => textsOf(partsById())), parts: partsById },
    { ...joinedFile(list, () => textsOf(parts())), parts, ...(isById && { sameAs: byId }) },
    { ...joinedFile("api/v1/package/index.json", () => textsOf(parts())), parts, sameAs: list },
    jsonFile("api/v1/index.json", { package: `${baseUrl}/api/v1/package/` }),
  ];
}

function runsById(releases: readonly ReleaseOutline[]): Run[] {
  const runs: { release: ReleaseOutline; ids: number[] }[] = [];
  const owned = releases.flatMap((release) => release.packages.map(({ id }) => ({ id, release })));
  for (const { id, release } of owned.sort((a, b) => b.id - a.id)) {
    if (runs.at(-1)?.release === release) runs.at(-1)?.ids.push(id);
    else runs.push({ release, ids: [id] });
  }
  return runs;
}

/** A JSON array, a part for each run. */
function* joined(runs: readonly Run[]): Generator<TextPart> {
  yield sign("[");
  for (const [index, run] of runs.filter(({ ids }) => ids.length > 0).entries()) {
    if (index > 0) yield sign(",");
    yield { key: digestOf(run.release.key, run.ids), text: () => textOf(run) };
  }
  yield sign("]");
}

const sign = (text: string): TextPart => ({ key: null, text: () => text });

function textOf({ release, ids }: Run): string {
  const wanted = new Set(ids);
  const records = release.open().packages.filter(({ record }) => wanted.has(record.id));
  return records.map(({ json }) => json).join(",");
}

function* textsOf(parts: Iterable<TextPart>): Generator<string> {
  for (const { text } of parts) yield text();
}

/** A JSON array from its elements' texts. */
export function* array(records: readonly RecordText[]): Generator<string> {
  yield "[";
  for (const [index, { json }] of records.entries()) yield index === 0 ? json : `,${json}`;
  yield "]";
}

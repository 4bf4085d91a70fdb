import type { OutputFile, RenderedRelease } from "../documents/published.ts";
import { joinedFile, jsonFile } from "./output.ts";

/** Consecutive records of one release. */
interface Run {
  release: RenderedRelease;
  ids: number[];
}

/** The whole list as a bare array, by version and id descending, and by id alone. @param releases newest first */
export function listFiles(releases: readonly RenderedRelease[], baseUrl: string): OutputFile[] {
  const byId = "api/v1/package/ordering=-id.json";
  const list = "api/v1/package.json";
  const runs = releases.map((release) => ({ release, ids: release.packages.map(({ id }) => id) }));
  const ids = runs.flatMap((run) => run.ids);
  // Ids usually ascend with versions.
  const isById = ids.every((id, index) => index === 0 || id < (ids[index - 1] ?? 0));
  const texts = () => joined(runs);
  return [
    joinedFile(byId, isById ? texts : () => joined(runsById(releases))),
    { ...joinedFile(list, texts), ...(isById && { sameAs: byId }) },
    { ...joinedFile("api/v1/package/index.json", texts), sameAs: list },
    jsonFile("api/v1/index.json", { package: `${baseUrl}/api/v1/package/` }),
  ];
}

function runsById(releases: readonly RenderedRelease[]): Run[] {
  const runs: Run[] = [];
  const owned = releases.flatMap((release) => release.packages.map(({ id }) => ({ id, release })));
  for (const { id, release } of owned.sort((a, b) => b.id - a.id)) {
    if (runs.at(-1)?.release === release) runs.at(-1)?.ids.push(id);
    else runs.push({ release, ids: [id] });
  }
  return runs;
}

/** A JSON array, one text per run. */
function* joined(runs: readonly Run[]): Generator<string> {
  let before = "[";
  for (const { release, ids } of runs) {
    if (ids.length === 0) continue;
    const wanted = new Set(ids);
    const records = release.slices.records();
    const chosen = records.filter((_, index) => wanted.has(release.packages[index]?.id ?? 0));
    yield before + chosen.join(",");
    before = ",";
  }
  yield before === "[" ? "[]" : "]";
}

/** A JSON array from its elements' texts. */
export function* array(records: readonly string[]): Generator<string> {
  yield "[";
  for (const [index, json] of records.entries()) yield index === 0 ? json : `,${json}`;
  yield "]";
}

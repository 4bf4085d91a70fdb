import { plainRelease, type Releases, releases } from "../support/catalog.ts";

export const files = (version: string, ...names: string[]) => names.map((name) => `${name}-${version}.rpm`);

/**
 * Two releases and everything that can happen to them: three records are added, one is revised, retracted in
 * favour of another and reinstated, two more are added, one of them is retracted. Nine lines.
 */
export async function history(): Promise<Releases> {
  const catalog = releases(plainRelease("26.08.001", files("26.08.001", "a", "b", "c")));
  await catalog.cut({}, "2026-08-19T10:00:00Z");
  describeRecord(catalog, "26.08.001", 0, "Better.");
  await catalog.cut({}, "2026-08-20T10:00:00Z");
  await catalog.retract({ ids: [1], reason: "Broken.", replacedBy: 2 }, "2026-08-21T10:00:00Z");
  await catalog.reinstate([1], "2026-08-22T10:00:00Z");
  catalog.write(plainRelease("26.09.001", files("26.09.001", "a", "b")));
  await catalog.cut({}, "2026-09-15T10:00:00Z");
  await catalog.retract({ ids: [5], reason: "Broken, too." }, "2026-09-16T10:00:00Z");
  return catalog;
}

/** Changes one artifact in a manifest of plainRelease. */
export function change(catalog: Releases, version: string, index: number, changes: object): void {
  const path = `${version}/manifests/all.json`;
  const document = JSON.parse(catalog.read(path));
  Object.assign(document.artifacts[index], changes);
  catalog.write({ [path]: document });
}

export const describeRecord = (catalog: Releases, version: string, index: number, description: string) =>
  change(catalog, version, index, { description });

/** The ledger's lines, each with its line feed. */
export const linesOf = (text: string) => text.split(/(?<=\n)/);

/** The ledger's events in a short form. */
export const eventsOf = (catalog: Releases): string[] =>
  linesOf(catalog.read("ledger.jsonl"))
    .filter((line) => line !== "")
    .map((line) => {
      const { event, id, file = "" } = JSON.parse(line);
      return `${event} ${id} ${file}`.trim();
    });

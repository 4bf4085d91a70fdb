import type { WrittenArtifact } from "../../documents/manifest.ts";
import { failure } from "../../errors.ts";
import { display } from "../../project/document.ts";

/** An imported record's entry, with the id it belongs to. */
export interface Entry {
  id: number;
  artifact: WrittenArtifact;
}

/** A manifest as import writes it. */
export interface ManifestText {
  /** File name inside `manifests`. */
  name: string;
  text: string;
  /** The record of each line that has one, from line 1. */
  ids: readonly (number | undefined)[];
  /** The record of each file. */
  files: ReadonlyMap<string, number>;
}

/** Import's own manifests; whatever else lies beside them is other people's. */
export const isImported = (path: string): boolean => /(?:^|\/)manifests\/imported(?:-\d+)?\.json$/.test(path);

/** Room below the size that a JSON document may have. */
const mostBytes = 3 * 1024 * 1024;

/**
 * The manifests of a release, one artifact a line: a line that changes is a record that changed.
 * @param entries in the order they are written
 * @param atLeast how many there are: those that are no longer needed become empty
 */
export function importedManifests(
  release: string,
  entries: readonly Entry[],
  atLeast: number,
): ManifestText[] {
  const parts: Line[][] = [[]];
  let bytes = 0;
  for (const { id, artifact } of entries) {
    const line = JSON.stringify(artifact);
    const size = Buffer.byteLength(line);
    if (size > mostBytes) throw tooLarge(id, artifact.name, size);
    if (bytes + size > mostBytes) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)?.push({ id, file: artifact.file ?? artifact.name, line });
    bytes += size + 8;
  }
  while (parts.length < atLeast) parts.push([]);
  return parts.map((part, index) => manifest(release, part, index));
}

interface Line {
  id: number;
  file: string;
  line: string;
}

function manifest(release: string, lines: readonly Line[], index: number): ManifestText {
  const head = ["{", `  "release": ${JSON.stringify(release)},`, '  "artifacts": ['];
  const rows = lines.map(({ line }, at) => `    ${line}${at === lines.length - 1 ? "" : ","}`);
  return {
    name: index === 0 ? "imported.json" : `imported-${index + 1}.json`,
    text: `${[...head, ...rows, "  ]", "}"].join("\n")}\n`,
    ids: [...head.map(() => undefined), ...lines.map(({ id }) => id)],
    files: new Map(lines.map(({ file, id }) => [file, id])),
  };
}

function tooLarge(id: number, name: string, size: number) {
  const message = `record ${id} (${display(name)}) has ${size} bytes, expected at most ${mostBytes}`;
  return failure(
    "import-record",
    message,
    "It can never be imported: correct it in the live catalog, or take it out of the list.",
  );
}

import { failure } from "../../../shared/errors.ts";
import type { WrittenArtifact } from "../../documents/manifest.ts";
import { display } from "../../project/display.ts";
import { neverImported } from "./read-records.ts";

/** An imported record's manifest entry, with its id. */
export interface Entry {
  id: number;
  artifact: WrittenArtifact;
}

export interface ManifestText {
  /** File name inside `manifests`. */
  name: string;
  text: string;
  /** Record ids, in the order of its artifacts. */
  ids: readonly number[];
}

/** A release whose files change. */
export interface ReleasePlan {
  version: string;
  /** undefined: the file already exists. */
  releaseYaml: string | undefined;
  manifests: ManifestText[];
}

/** Only files with these names belong to import; other manifests are never changed. */
export const isImported = (path: string): boolean => /(?:^|\/)manifests\/imported(?:-\d+)?\.json$/.test(path);

/** Below the size limit of a JSON document. */
const maxManifestBytes = 3 * 1024 * 1024;

/**
 * Manifests of a release with one artifact per line, so that a changed line is a changed record.
 * @param atLeast number of manifests to return; superfluous ones are empty, to replace existing files
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
    if (size > maxManifestBytes) {
      const message = `record ${id} (${display(artifact.name)}) has ${size} bytes, expected at most ${maxManifestBytes}`;
      throw failure("import-record", message, neverImported);
    }
    if (bytes + size > maxManifestBytes) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)?.push({ id, line });
    bytes += size + 8;
  }
  while (parts.length < atLeast) parts.push([]);
  return parts.map((part, index) => manifest(release, part, index));
}

interface Line {
  id: number;
  line: string;
}

function manifest(release: string, lines: readonly Line[], index: number): ManifestText {
  const head = ["{", `  "release": ${JSON.stringify(release)},`, '  "artifacts": ['];
  const rows = lines.map(({ line }, at) => `    ${line}${at === lines.length - 1 ? "" : ","}`);
  return {
    name: index === 0 ? "imported.json" : `imported-${index + 1}.json`,
    text: `${[...head, ...rows, "  ]", "}"].join("\n")}\n`,
    ids: lines.map(({ id }) => id),
  };
}

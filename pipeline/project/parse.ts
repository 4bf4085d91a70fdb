import type { z } from "zod";
import { type Problem, RelcatError } from "../../shared/errors.ts";
import { decode, type Source } from "../../shared/source.ts";
import { type Manifest, manifestSchema } from "../documents/manifest.ts";
import { noteSchema, type WrittenNote } from "../documents/note.ts";
import { releaseSchema, type WrittenRelease } from "../documents/release.ts";
import { type AuthoredFiles, filesIn } from "./authored-files.ts";
import type { ReleaseFiles } from "./discover.ts";
import { type Located, type Read, readDocument } from "./document.ts";

/** All readable files of one release, as written. */
export interface ParsedRelease {
  version: string;
  /** The folder, as shown in messages. */
  folder: string;
  release: Located<WrittenRelease> | undefined;
  notes: Located<WrittenNote>[];
  manifests: Located<Manifest>[];
  /** Problems that prevented reading. */
  problems: Problem[];
}

export async function parseRelease(
  root: string,
  files: ReleaseFiles,
  source: AuthoredFiles = filesIn(root),
): Promise<ParsedRelease> {
  return shapeRelease(root, files, await source.readAll(pathsOfRelease(files)));
}

export const pathsOfRelease = ({ release, notes, manifests }: ReleaseFiles): string[] => [
  ...(release === undefined ? [] : [release]),
  ...notes,
  ...manifests,
];

/** @param contents the bytes of `pathsOfRelease` */
export function shapeRelease(
  root: string,
  files: ReleaseFiles,
  contents: readonly Uint8Array[],
): ParsedRelease {
  const folder = `${root}/${files.version}`;
  const problems: Problem[] = [];
  const bytes = new Map(pathsOfRelease(files).map((path, index) => [path, contents[index]]));
  const read = <S extends Schema>(paths: readonly string[], schema: S) =>
    paths.flatMap((path) => {
      const content = bytes.get(path) ?? new Uint8Array();
      const { document, problems: found } = readBytes(`${root}/${path}`, content, schema);
      problems.push(...found);
      return document ? [document] : [];
    });
  const [release] = read(files.release === undefined ? [] : [files.release], releaseSchema);
  const notes = read(files.notes, noteSchema);
  const manifests = read(files.manifests, manifestSchema);
  const { version } = files;
  if (files.release === undefined) problems.push(noReleaseFile(folder, version));
  return { version, folder, release, notes, manifests, problems };
}

type Schema = Parameters<typeof readDocument>[1];

/** Reads files of one type, in the order of their paths. */
export async function readDocuments<S extends Schema>(
  root: string,
  paths: readonly string[],
  schema: S,
  source: AuthoredFiles = filesIn(root),
) {
  const shown = paths.map((path) => `${root}/${path}`);
  const contents = await source.readAll(paths);
  return contents.map((bytes, index) => readBytes(shown[index] ?? "", bytes, schema));
}

/** Decodes and validates one document; an encoding error is a problem like any other. */
export function readBytes<S extends Schema>(file: string, bytes: Uint8Array, schema: S): Read<z.infer<S>> {
  let source: Source;
  try {
    source = decode(file, bytes);
  } catch (error) {
    if (!(error instanceof RelcatError)) throw error;
    return { document: undefined, problems: [...error.problems] };
  }
  return readDocument(source, schema);
}

function noReleaseFile(folder: string, version: string): Problem {
  return {
    code: "release-missing",
    severity: "error",
    message: `the release has no release.yaml`,
    hint: `Write one with at least \`version: ${version}\` and \`date: YYYY-MM-DD\`; \`relcat new\` creates whole folders.`,
    at: { file: `${folder}/release.yaml`, line: 1, column: 1 },
  };
}

import { basename, dirname, join } from "node:path/posix";
import { type Problem, throwErrors } from "../../../../shared/errors.ts";
import { decode, placeAt, type Source } from "../../../../shared/source.ts";
import { giveWhole, isShortened } from "../../../project/display.ts";
import { readFiles } from "../../../system/files.ts";
import { type At, problem, wholeFile } from "../evidence.ts";

export interface Sum {
  name: string;
  /** Expected path of the file, next to the checksum file. */
  path: string;
  sha256: string;
  size: number | undefined;
  at: At;
}

/** `<hex>  name`, `<hex> *name` (coreutils), `<hex> <size> name` (Debian), `SHA256 (name) = <hex>`, `SIZE (name) = <size>` (BSD). */
const forms = [
  /^(?<hex>[0-9A-Fa-f]{64})(?: {2}| \*)(?<name>\S.*)$/,
  /^(?<hex>[0-9A-Fa-f]{64})\s+(?<size>\d{1,15})\s+(?<name>\S.*)$/,
  /^SHA256 ?\((?<name>.+)\) ?= ?(?<hex>[0-9A-Fa-f]{64})$/,
  /^SIZE ?\((?<name>.+)\) ?= ?(?<size>\d{1,15})$/,
];

const writtenBy = "Give a file that sha256sum, or shasum -a 256, wrote.";

/** A checksum file is recognized by its first line. */
export const isSums = (text: string): boolean =>
  forms.some((form) => form.test(text.trimStart().split("\n", 1)[0]?.trim() ?? ""));

/** Parses a SHA256SUMS file. Folders are stripped, because artifacts are identified by file name. */
function readSums(source: Source): { sums: Sum[]; problems: Problem[] } {
  const sums = new Map<string, { sha256?: string; size?: number; at: At }>();
  const problems: Problem[] = [];
  for (const line of source.text.matchAll(/^.*\S.*$/gm)) {
    const at = () => placeAt(source, line.index);
    const fields = forms.map((form) => form.exec(line[0].trim())?.groups).find((groups) => groups);
    if (!fields) {
      const message = "the line is not a checksum, expected <64 hexadecimal characters>  <file name>";
      const [first = ""] = line[0].trim().split(/\s/);
      problems.push(problem("sums-line", at, message, isShortened(first) ? giveWhole : writtenBy));
      continue;
    }
    const name = basename(fields.name ?? "");
    const known = sums.get(name) ?? { at };
    const sha256 = fields.hex?.toLowerCase();
    if (sha256 !== undefined && known.sha256 !== undefined && known.sha256 !== sha256) {
      const message = `${name} is listed twice with different checksums`;
      problems.push(problem("sums-line", at, message, "Remove the wrong line."));
    }
    sums.set(name, {
      ...known,
      ...(sha256 !== undefined && { sha256 }),
      ...(fields.size !== undefined && { size: Number(fields.size) }),
    });
  }
  const path = (name: string) => join(dirname(source.file), name);
  const complete = [...sums].flatMap(([name, { sha256, size, at }]) =>
    sha256 === undefined ? [] : [{ name, path: path(name), sha256, size, at }],
  );
  return { sums: complete, problems };
}

/** @returns entries of all files, by file name @throws RelcatError sums-line, file-access */
export async function readSumFiles(paths: readonly string[]): Promise<Map<string, Sum>> {
  const contents = await readFiles(paths);
  const problems: Problem[] = [];
  const sums = new Map<string, Sum>();
  for (const [index, path] of paths.entries()) {
    const read = readSums(decode(path, contents[index] ?? new Uint8Array()));
    problems.push(...read.problems);
    if (read.sums.length === 0 && read.problems.length === 0) {
      problems.push(problem("sums-line", wholeFile(path), "the checksum file names no file", writtenBy));
    }
    for (const sum of read.sums) {
      const other = sums.get(sum.name);
      if (other && other.sha256 !== sum.sha256) {
        const message = `${sum.name} has another checksum in ${other.at().file}`;
        problems.push(problem("sums-line", sum.at, message, "Give the checksum file of one build."));
      }
      sums.set(sum.name, sum);
    }
  }
  throwErrors(problems);
  return sums;
}

/** Checksum files that match no file: they belong to another build, or have wrong names. */
export function unusedSums(
  paths: readonly string[],
  sums: ReadonlyMap<string, Sum>,
  names: readonly string[],
): Problem[] {
  const used = new Set(names.flatMap((name) => sums.get(name)?.at().file ?? []));
  const unused = [...new Set(paths)].filter((path) => !used.has(path));
  return unused.map((path) =>
    problem(
      "sidecar-unused",
      wholeFile(path),
      `the checksum file names none of ${names.slice(0, 5).join(", ")}${names.length > 5 ? " …" : ""}`,
      "Give the checksum file of these files, or leave it out.",
    ),
  );
}

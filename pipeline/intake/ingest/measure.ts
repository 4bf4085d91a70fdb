import type { Inspection } from "../../../inspect/inspection.ts";
import type { Problem } from "../../../shared/errors.ts";
import type { MeasuredFile } from "../../documents/object-store.ts";
import type { Inspected } from "../../documents/policy.ts";
import { type FileWithNeighbours, withNeighbours } from "../../policy/sibling-files.ts";
import { hashFile } from "../../system/file-source.ts";
import { type Reading, readFilesAtOnce } from "../../system/in-parallel.ts";
import { artifactPaths, pathInfo } from "../../system/input-files.ts";
import { agree, type Claim, type Claimed, problem, wholeFile } from "./evidence.ts";
import type { Sum } from "./formats/sums.ts";
import { type JobFile, oneFile } from "./join.ts";
import type { PackageFound } from "./read-package.ts";

export interface Present {
  file: JobFile;
  /** Distinct files only; several paths to one file count once. */
  copies: { path: string; size: number }[];
  /** Size that all inputs agree on. */
  size: number | undefined;
  /** Entry of a checksum file: sufficient without the bytes, and verified if they are available. */
  sum: Sum | undefined;
}

export interface Measured {
  sha256: string;
  size: number | undefined;
  seen?: Seen | undefined;
  found?: PackageFound | undefined;
}

export interface Seen {
  inspection: Inspection;
  inspected: Inspected;
  problems: Problem[];
}

/** Inspects a file, or returns undefined to skip it. */
export type ClaimInspector = (file: Claimed, opened: FileWithNeighbours) => Promise<Seen | undefined>;

type FileFacts = Pick<Measured, "seen" | "found">;

export type FactReader = (file: Claimed, opened: FileWithNeighbours) => Promise<FileFacts>;

/**
 * Locates the bytes of files. A file with neither bytes nor a digest is a problem.
 * @param artifacts folder that must contain every file as FILE or VERSION/FILE; a digest is then not enough
 */
export function locate(
  files: readonly JobFile[],
  sums: ReadonlyMap<string, Sum>,
  version: string,
  artifacts: string | undefined,
) {
  const problems: Problem[] = [];
  const present = files.map((file): Present => {
    const sum = sums.get(file.name);
    const before = problems.length;
    const inFolder = artifacts === undefined ? [] : artifactPaths(artifacts, version, file.name);
    const copies = copiesOf([...file.copies, inFolder], file, problems);
    const isKnown = copies.length > 0 || (artifacts === undefined && (sum || file.sha256));
    if (!isKnown && problems.length === before) problems.push(missing(file, inFolder));
    const sizes = copies.map(({ path, size }) => ({ value: size, at: wholeFile(path) }));
    if (file.size && !isCompared(file, copies)) sizes.push(file.size);
    if (sum?.size !== undefined) sizes.push({ value: sum.size, at: sum.at });
    const size = agree(`the size of ${file.name}`, sizes, problems, oneFile)?.value;
    return { file, copies, size, sum };
  });
  return { present, problems };
}

/** True if the bytes will be compared with the manifest's values, which are not used before. */
const isCompared = ({ finished }: JobFile, copies: Present["copies"]): boolean =>
  finished !== undefined && copies.length > 0;

function copiesOf(places: JobFile["copies"], file: JobFile, problems: Problem[]): Present["copies"] {
  const copies = new Map<string, Present["copies"][number]>();
  for (const paths of places) {
    const found = paths.map((path) => ({ path, ...pathInfo(path) })).find(({ kind }) => kind !== "missing");
    if (!found) continue;
    if (found.kind !== "file") {
      const message = `${found.path} is a ${found.kind}, expected a file people can download`;
      problems.push(problem("product-missing", file.at, message, "Name the file inside, or pack it."));
    } else if (found.size === 0) {
      const hint = "A build that wrote nothing has failed, even if it reported success.";
      problems.push(problem("artifact-empty", file.at, `${file.name} is empty`, hint));
    } else if (!copies.has(found.realPath)) copies.set(found.realPath, found);
  }
  return [...copies.values()];
}

/** All statements about a file must match its bytes. @returns by file name */
export async function measure(present: readonly Present[], reading: Reading, readFacts: FactReader) {
  const problems: Problem[] = [];
  const measured = new Map<string, Measured>();
  const toRead = present.flatMap(({ file, copies }) =>
    copies.map((copy) => ({
      ...copy,
      name: file.name,
      readFacts: (opened: FileWithNeighbours) => readFacts(file, opened),
    })),
  );
  const read = Map.groupBy(await readCopies(toRead, reading), ({ name }) => name);
  for (const { file, copies, size, sum } of present) {
    const claims: Claim<string>[] = file.sha256 && !isCompared(file, copies) ? [file.sha256] : [];
    if (sum) claims.push({ value: sum.sha256, at: sum.at });
    const found = read.get(file.name) ?? [];
    claims.push(...found.map(({ path, sha256 }) => ({ value: sha256, at: wholeFile(path) })));
    const [{ seen } = {}] = found;
    // Copies have the same bytes, but documents may be next to one of them only.
    const facts = (found.find((copy) => copy.found?.documents) ?? found[0])?.found;
    const digest = agree(`SHA-256 of ${file.name}`, claims, problems, oneFile);
    if (digest) measured.set(file.name, { sha256: digest.value, size, seen, found: facts });
    problems.push(...(seen?.problems ?? []), ...(facts?.problems ?? []));
  }
  return { measured, problems };
}

interface Copy {
  path: string;
  /** Name for the progress display. */
  name: string;
  /** Expected size in bytes, from an earlier stat. */
  size: number;
  /** Inspects the file; without it, the file is only hashed. */
  readFacts: ((opened: FileWithNeighbours) => Promise<FileFacts>) | undefined;
}

/** @returns in the order of the copies @throws RelcatError if a file is unreadable or changes while it is read */
export const readCopies = <C extends Copy>(
  copies: readonly C[],
  reading: Reading,
): Promise<(C & MeasuredFile & FileFacts)[]> =>
  readFilesAtOnce(copies, reading, async (copy, onBytes) => {
    const { path, readFacts } = copy;
    if (!readFacts) return { ...copy, ...(await hashFile(path, onBytes)) };
    // Hashing and inspection share one pass over the file.
    return withNeighbours(path, onBytes, async (opened) => {
      const facts = await readFacts(opened);
      return { ...copy, ...facts, sha256: await opened.file.sha256(), size: opened.file.size };
    });
  });

function missing({ name, copies, at }: JobFile, inFolder: readonly string[]): Problem {
  const message = `${name} is not there: looked for ${[...new Set([...copies.flat(), ...inFolder])].join(" and ")}`;
  const hint =
    inFolder.length > 0
      ? "Put it there, or give the folder that has it with --artifacts."
      : "Build it again, give the folder it was copied to, or its checksum file with --sums.";
  return problem("product-missing", at, message, hint);
}

import type { Problem } from "../errors.ts";
import { hashFile } from "../outside/hash-file.ts";
import { lookAt } from "../outside/input-files.ts";
import { agree } from "./agree.ts";
import { type Claim, problem, wholeFile } from "./evidence.ts";
import { type JobFile, oneFile } from "./join-files.ts";
import type { Sum } from "./sums.ts";

/** How far the reading of all files is. */
export interface Progress {
  /** The file that is read now. */
  file: string;
  done: number;
  total: number;
}

/** A file and where its bytes lie. */
export interface Present {
  file: JobFile;
  /** Different files only; several paths to one file are one. */
  copies: { path: string; size: number }[];
  /** As all who know it agree. */
  size: number | undefined;
  /** The checksum file's word for it: its bytes are not read. */
  sum: Sum | undefined;
}

export interface Measured {
  sha256: string;
  size: number | undefined;
}

/** What of the files is at hand. A file that is neither here nor described by a digest is a problem. */
export function locate(files: readonly JobFile[], sums: ReadonlyMap<string, Sum>) {
  const problems: Problem[] = [];
  const present = files.map((file): Present => {
    const sum = sums.get(file.name);
    const before = problems.length;
    const copies = copiesOf(file, problems);
    const isKnown = copies.length > 0 || sum || file.sha256;
    if (!isKnown && problems.length === before) problems.push(missing(file));
    const sizes = copies.map(({ path, size }) => ({ value: size, at: wholeFile(path) }));
    if (file.size) sizes.push(file.size);
    if (sum?.size !== undefined) sizes.push({ value: sum.size, at: sum.at });
    const size = agree(`the size of ${file.name}`, sizes, problems, oneFile)?.value;
    return { file, copies, size, sum };
  });
  return { present, problems };
}

function copiesOf(file: JobFile, problems: Problem[]): Present["copies"] {
  const copies = new Map<string, Present["copies"][number]>();
  for (const paths of file.copies) {
    const found = paths.map((path) => ({ path, ...lookAt(path) })).find(({ kind }) => kind !== "missing");
    if (!found) continue;
    if (found.kind !== "file") problems.push(notAFile(file, found.path, found.kind));
    else if (found.size === 0) problems.push(empty(file));
    else if (!copies.has(found.realPath)) copies.set(found.realPath, found);
  }
  return [...copies.values()];
}

/**
 * Reads what must be read. All that is said of a file must be true of its bytes.
 * @returns by file name
 */
export async function measure(present: readonly Present[], onProgress: (progress: Progress) => void) {
  const problems: Problem[] = [];
  const measured = new Map<string, Measured>();
  const toRead = present.filter(({ sum }) => !sum).flatMap(({ copies }) => copies);
  const total = toRead.reduce((bytes, { size }) => bytes + size, 0);
  let before = 0;
  for (const { file, copies, size, sum } of present) {
    const claims: Claim<string>[] = file.sha256 ? [file.sha256] : [];
    if (sum) claims.push({ value: sum.sha256, at: sum.at });
    for (const copy of sum ? [] : copies) {
      const { sha256 } = await hashFile(copy.path, (done) =>
        onProgress({ file: file.name, done: before + done, total }),
      );
      claims.push({ value: sha256, at: wholeFile(copy.path) });
      before += copy.size;
    }
    const digest = agree(`SHA-256 of ${file.name}`, claims, problems, oneFile);
    if (digest) measured.set(file.name, { sha256: digest.value, size });
  }
  return { measured, problems };
}

function missing({ name, copies, at }: JobFile): Problem {
  const message = `${name} is not there: looked for ${[...new Set(copies.flat())].join(" and ")}`;
  const hint = "Build it again, give the folder it was copied to, or its checksum file with --sums.";
  return problem("product-missing", at, message, hint);
}

const notAFile = ({ at }: JobFile, path: string, kind: string) =>
  problem(
    "product-missing",
    at,
    `${path} is a ${kind}, expected a file people can download`,
    "Name the file inside, or pack it.",
  );

const empty = ({ name, at }: JobFile) =>
  problem(
    "artifact-empty",
    at,
    `${name} is empty`,
    "A build that wrote nothing has failed, whatever it said.",
  );

import type { MeasuredFile } from "../../documents/object-store.ts";
import type { Inspected } from "../../documents/policy.ts";
import type { Problem } from "../../errors.ts";
import type { Inspection } from "../../inspect/inspection.ts";
import { type FileWithNeighbours, openWithNeighbours } from "../../inspect/sibling-files.ts";
import { artifactPaths } from "../../system/artifacts-at-hand.ts";
import type { Pace } from "../../system/file-source.ts";
import { hashAside, hashFile } from "../../system/hash-file.ts";
import { lookAt } from "../../system/input-files.ts";
import { agree } from "./agree.ts";
import { type Claim, type Claimed, problem, wholeFile } from "./evidence.ts";
import type { Sum } from "./formats/sums.ts";
import { type JobFile, oneFile } from "./join-files.ts";

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
  /** The checksum file's word for it: enough where its bytes are not at hand, and true of them where they are. */
  sum: Sum | undefined;
}

export interface Measured {
  sha256: string;
  size: number | undefined;
  /** Where somebody looked into it. */
  seen?: Seen | undefined;
}

/** What the bytes of a file say, and what is wrong with that. */
export interface Seen {
  inspection: Inspection;
  inspected: Inspected;
  problems: Problem[];
}

/** Looks into a file, or leaves it. */
export type Look = (file: Claimed, opened: FileWithNeighbours) => Promise<Seen | undefined>;

/** What is done with files beyond hashing them. */
export interface Looking {
  into: Look;
  /** Names of those that it looks into. */
  files: ReadonlySet<string>;
}

/**
 * What of the files is at hand. A file that is neither here nor described by a digest is a problem.
 * @param artifacts folder that has all of them, as FILE or VERSION/FILE: descriptions are no substitute then
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
    if (file.size && !isHeldAgainst(file, copies)) sizes.push(file.size);
    if (sum?.size !== undefined) sizes.push({ value: sum.size, at: sum.at });
    const size = agree(`the size of ${file.name}`, sizes, problems, oneFile)?.value;
    return { file, copies, size, sum };
  });
  return { present, problems };
}

/** Whether each word of its manifest is held against its bytes once they are read: then none of them counts before. */
const isHeldAgainst = ({ finished }: JobFile, copies: Present["copies"]): boolean =>
  finished !== undefined && copies.length > 0;

function copiesOf(places: JobFile["copies"], file: JobFile, problems: Problem[]): Present["copies"] {
  const copies = new Map<string, Present["copies"][number]>();
  for (const paths of places) {
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
export async function measure(
  present: readonly Present[],
  onProgress: (progress: Progress) => void,
  look?: Looking,
) {
  const problems: Problem[] = [];
  const measured = new Map<string, Measured>();
  const toRead = present.flatMap(({ file, copies }) =>
    copies.map((copy) => ({ ...copy, name: file.name, look: lookerOf(file, look) })),
  );
  const read = Map.groupBy(await readCopies(toRead, onProgress), ({ name }) => name);
  for (const { file, copies, size, sum } of present) {
    const claims: Claim<string>[] = file.sha256 && !isHeldAgainst(file, copies) ? [file.sha256] : [];
    if (sum) claims.push({ value: sum.sha256, at: sum.at });
    const found = read.get(file.name) ?? [];
    claims.push(...found.map(({ path, sha256 }) => ({ value: sha256, at: wholeFile(path) })));
    const seen = found.find((each) => each.seen)?.seen;
    const digest = agree(`SHA-256 of ${file.name}`, claims, problems, oneFile);
    if (digest) measured.set(file.name, { sha256: digest.value, size, seen });
    problems.push(...(seen?.problems ?? []));
  }
  return { measured, problems };
}

const lookerOf = (file: JobFile, look: Looking | undefined) =>
  look?.files.has(file.name) ? (opened: FileWithNeighbours) => look.into(file, opened) : undefined;

/** A file that must be read. */
export interface Copy {
  path: string;
  /** As people see what is read now. */
  name: string;
  /** Bytes, as they were counted before. */
  size: number;
  /** Looks into it; without, it is hashed and nothing else. */
  look: ((opened: FileWithNeighbours) => Promise<Seen | undefined>) | undefined;
}

type Read = MeasuredFile & Pick<Measured, "seen">;

/**
 * Reads one file after the other, while another thread hashes the last of them that nobody looks into.
 * @returns in the order of the copies
 * @throws RelcatError of the first that cannot be read, or did not stand still
 */
export async function readCopies<C extends Copy>(
  copies: readonly C[],
  onProgress: (progress: Progress) => void,
): Promise<(C & Read)[]> {
  const total = bytesOf(copies);
  let [file, done] = ["", 0];
  const onBytes = (bytes: number) => {
    done += bytes;
    onProgress({ file, done, total });
  };
  const isShared = isWorthAThread(copies);
  const paceOf = ({ size }: Copy): Pace => (isShared && size < 2 * (total - size) ? "in-turn" : "ahead");
  const toRead = copies.map((copy) => ({ copy, path: copy.path, pace: paceOf(copy) }));
  const toHash = toRead.filter(({ copy }) => !copy.look);
  const aside = isShared ? await hashAside(toHash, onBytes) : undefined;
  const outcomes: Promise<Read>[] = [];
  try {
    for (const each of toRead) {
      file = each.copy.name;
      const hashed = each.copy.look ? undefined : aside?.take(each);
      const outcome = hashed ?? readHere(each.copy, each.pace, onBytes);
      outcomes.push(outcome);
      if (!hashed && !(await succeeds(outcome))) break; // Others before it may fail yet: below, in their order.
    }
    const read: (C & Read)[] = [];
    for (const [index, outcome] of outcomes.entries()) {
      const copy = copies[index] as C;
      file = copy.name;
      read.push({ ...copy, ...(await outcome) });
    }
    return read;
  } finally {
    await aside?.end();
  }
}

const bytesOf = (copies: readonly Copy[]): number => copies.reduce((bytes, { size }) => bytes + size, 0);

/** Bytes that are hashed in about the time that a thread takes to start. */
const leastAside = 32 * 2 ** 20;

/** The largest file is one thread's, whatever the other has. */
function isWorthAThread(copies: readonly Copy[]): boolean {
  const largest = copies.reduce((most, { size }) => Math.max(most, size), 0);
  const hashed = bytesOf(copies.filter(({ look }) => !look));
  return Math.min(bytesOf(copies) - largest, hashed) >= leastAside;
}

const succeeds = (outcome: Promise<unknown>): Promise<boolean> =>
  outcome.then(
    () => true,
    () => false,
  );

async function readHere(
  { path, size, look }: Copy,
  pace: Pace,
  onBytes: (bytes: number) => void,
): Promise<Read> {
  let told = 0;
  const tell = (done: number) => {
    onBytes(done - told);
    told = done;
  };
  const read = look ? await readCopy(path, tell, look) : await hashFile(path, tell, pace);
  if (told < size) tell(size);
  return read;
}

/** Hashing and looking share one pass: whoever reads all of a file first gives it its digest. */
async function readCopy(
  path: string,
  onBytes: (done: number) => void,
  look: (opened: FileWithNeighbours) => Promise<Seen | undefined>,
): Promise<Read> {
  const opened = openWithNeighbours(path);
  try {
    const seen = await look(opened);
    if (!seen) await opened.file.each((chunk, at) => onBytes(at + chunk.length));
    return { sha256: await opened.file.sha256(), size: opened.file.size, seen };
  } finally {
    opened.close();
  }
}

function missing({ name, copies, at }: JobFile, inFolder: readonly string[]): Problem {
  const message = `${name} is not there: looked for ${[...new Set([...copies.flat(), ...inFolder])].join(" and ")}`;
  const hint =
    inFolder.length > 0
      ? "Put it there, or give the folder that has it with --artifacts."
      : "Build it again, give the folder it was copied to, or its checksum file with --sums.";
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

import { closeSync, openSync, readFileSync, readSync, type Stats, statSync } from "node:fs";
import {
  type BuildCall,
  type BuildEntry,
  callText,
  entryName,
  listingsIn,
  packed,
  unpacked,
} from "./build-entry.ts";
import type { Inputs } from "./build-looks.ts";

/**
 * What a build would say that finds everything as the last one left it; it is decided by what files look like alone,
 * before anything that could build is loaded.
 * @returns undefined where something may have changed
 */
export async function unchangedBuild(call: BuildCall): Promise<string | undefined> {
  const doubtful: string[] = [];
  let last: BuildEntry | undefined;
  try {
    last = lastBuild(call);
    if (!last || !standsAsItWas(last, doubtful)) return undefined;
  } catch (error) {
    // What cannot be looked at is the build's to report.
    if ((error as NodeJS.ErrnoException).syscall) return undefined;
    throw error;
  }
  const { racy, report } = last.said;
  const paths = new Set([...Object.keys(racy), ...doubtful]);
  if (paths.size === 0) return report;
  const { compared, keepEntry } = await import("./build-looks.ts");
  const later = compared(call, paths, racy, listingsIn(last.inputs));
  if (!later) return undefined;
  // Those that have grown old need not be compared again.
  keepEntry(call, entryName(last.call), packed({ ...last, said: { racy: later, report } }, [last.build]));
  return report;
}

/** The inputs as they look before a build reads them; undefined where nothing can be told by it. */
export const beforeBuild = async (call: BuildCall): Promise<Inputs | undefined> =>
  (await import("./build-looks.ts")).lookAtInputs(call);

/**
 * Notes a build that has ended well.
 * @param inputs as `beforeBuild` gave them
 */
export async function rememberBuild(
  call: BuildCall,
  out: string,
  { listings, looks, racy }: Inputs,
  report: string,
): Promise<void> {
  const { keepEntry, lookAtOutputs } = await import("./build-looks.ts");
  const made = lookAtOutputs(out);
  const text = callText(call);
  const entry = {
    call: text,
    inputs: listings,
    outputs: made.paths.join("\0"),
    looks: new Float64Array(looks.length + made.looks.length),
    said: { racy, report },
  };
  entry.looks.set(looks);
  entry.looks.set(made.looks, looks.length);
  keepEntry(call, entryName(text), packed(entry, made.build));
}

/** The cache's own digest is passed over: what matters of an entry is compared, or has a checksum, which costs less. */
const digestLength = 32;

function lastBuild(call: BuildCall): BuildEntry | undefined {
  const text = callText(call);
  const name = entryName(text);
  const last = unpacked(readFileSync(`${call.cache}/${name.slice(0, 2)}/${name}`).subarray(digestLength));
  return last?.call === text ? last : undefined;
}

const quiet = { throwIfNoEntry: false } as const;

/**
 * Whether every input and output looks as it did. A folder that looks the same has the same entries, so none is a link.
 * @param doubtful gets the input folders that look otherwise; their looks are noted as they are now
 */
function standsAsItWas({ inputs, outputs, looks, build }: BuildEntry, doubtful: string[]): boolean {
  let at = 0;
  const stands = (path: string): boolean => {
    const now = statSync(path, quiet);
    at += 4;
    return now !== undefined && isSame(now, looks, at - 4);
  };
  for (const [folder, ...names] of listingsIn(inputs)) {
    if (!stands(folder)) {
      const now = statSync(folder, quiet);
      if (!now) return false;
      looks.set([now.size, now.mtimeMs, now.ctimeMs, now.ino], at - 4);
      doubtful.push(`${folder}/`);
    }
    for (const name of names) if (!name.endsWith("/") && !stands(`${folder}/${name}`)) return false;
  }
  const paths = outputs.split("\0");
  const [document = ""] = paths;
  return paths.every(stands) && at === looks.length && holds(document, build);
}

const isSame = ({ size, mtimeMs, ctimeMs, ino }: Stats, looks: Float64Array, at: number): boolean =>
  size === looks[at] && mtimeMs === looks[at + 1] && ctimeMs === looks[at + 2] && ino === looks[at + 3];

/** Piece by piece: to ask for memory for all of a large file takes longer than to read it. */
function holds(path: string, bytes: Uint8Array): boolean {
  const piece = Buffer.allocUnsafe(256 * 1024);
  const file = openSync(path, "r");
  try {
    for (let at = 0; ; ) {
      const length = readSync(file, piece);
      if (length === 0) return at === bytes.length;
      if (!piece.subarray(0, length).equals(bytes.subarray(at, at + length))) return false;
      at += length;
    }
  } finally {
    closeSync(file);
  }
}

import { lstatSync, readFileSync, type Stats, statSync } from "node:fs";
import {
  type BuildCall,
  type BuildEntry,
  callText,
  entryName,
  listingsIn,
  packed,
  pathsIn,
  unpacked,
} from "./build-entry.ts";
import type { Inputs } from "./build-looks.ts";
import type { MadeFiles } from "./made-files.ts";

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
  keepEntry(call, entryName(last.call), packed({ ...last, said: { racy: later, report } }, [last.outputs]));
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
  inputs: Inputs,
  made: MadeFiles,
  report: string,
): Promise<void> {
  const { keepEntry, lookAtOutputs } = await import("./build-looks.ts");
  const outputs = lookAtOutputs(call, out, made);
  const looks = new Float64Array(inputs.looks.length + outputs.looks.length);
  looks.set(inputs.looks);
  looks.set(outputs.looks, inputs.looks.length);
  const [text, racy] = [callText(call), { ...inputs.racy, ...outputs.racy }];
  const entry = { call: text, inputs: inputs.listings, looks, said: { racy, report } };
  keepEntry(call, entryName(text), packed(entry, outputs.paths));
}

/** The cache's own digest is passed over: what matters of an entry is compared, or has a checksum, which costs less. */
const digestLength = 32;

function lastBuild(call: BuildCall): BuildEntry | undefined {
  const text = callText(call);
  const name = entryName(text);
  // biome-ignore lint/plugin: the name is a digest.
  const last = unpacked(readFileSync(`${call.cache}/${name.slice(0, 2)}/${name}`).subarray(digestLength));
  return last?.call === text ? last : undefined;
}

const quiet = { throwIfNoEntry: false } as const;

/**
 * Whether every input and output looks as it did. A folder that looks the same has the same entries, so none is a link.
 * @param doubtful gets the input folders that look otherwise; their looks are noted as they are now
 */
function standsAsItWas({ inputs, outputs, looks }: BuildEntry, doubtful: string[]): boolean {
  let at = 0;
  const stands = (path: string, stat: typeof lstatSync = statSync): boolean => {
    const now = stat(path, quiet);
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
  // An output that is a link now is another one, whatever it leads to.
  for (const path of pathsIn(outputs)) if (!stands(path, lstatSync)) return false;
  return at === looks.length;
}

const isSame = ({ size, mtimeMs, ctimeMs, ino }: Stats, looks: Float64Array, at: number): boolean =>
  size === looks[at] && mtimeMs === looks[at + 1] && ctimeMs === looks[at + 2] && ino === looks[at + 3];

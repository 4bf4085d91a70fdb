import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Cache, cacheIn } from "./cache.ts";
import { type FileState, fileState, isRacy, statesBelow } from "./file-stats.ts";
import { packageFolder } from "./templates.ts";

/** The command line of a build, and where it ran. */
export interface BuildCall {
  /** All that was said to it: another word may mean another build. */
  words: readonly string[];
  /** What tells this program from any other, as `programIdentity` has it. */
  program: string;
  /** The releases folder, and the cache's. */
  folder: string;
  cache: string;
  pid: number;
  /** Milliseconds since 1970. */
  clock: number;
}

/** Every file that a build may read, with its state. */
export interface Inputs {
  states: ReadonlyMap<string, FileState>;
  /** The same as one text. */
  text: string;
}

interface LastBuild {
  out: string;
  /** Every input with its state, as one text. */
  inputs: string;
  /** Digests of those that may have changed since without that showing. */
  racy: Record<string, string>;
  /** build.json and the folders that hold what spans releases, with their states. */
  outputs: Record<string, string>;
  buildDigest: string;
  /** What the build says when it finds everything as it was. */
  report: string;
}

const sha256 = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex");

/**
 * What a build would say that finds everything as the last one left it; it is decided by what files look like alone,
 * before anything that could build is loaded.
 * @returns undefined where something may have changed
 */
export function unchangedBuild(call: BuildCall): string | undefined {
  if (!existsSync(call.cache)) return undefined;
  const cache = cacheIn(call.cache, call.pid, call.clock);
  const name = nameOf(call);
  const bytes = cache?.get(name);
  if (!cache || !bytes) return undefined;
  const last: LastBuild = JSON.parse(new TextDecoder().decode(bytes));
  const inputs = inputsOf(call.folder);
  if (!inputs || last.inputs !== inputs.text) return undefined;
  if (!Object.entries(last.racy).every(([path, digest]) => existsSync(path) && sha256(path) === digest))
    return undefined;
  if (!Object.entries(last.outputs).every(([path, state]) => stateOf(path) === state)) return undefined;
  if (sha256(join(last.out, "build.json")) !== last.buildDigest) return undefined;
  // Compared by bytes now, they need not be again once they have grown old.
  if (Object.keys(last.racy).length > 0) write(cache, name, inputs.states, last);
  return last.report;
}

/** The inputs' states, taken before a build reads them; undefined where nothing can be told by them. */
export const beforeBuild = (folder: string): Inputs | undefined => inputsOf(folder);

/**
 * Notes a build that has ended well.
 * @param inputs as `beforeBuild` gave them
 */
export function rememberBuild(call: BuildCall, out: string, inputs: Inputs, report: string): void {
  const outputs = Object.fromEntries(
    [join(out, "build.json"), ...foldersOf(out)].map((path) => [path, stateOf(path)]),
  );
  const buildDigest = sha256(join(out, "build.json"));
  const cache = cacheIn(call.cache, call.pid, call.clock);
  if (!cache) return;
  write(cache, nameOf(call), inputs.states, {
    out,
    inputs: inputs.text,
    racy: {},
    outputs,
    buildDigest,
    report,
  });
}

function write(cache: Cache, name: string, states: Inputs["states"], last: LastBuild): void {
  const taken = cache.clock();
  const racy = Object.fromEntries(
    [...states]
      .filter(([path, state]) => !path.endsWith("/") && isRacy(state, taken))
      .map(([path]) => [path, existsSync(path) ? sha256(path) : ""]),
  );
  cache.put(name, new TextEncoder().encode(JSON.stringify({ ...last, racy })));
}

const nameOf = ({ words, program, folder }: BuildCall): string =>
  `build-${createHash("sha256")
    .update(JSON.stringify([program, words, folder]))
    .digest("hex")}`;

function inputsOf(folder: string): Inputs | undefined {
  if (!existsSync(folder)) return undefined;
  const states = new Map<string, string>();
  const own = ["templates", "schemas"].map((name) => join(packageFolder(), name));
  for (const each of [folder, ...own]) if (!statesBelow(each, states)) return undefined;
  let text = "";
  for (const [path, state] of states) text += `${path}\t${state}\n`;
  return { states, text };
}

/** Folders whose entries change when something that spans releases comes or goes; one a record would be too many. */
function foldersOf(out: string): string[] {
  const below = (folder: string): string[] => {
    const entries = readdirSync(join(out, folder), { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory() && !/^(\d+|\d\d\.\d\d\.\d{3})$/.test(entry.name))
      .flatMap(({ name }) => [join(folder, name), ...below(join(folder, name))]);
  };
  return ["", ...below("")].map((folder) => join(out, folder));
}

/** A folder's time changes with its entries; its size is the file system's own affair. */
const stateOf = (path: string): string => fileState(path) ?? "";

import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { failure } from "../errors.ts";
import { readRoot, sha256 } from "../trust/metadata.ts";
import { accessFailure } from "./access-failure.ts";
import { exists, readIfPresent, replaceDurably } from "./files.ts";

/** The root that somebody pins. @throws RelcatError root-missing, file-access */
export function readRootFile(file: string): Uint8Array {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw accessFailure(`cannot read ${file}`, error);
  }
  return asRoot(bytes, file);
}

/** @param where the root comes from @throws RelcatError root-missing */
export function asRoot(bytes: Uint8Array, where: string): Uint8Array {
  try {
    readRoot(bytes);
    return bytes;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw failure(
      "root-missing",
      `${where} is no root metadata: ${reason}`,
      "Give the root.json that you got from somebody you trust.",
      undefined,
      error,
    );
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Where it is remembered what was seen of sites.
 * @param environment for XDG_STATE_HOME
 */
export const trustBase = (folder: string | undefined, environment: Environment): string =>
  folder ?? join(environment.XDG_STATE_HOME || join(homedir(), ".local/state"), "relcat/trust");

/** The part of one site: another root, or another place, begins anew. @param base see trustBase */
export function trustState(base: string, place: string, root: Uint8Array): string {
  const bytes = Buffer.concat([new TextEncoder().encode(`${plain(place)}\n`), root]);
  return join(base, sha256(bytes).slice(0, 32));
}

const plain = (place: string): string => place.replace(/\/+$/, "");

/** The root that a place had when it was believed for the first time. */
const firstRootFile = (base: string, place: string): string =>
  join(base, `first-${sha256(new TextEncoder().encode(plain(place))).slice(0, 32)}.root.json`);

export const readFirstRoot = (base: string, place: string): Uint8Array | undefined =>
  readIfPresent(firstRootFile(base, place));

export function rememberFirstRoot(base: string, place: string, root: Uint8Array): void {
  mkdirSync(base, { recursive: true, mode: 0o700 });
  replaceDurably(firstRootFile(base, place), root);
}

/** What was seen at an earlier time, by file name; empty for the first. @throws RelcatError trust-damaged, file-access */
export function readState(folder: string): Map<string, Uint8Array> {
  if (!exists(folder)) return new Map();
  const names = readdirSync(folder).filter((name) => /^[\w%][\w.%-]*\.json$/.test(name));
  const seen = new Map(names.map((name) => [name, readFileSync(join(folder, name))]));
  const root = seen.get("root.json");
  // Without its root, what else was seen says nothing that could be checked.
  if (!root) return new Map();
  try {
    readRoot(root);
  } catch (error) {
    throw failure(
      "trust-damaged",
      `${join(folder, "root.json")} cannot be read as the root that was seen before`,
      "Remove that folder: what was seen of this site is then forgotten, and the pinned root counts again.",
      undefined,
      error,
    );
  }
  return seen;
}

const order = (name: string): number => (name === "root.json" ? 0 : name === "timestamp.json" ? 2 : 1);

/**
 * Remembers what was seen. The root first: what is signed by keys it brought could not be read without it. The
 * timestamp last: it alone forbids to go back, and by then everything it leads to is there.
 */
export function writeState(folder: string, seen: ReadonlyMap<string, Uint8Array>): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const names = [...seen.keys()].sort((a, b) => order(a) - order(b));
  for (const name of names) {
    const bytes = seen.get(name) ?? new Uint8Array();
    const before = readIfPresent(join(folder, name));
    if (!before || Buffer.compare(before, bytes) !== 0) replaceDurably(join(folder, name), bytes);
  }
}

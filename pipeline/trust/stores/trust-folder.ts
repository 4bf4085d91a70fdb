import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { failure } from "../../../shared/errors.ts";
import { shellWord } from "../../project/display.ts";
import { accessFailure } from "../../system/access-failure.ts";
import { readIfPresent, refuseForeignLink, replaceDurably, requireFolder } from "../../system/files.ts";
import { isInRepository } from "../../system/git/git.ts";
import { readRoot, readTargets, type SignedRoot, type SignedTargets } from "../metadata.ts";

/** The public part of the trust, kept in git: `N.root.json`, `targets.json`, and a pending root. */
export const trustFolder = (releases: string): string => join(releases, "trust");

export interface StoredTrust {
  /** Ascending by version. */
  roots: SignedRoot[];
  /** The newest of them. */
  root: SignedRoot;
  targets: SignedTargets;
  /** A root without enough signatures. */
  pending: SignedRoot | undefined;
}

const targetsFile = "targets.json";
const pendingFile = "root.pending.json";

/** @returns undefined if signing was never set up @throws RelcatError folder-missing, trust-damaged, file-access */
export function readTrust(releases: string): StoredTrust | undefined {
  requireFolder(releases);
  const folder = trustFolder(releases);
  if (!existsSync(folder)) return undefined;
  const names = readdirSync(folder);
  const numbers = names.flatMap((name) => /^([1-9]\d*)\.root\.json$/.exec(name)?.[1] ?? []).map(Number);
  if (numbers.length === 0) return undefined;
  numbers.sort((a, b) => a - b);
  const gap = numbers.find((number, index) => number !== index + 1);
  if (gap !== undefined) throw damaged(folder, `${gap - 1}.root.json is missing`);
  const roots = numbers.map((number) => read(folder, `${number}.root.json`, readRoot));
  return {
    roots,
    root: roots.at(-1) as SignedRoot,
    targets: read(folder, targetsFile, readTargets),
    pending: names.includes(pendingFile) ? read(folder, pendingFile, readRoot) : undefined,
  };
}

/** @throws RelcatError trust-missing, trust-damaged, file-access */
export function requireTrust(releases: string): StoredTrust {
  const trust = readTrust(releases);
  if (trust) return trust;
  const message = `${trustFolder(releases)} has no root`;
  throw failure("trust-missing", message, "Start with: relcat trust init KEYS-FOLDER");
}

function read<T>(folder: string, name: string, parse: (bytes: Uint8Array) => T): T {
  refuseForeignLink(folder, name);
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(join(folder, name));
  } catch (error) {
    throw accessFailure(`cannot read ${join(folder, name)}`, error);
  }
  try {
    return parse(bytes);
  } catch (error) {
    throw damaged(folder, `${name} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}

const damaged = (folder: string, reason: string) =>
  failure(
    "trust-damaged",
    `${folder}: ${reason}`,
    `Take the folder as git has it: git checkout -- ${shellWord(folder)}`,
  );

/** Writes the root first, because targets signed by an unknown key would be useless. */
export function writeTrust(
  releases: string,
  { root, targets, pending }: { root?: SignedRoot; targets?: SignedTargets; pending?: SignedRoot | null },
): string[] {
  const folder = trustFolder(releases);
  mkdirSync(folder, { recursive: true });
  const written: string[] = [];
  const put = (name: string, bytes: Uint8Array) => {
    const file = join(folder, name);
    const there = readIfPresent(file);
    if (there && Buffer.compare(there, bytes) === 0) return;
    replaceDurably(file, bytes);
    written.push(file);
  };
  if (root) put(`${root.metadata.signed.version}.root.json`, root.bytes);
  if (targets) put(targetsFile, targets.bytes);
  if (pending) put(pendingFile, pending.bytes);
  // Removed last: if interrupted before, the same root is merely signed again.
  if (pending === null) rmSync(join(folder, pendingFile), { force: true });
  return written;
}

/** Private keys are readable only by their owner and never overwritten. @throws RelcatError file-exists, file-access */
export function writeKeys(folder: string, keys: Readonly<Record<string, string>>): void {
  const there = Object.keys(keys).find((name) => existsSync(join(folder, name)));
  if (there !== undefined)
    throw failure(
      "file-exists",
      `${join(folder, there)} already exists, and a key is never overwritten`,
      "Name another folder, or move the file away.",
    );
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const [name, pem] of Object.entries(keys))
      writeFileSync(join(folder, name), pem, { mode: 0o600, flag: "wx" });
  } catch (error) {
    throw accessFailure(`cannot write keys into ${folder}`, error);
  }
}

/** A private key inside a work tree could be committed by accident. @throws RelcatError key-exposed */
export async function refuseExposed(folder: string): Promise<void> {
  if (!isInRepository(folder)) return;
  throw failure(
    "key-exposed",
    `${folder} is in a git work tree, expected a folder that is never committed`,
    "For example: ~/.config/relcat/keys, or a removable drive.",
  );
}

import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { failure, RelcatError } from "../../../shared/errors.ts";
import { accessFailure } from "../../system/access-failure.ts";
import { readIfPresent, replaceDurably } from "../../system/files.ts";
import { withLock } from "../../system/lock.ts";
import { readRoot, sha256 } from "../../trust/metadata.ts";
import type { TrustMemory } from "../tuf-workflow.ts";

/** @throws RelcatError root-missing, file-access */
export function readRootFile(file: string): Uint8Array {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw accessFailure(`cannot read ${file}`, error);
  }
  return asRoot(bytes, file);
}

/** @param where origin of the root, for messages @throws RelcatError root-missing */
export function asRoot(bytes: Uint8Array, where: string): Uint8Array {
  try {
    readRoot(bytes);
    return bytes;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw failure(
      "root-missing",
      `${where} is not root metadata: ${reason}`,
      "Give the root.json that you got from someone you trust.",
      undefined,
      error,
    );
  }
}

/** State folder of one site and root; another root or place starts with empty state. */
export function trustState(base: string, place: string, root: Uint8Array): string {
  const bytes = Buffer.concat([new TextEncoder().encode(`${plain(place)}\n`), root]);
  return join(base, sha256(bytes).slice(0, 32));
}

const plain = (place: string): string => place.replace(/\/+$/, "");

/** The root that was trusted on first use. @throws RelcatError trust-damaged; file-access to remember it */
export function firstRoot(base: string, place: string) {
  const file = join(base, `first-${sha256(new TextEncoder().encode(plain(place))).slice(0, 32)}.root.json`);
  const remember = (root: Uint8Array) => changeIn(base, () => replaceDurably(file, root));
  return { before: rootSeen(file), remember };
}

/** Locks the folder for a change in it. @throws RelcatError file-access, with the option that names another one */
async function changeIn(folder: string, change: () => void): Promise<void> {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    // The holder is named only by lock-held, which a lock of milliseconds does not cause.
    await withLock(folder, 0, () => {}, change);
  } catch (error) {
    if (error instanceof RelcatError && error.cause === undefined) throw error;
    throw accessFailure(
      `cannot write ${folder}, which keeps what was seen of this site`,
      error instanceof RelcatError ? error.cause : error,
      "Set XDG_STATE_HOME to a folder that you may write, or name one with --trust-dir.",
    );
  }
}

/**
 * One file for each role, each replaced atomically. No run that shares the folder replaces newer metadata of another run
 * with its own. @throws RelcatError trust-damaged, file-access
 */
export function openMemory(folder: string): TrustMemory {
  const fileOf = (role: string) => join(folder, `${fileName(role)}.json`);
  const stored = (role: string) => (isKept(role) ? readIfPresent(fileOf(role)) : undefined);
  const seen = new Map<string, Uint8Array | undefined>();
  rootSeen(fileOf("root"));
  return {
    read(role) {
      seen.set(role, stored(role));
      return seen.get(role);
    },
    async write(role, bytes) {
      if (!isKept(role) || isSame(stored(role), bytes)) return;
      await changeIn(folder, () => {
        const now = stored(role);
        const isOfAnotherRun = now !== undefined && !isSame(seen.get(role), now);
        if (isOfAnotherRun && versionOf(now) > versionOf(bytes)) return;
        replaceDurably(fileOf(role), bytes);
        seen.set(role, bytes);
      });
    },
    forget: (role) => changeIn(folder, () => rmSync(fileOf(role), { force: true })),
  };
}

const isSame = (one: Uint8Array | undefined, other: Uint8Array): boolean =>
  one !== undefined && Buffer.compare(one, other) === 0;

/** 0: not metadata. */
function versionOf(bytes: Uint8Array): number {
  try {
    return Number(JSON.parse(new TextDecoder().decode(bytes)).signed.version);
  } catch {
    return 0;
  }
}

/** A root of an earlier run. @throws RelcatError trust-damaged */
function rootSeen(file: string): Uint8Array | undefined {
  const bytes = readIfPresent(file);
  try {
    if (bytes) readRoot(bytes);
    return bytes;
  } catch (error) {
    throw failure(
      "trust-damaged",
      `${file} cannot be read as the root that was seen before`,
      "Remove it: the pinned root counts again then, or with --trust-first-use the root that the site has now.",
      undefined,
      error,
    );
  }
}

/** Delegations choose role names, which must not lead elsewhere, be hidden, or differ only in case. */
const fileName = (role: string): string =>
  [...Buffer.from(role)]
    .map((byte, index) => {
      const letter = String.fromCharCode(byte);
      const isPlain = /[a-z0-9_-]/.test(letter) || (letter === "." && index > 0);
      return isPlain ? letter : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
    })
    .join("");

/** File names have at most 255 bytes, with a temporary suffix; longer roles are downloaded each time. */
const isKept = (role: string): boolean => fileName(role).length <= 200;

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { type ByteSource, bytesSource } from "../../inspect/bytes/byte-source.ts";
import type { Inspection, InspectOptions, Reader } from "../../inspect/inspection.ts";
import type { Keys } from "../../inspect/keys.ts";
import { readKeys } from "../../inspect/read-keys.ts";

/** Artifacts from other tools, signed and damaged, with the expected results of inspection and of those tools. */
const root = resolve(import.meta.dirname, "../fixtures/artifacts");

export interface Artifact {
  file: string;
  type: string;
  /** The verdict, and why in words. */
  expect: string;
  key_id?: string | null;
  signature?: { signer: string; display: string; fingerprint: string } | null;
  cryptolib_post?: { file: string; expected_hash: string } | null;
  file_signatures?: { name: string; digest: string; ima_keyid: string }[];
  nevra?: string;
  control?: string[];
  rc: number;
  words: string[];
}

const { artifacts } = JSON.parse(readFileSync(join(root, "expected.json"), "utf8")) as {
  artifacts: Artifact[];
};

export const artifactsOf = (...types: string[]): Artifact[] =>
  artifacts.filter(({ type }) => types.includes(type));
export const verdictOf = ({ expect }: Artifact): string => expect.split(" ")[0] ?? "";

/** Times at which they were made, and later. */
export const now = Date.parse("2026-11-21T12:00:00Z");

const keyFiles = (isWanted: (name: string) => boolean) =>
  readdirSync(join(root, "keys"))
    .filter(isWanted)
    .map((name) => ({ name, bytes: readFileSync(join(root, "keys", name)) }));

/** All keys except the attacker's. */
export const allowedKeys = (): Promise<Keys> => readKeys(keyFiles((name) => !name.startsWith("attacker")));
export const keysIn = (...names: string[]): Promise<Keys> =>
  readKeys(keyFiles((name) => names.includes(name)));

export const pathOf = (file: string): string => join(root, "artifacts", file);
export const bytesOf = (file: string): Buffer => readFileSync(pathOf(file));

/** @param beside content of other files in the folder, by name */
export const optionsWith = (
  keys: Keys,
  beside: Readonly<Record<string, Uint8Array>> = {},
): InspectOptions => ({
  keys,
  now,
  limit: 256 << 20,
  openSibling: (name) => (beside[name] ? bytesSource(beside[name], name) : undefined),
});

/** Inspects it with the other files of its folder. */
export function optionsFor(file: string, keys: Keys): InspectOptions {
  const beside = (name: string): ByteSource | undefined => {
    const path = join(dirname(pathOf(file)), name);
    return existsSync(path) ? bytesSource(readFileSync(path), name) : undefined;
  };
  return { ...optionsWith(keys), openSibling: beside };
}

export const inspectBytes = (
  read: Reader,
  bytes: Uint8Array,
  options: InspectOptions,
  name = "artifact",
): Promise<Inspection> => read(bytesSource(bytes, name), options);

export const inspectArtifact = (
  read: Reader,
  file: string,
  keys: Keys,
  bytes = bytesOf(file),
): Promise<Inspection> => inspectBytes(read, bytes, optionsFor(file, keys), basename(file));

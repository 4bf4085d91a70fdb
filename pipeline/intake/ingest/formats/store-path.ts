import { basename, dirname } from "node:path/posix";
import { z } from "zod";
import { expects, text } from "../../../../shared/fields.ts";

const base = "[0-9a-df-np-sv-z]{32}-[0-9A-Za-z+._?=-]+";

/** An absolute store path, in any store. */
export const storePath = text(
  "path-format",
  new RegExp(`^/(?:[^/\\s]+/)*${base}$`),
  "a store path such as /nix/store/<32 characters>-<name>",
);

/** A store path without its store, as newer versions of Nix write it. */
const storeBase = text(
  "path-format",
  new RegExp(`^${base}$`),
  "the last part of a store path, <32 characters>-<name>",
);

export const anyPath = z.union([storePath, storeBase], expects("path-format", "a store path"));

export const isStorePath = (value: unknown): value is string => storePath.safeParse(value).success;
export const isStoreBase = (value: unknown): value is string => storeBase.safeParse(value).success;

/** Identifies a store object, with or without its store. */
export const baseOf = (path: string): string => basename(path);

/** The 32-character hash that identifies the build. */
export const hashPart = (path: string): string => basename(path).slice(0, 32);

/** The name without the hash, which is the download name of a store path that is a file. */
export const nameOf = (path: string): string => basename(path).slice(33);

export const productName = (path: string): string => (isStorePath(path) ? nameOf(path) : basename(path));

/** `path` as a full path in the store of `sibling`. */
export const besides = (path: string, sibling: string): string =>
  path.startsWith("/") ? path : `${dirname(sibling)}/${path}`;

/** @returns undefined outside a store; one mounted elsewhere (nix build --store) still uses /nix/store in its paths */
export function storePathOf(path: string): string | undefined {
  const name = new RegExp(`/nix/store/(${base})(?=/|$)`).exec(path)?.[1];
  return name === undefined ? undefined : `/nix/store/${name}`;
}

const alphabet = "0123456789abcdfghijklmnpqrsvwxyz";

/** Nix's own base 32, which starts with the last five bits. */
function nix32(bytes: Uint8Array): string {
  const length = Math.ceil((bytes.length * 8) / 5);
  let text = "";
  for (let n = length - 1; n >= 0; n--) {
    const bit = n * 5;
    const [low = 0, high = 0] = [bytes[bit >> 3], bytes[(bit >> 3) + 1]];
    text += alphabet[((low | (high << 8)) >> (bit & 7)) & 31];
  }
  return text;
}

/** Reads `sha256-<base64>`, `sha256:<nix32>` and `sha256:<hex>`. @returns as in fingerprints and narinfo */
export function narHashOf(text: string): string | undefined {
  if (/^sha256:[0-9a-df-np-sv-z]{52}$/.test(text)) return text;
  const sri = /^sha256-([A-Za-z0-9+/]{43}=)$/.exec(text)?.[1];
  const hex = /^sha256:([0-9a-f]{64})$/.exec(text)?.[1];
  if (sri !== undefined) return `sha256:${nix32(Buffer.from(sri, "base64"))}`;
  return hex === undefined ? undefined : `sha256:${nix32(Buffer.from(hex, "hex"))}`;
}

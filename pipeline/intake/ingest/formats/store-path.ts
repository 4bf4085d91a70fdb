import { basename, dirname } from "node:path/posix";
import { text } from "../../../documents/fields.ts";

const base = "[0-9a-df-np-sv-z]{32}-[0-9A-Za-z+._?=-]+";

/** An absolute store path, of any store. */
export const storePath = text(
  "path-format",
  new RegExp(`^/(?:[^/\\s]+/)*${base}$`),
  "a store path such as /nix/store/<32 characters>-<name>",
);

/** A store path without its store, as newer versions of Nix write it. */
export const storeBase = text(
  "path-format",
  new RegExp(`^${base}$`),
  "the last part of a store path, <32 characters>-<name>",
);

export const isStorePath = (value: unknown): value is string => storePath.safeParse(value).success;
export const isStoreBase = (value: unknown): value is string => storeBase.safeParse(value).success;

/** What identifies a store object whichever way its path is written. */
export const baseOf = (path: string): string => basename(path);

/** The 32 characters that stand for the build. */
export const hashPart = (path: string): string => basename(path).slice(0, 32);

/** The name without the hash: what a store path that is a file would be downloaded as. */
export const nameOf = (path: string): string => basename(path).slice(33);

/** `path` as a whole path, in the store that `sibling` lies in. */
export const besides = (path: string, sibling: string): string =>
  path.startsWith("/") ? path : `${dirname(sibling)}/${path}`;

/**
 * The store path that a file or folder is, or is part of; undefined outside a store. A store that is mounted
 * elsewhere (nix build --store) still calls itself /nix/store.
 */
export function storePathOf(path: string): string | undefined {
  const name = new RegExp(`/nix/store/(${base})(?=/|$)`).exec(path)?.[1];
  return name === undefined ? undefined : `/nix/store/${name}`;
}

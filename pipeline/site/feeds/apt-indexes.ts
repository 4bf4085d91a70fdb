import { hash } from "node:crypto";
import type { OutputFile } from "../../documents/published.ts";
import { gzipped, xzipped } from "./compressed.ts";

/** The list of a suite's packages for one architecture. */
export interface AptIndex {
  suite: string;
  architecture: string;
  /** `Packages` in each form. */
  forms: readonly AptIndexForm[];
}

export interface AptIndexForm {
  /** Below the suite's folder. */
  path: string;
  bytes: Uint8Array;
  sha256: string;
}

/** @param stanzas each with a final line feed */
export function packagesIndex(suite: string, architecture: string, stanzas: readonly string[]): AptIndex {
  const plain = new TextEncoder().encode(stanzas.join("\n"));
  const path = `main/binary-${architecture}/Packages`;
  const form = (suffix: string, bytes: Uint8Array): AptIndexForm => {
    return { path: `${path}${suffix}`, bytes, sha256: hash("sha256", bytes) };
  };
  return {
    suite,
    architecture,
    forms: [form("", plain), form(".gz", gzipped(plain)), form(".xz", xzipped(plain))],
  };
}

/** Files named by their digest come first: `Release` refers to them, and a publish keeps those of earlier builds. */
export function* indexFiles({ suite, architecture, forms }: AptIndex): Generator<OutputFile> {
  const folder = `dists/${suite}`;
  const byHash = (sha256: string) => `${folder}/main/binary-${architecture}/by-hash/SHA256/${sha256}`;
  for (const { sha256, bytes } of forms) yield { path: byHash(sha256), chunks: [bytes] };
  for (const { path, sha256, bytes } of forms)
    yield { path: `${folder}/${path}`, chunks: [bytes], sameAs: byHash(sha256) };
}

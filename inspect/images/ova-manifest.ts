import type { SmallText } from "../archives/small-text.ts";
import { Fault, malformed } from "../verdict.ts";
import type { DiskFacts } from "./disk-facts.ts";

/** A member of the archive: a text of the package, or a referenced file. */
export interface OvaFile {
  path: string;
  size: number;
  text: SmallText | undefined;
  disk: DiskFacts | undefined;
  digest(name: ManifestDigest): string;
}

/** Names of node:crypto; a manifest writes them in upper case. */
export const manifestDigests = ["sha1", "sha256", "sha512"] as const;
export type ManifestDigest = (typeof manifestDigests)[number];

/** Digest of a file, as a manifest or certificate states it. */
export interface ListedDigest {
  name: ManifestDigest;
  hex: string;
}

export interface Manifest {
  path: string;
  bytes: Buffer;
  /** Keyed by file name. */
  digests: ReadonlyMap<string, ListedDigest>;
}

const line = /^(SHA1|SHA256|SHA512)\s?\(([^()]+)\)\s?=\s?([0-9a-fA-F]+)$/;

/** Format: `SHA256(FILE)= HEX`. @throws Fault malformed */
export function readDigestLine(text: string, what: string): ListedDigest & { file: string } {
  const [, name = "", file, hex] = text.match(line) ?? [];
  const digest = manifestDigests.find((known) => known === name.toLowerCase());
  if (!digest || !file || !hex)
    throw malformed(
      `${what} has the line ${JSON.stringify(text)}, expected SHA256(FILE)= and hexadecimal digits`,
    );
  return { name: digest, file, hex: hex.toLowerCase() };
}

/** @throws Fault malformed */
export function readManifest(path: string, text: SmallText): Manifest {
  const digests = new Map<string, ListedDigest>();
  for (const row of text.text().split(/\r?\n/)) {
    if (row === "") continue;
    const { file, ...digest } = readDigestLine(row, path);
    if (digests.has(file)) throw malformed(`${path} has ${file} twice`);
    digests.set(file, digest);
  }
  return { path, bytes: text.bytes(), digests };
}

/** @throws Fault malformed, if the manifest does not list exactly these files; bad-digest */
export function refuseDigests(files: readonly OvaFile[], { path, digests }: Manifest): void {
  const listed = files.filter((file) => !/\.(?:mf|cert)$/.test(file.path));
  const unlisted = listed.find((file) => !digests.has(file.path));
  if (unlisted) throw malformed(`${path} does not list ${unlisted.path}`);
  for (const [name, expected] of digests) {
    const file = listed.find((file) => file.path === name);
    if (!file) throw malformed(`${path} lists ${name}, which is not in the OVA`);
    const digest = file.digest(expected.name);
    if (digest === expected.hex) continue;
    throw new Fault(
      "bad-digest",
      `${name} has the ${expected.name.toUpperCase()} ${digest}, ${path} says ${expected.hex}`,
    );
  }
}

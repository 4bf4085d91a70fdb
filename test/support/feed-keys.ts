import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type * as openpgp from "openpgp";
import { newKey } from "./openpgp.ts";

/** A key that can sign package repositories; RSA takes long to make. */
export const feedKey = (
  options: Parameters<typeof newKey>[0] & { date?: Date } = {},
): Promise<openpgp.PrivateKey> =>
  newKey({
    curve: "ed25519Legacy",
    subkeys: [],
    userIDs: [{ name: "Acme package repository", email: "releases@downloads.example.com" }],
    ...options,
  });

export const fingerprintOf = (key: openpgp.PrivateKey): string => key.getFingerprint().toUpperCase();

export interface ListedKey {
  key: openpgp.PrivateKey;
  state: "announced" | "signing" | "retired";
  since?: string;
}

/** Writes releases/trust/openpgp as `relcat trust` does. */
export function writeFeedKeys(folder: string, listed: readonly ListedKey[]): void {
  const at = join(folder, "releases/trust/openpgp");
  mkdirSync(at, { recursive: true });
  const keys = listed.map(({ key, state, since = "2026-09-01T00:00:00Z" }) => ({
    fingerprint: fingerprintOf(key),
    state,
    since,
  }));
  for (const { key } of listed) writeFileSync(join(at, `${fingerprintOf(key)}.asc`), key.toPublic().armor());
  writeFileSync(join(at, "keys.json"), `${JSON.stringify({ schema_version: 1, keys }, null, 2)}\n`);
}

/** Private keys as the environment of `sign` has them. */
export const feedSecrets = (...keys: openpgp.PrivateKey[]): { RELCAT_OPENPGP_KEY: string } => ({
  RELCAT_OPENPGP_KEY: keys.map((key) => key.armor()).join(""),
});

/** A program that makes files executable for tests. */
export function writeProgram(file: string, text: string): void {
  writeFileSync(file, text);
  chmodSync(file, 0o755);
}

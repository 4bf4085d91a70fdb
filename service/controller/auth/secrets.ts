import {
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
  randomUUID,
  timingSafeEqual,
} from "node:crypto";

/** What every digest in the database is keyed with; it never lies in the database. */
export type Pepper = Uint8Array;

export const pepperBytes = 32;

/** What a secret is for: a digest of one kind says nothing of another. */
export type Purpose = "key" | "session" | "device" | "nonce" | "audit" | "check";

/** HMAC-SHA-256 under the pepper, as hexadecimal digits. @param parts what the secret belongs to, and the secret */
export function digestOf(pepper: Pepper, purpose: Purpose, ...parts: string[]): string {
  return createHmac("sha256", keyOf(pepper))
    .update(JSON.stringify([purpose, ...parts]))
    .digest("hex");
}

const keys = new WeakMap<Pepper, KeyObject>();

/** Made once: from bytes, every HMAC would make it anew. */
function keyOf(pepper: Pepper): KeyObject {
  const key = keys.get(pepper) ?? createSecretKey(pepper);
  keys.set(pepper, key);
  return key;
}

/** Compares two digests in a time that tells nothing of where they differ. */
export const isSameDigest = (one: string, other: string): boolean => {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
};

/** A secret with a prefix by which scanners and people know it. */
export const newSecret = (prefix: string): string => `${prefix}${randomUUID()}`;

/** 256 random bits that fit into a cookie. */
export const newSession = (): string => randomBytes(32).toString("base64url");

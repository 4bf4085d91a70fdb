import {
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
  randomUUID,
  timingSafeEqual,
} from "node:crypto";

/** Key of every digest in the database, stored outside the database. */
export type Pepper = Uint8Array;

export const pepperBytes = 32;

/** Separates digests by purpose, so that one kind cannot serve as another. */
type Purpose = "key" | "session" | "device" | "nonce" | "audit" | "check";

/** HMAC-SHA-256 keyed with the pepper, in hexadecimal. @param parts the owner of the secret, and the secret */
export function digestOf(pepper: Pepper, purpose: Purpose, ...parts: string[]): string {
  return createHmac("sha256", keyOf(pepper))
    .update(JSON.stringify([purpose, ...parts]))
    .digest("hex");
}

const keys = new WeakMap<Pepper, KeyObject>();

/** Cached, because each HMAC from raw bytes would create a key object again. */
function keyOf(pepper: Pepper): KeyObject {
  const key = keys.get(pepper) ?? createSecretKey(pepper);
  keys.set(pepper, key);
  return key;
}

/** Constant-time comparison. */
export const isSameDigest = (one: string, other: string): boolean => {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
};

/** Secret scanners and people recognize the prefix. */
export const newSecret = (prefix: string): string => `${prefix}${randomUUID()}`;

/** 256 random bits, encoded for a cookie. */
export const newSession = (): string => randomBytes(32).toString("base64url");

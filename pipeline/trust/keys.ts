import { createHash, createPublicKey, type KeyObject } from "node:crypto";
import { canonicalize } from "@tufjs/canonical-json";
import { Key, Signature } from "@tufjs/models";

/** Signs with an Ed25519 key, which may be stored anywhere. */
export interface Signer {
  /** Key id as in TUF 1.0, 4.2.1. */
  id: string;
  /** 32 bytes. */
  publicKey: Uint8Array;
  /** File, environment variable or program with the private key, for messages. */
  place: string;
  /** @returns 64 bytes */
  sign(bytes: Uint8Array): Promise<Uint8Array>;
}

const described = (publicKey: Uint8Array) => ({
  keytype: "ed25519",
  scheme: "ed25519",
  keyval: { public: Buffer.from(publicKey).toString("hex") },
});

/** SHA-256 of the key's canonical form, so that a key has the same id everywhere. */
export const keyId = (publicKey: Uint8Array): string =>
  createHash("sha256")
    .update(canonicalize(described(publicKey)))
    .digest("hex");

export const tufKey = (publicKey: Uint8Array): Key => Key.fromJSON(keyId(publicKey), described(publicKey));

export const tufSignature = (keyID: string, bytes: Uint8Array): Signature =>
  new Signature({ keyID, sig: Buffer.from(bytes).toString("hex") });

/** DER prefix of an Ed25519 public key (RFC 8410, section 4). */
const derPrefix = Buffer.from("302a300506032b6570032100", "hex");

export const publicKeyObject = (publicKey: Uint8Array): KeyObject =>
  createPublicKey({ key: Buffer.concat([derPrefix, publicKey]), format: "der", type: "spki" });

/** The 32 bytes of an Ed25519 key. @throws TypeError for keys of another kind */
export function publicBytes(key: KeyObject): Uint8Array {
  if (key.asymmetricKeyType !== "ed25519")
    throw new TypeError(`the key is ${key.asymmetricKeyType}, expected Ed25519`);
  const der = (key.type === "private" ? createPublicKey(key) : key).export({ format: "der", type: "spki" });
  return new Uint8Array(der.subarray(derPrefix.length));
}

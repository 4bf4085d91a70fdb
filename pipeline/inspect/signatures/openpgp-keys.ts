import { createPublicKey, type KeyObject } from "node:crypto";
import type { PublicKey, Subkey } from "openpgp";

/** A primary key or subkey that signs. */
export interface SigningKey {
  /** Lower-case hexadecimal: 16 digits, and 40 or (version 6) 64. */
  keyId: string;
  fingerprint: string;
  /** Whose it is, as the certificate says first. */
  userId: string;
  /** Milliseconds since 1970; infinite where it does not end. */
  created: number;
  expires: number;
  /** By itself or with its primary key, for whatever reason and whenever: a signature's own date proves nothing. */
  isRevoked: boolean;
  /** The library's own; its types ask for more than is installed beside it, so they are told to nobody. */
  packet: object;
  /** The same for node:crypto, where it is RSA or Ed25519. */
  native: KeyObject | undefined;
}

export interface OpenPgpCertificate {
  signing: readonly SigningKey[];
}

/** Later than all that revokes: a revocation counts whatever its date. */
const ever = new Date(8.64e15);

/**
 * The certificates of a file, armored or binary.
 * @throws Error whose message goes on from the file's name
 */
export async function readOpenPgpCertificates(bytes: Uint8Array): Promise<OpenPgpCertificate[]> {
  const keys = await keysOf(bytes);
  if (keys.some((key) => key.isPrivate()))
    throw new Error("holds a private key, expected certificates; export the public part alone");
  return Promise.all(keys.map(certificateOf));
}

async function keysOf(bytes: Uint8Array): Promise<PublicKey[]> {
  const { readKeys } = await import("openpgp");
  const armored = Buffer.from(bytes)
    .toString("latin1")
    .match(/-----BEGIN PGP PUBLIC KEY BLOCK-----[\s\S]+?-----END PGP PUBLIC KEY BLOCK-----/g);
  try {
    if (!armored) return await readKeys({ binaryKeys: bytes });
    return (await Promise.all(armored.map((armoredKeys) => readKeys({ armoredKeys })))).flat();
  } catch (cause) {
    throw new Error("holds no certificate, expected OpenPGP or X.509", { cause });
  }
}

async function certificateOf(key: PublicKey): Promise<OpenPgpCertificate> {
  const parts = await Promise.all([key, ...key.subkeys].map((part) => signingKey(key, part)));
  const signing = parts.filter((part) => part !== undefined);
  if (signing.length === 0) throw new Error(`holds ${key.getFingerprint()}, which cannot sign`);
  return { signing };
}

/** What signs and is bound to its certificate, or is revoked; undefined: neither. */
async function signingKey(key: PublicKey, part: PublicKey | Subkey): Promise<SigningKey | undefined> {
  const keyId = part.getKeyID();
  const isRevoked = (await key.isRevoked(undefined, undefined, ever)) || (await isSubkeyRevoked(part));
  if (!isRevoked) {
    const usable = await key.getSigningKey(keyId, null).catch(() => undefined);
    if (usable?.getFingerprint() !== part.getFingerprint()) return undefined;
  }
  return {
    keyId: keyId.toHex(),
    fingerprint: part.getFingerprint(),
    userId: await userIdOf(key),
    created: part.getCreationTime().getTime(),
    expires: Math.min(await endOf(key), await endOf(part)),
    isRevoked,
    packet: part.keyPacket,
    native: nativeKey(part.keyPacket.publicParams),
  };
}

const isSubkeyRevoked = async (part: PublicKey | Subkey): Promise<boolean> =>
  "mainKey" in part && (await part.isRevoked(undefined as never, undefined as never, ever));

async function userIdOf(key: PublicKey): Promise<string> {
  const primary = await key.getPrimaryUser(ever).catch(() => undefined);
  return primary?.user.userID?.userID ?? key.getUserIDs()[0] ?? key.getFingerprint();
}

/** Milliseconds since 1970; without a valid self-signature it never began. */
async function endOf(part: PublicKey | Subkey): Promise<number> {
  const end = await ("mainKey" in part ? part.getExpirationTime(ever) : part.getExpirationTime());
  return Number(end ?? 0);
}

/** The parameters of RSA, of Ed25519 as in RFC 9580 and as it was before. */
function nativeKey(params: {
  n?: Uint8Array;
  e?: Uint8Array;
  Q?: Uint8Array;
  A?: Uint8Array;
}): KeyObject | undefined {
  const { n, e, Q, A } = params;
  const point = A ?? (Q?.length === 33 && Q[0] === 0x40 ? Q.subarray(1) : undefined);
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64url");
  if (n && e) return createPublicKey({ key: { kty: "RSA", n: text(n), e: text(e) }, format: "jwk" });
  if (point?.length === 32)
    return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: text(point) }, format: "jwk" });
  return undefined;
}

import { createPublicKey, type KeyObject, X509Certificate } from "node:crypto";
import type { PublicKey, Subkey } from "openpgp";
import { type Problem, RelcatError } from "../shared/errors.ts";
import type { Keys, OpenPgpCertificate, OpenPgpKey, SigningKey, Window, X509Key } from "./keys.ts";
import { readCertificate } from "./signatures/x509.ts";

/** A file of certificates, all with the same validity window. */
export interface KeyFile extends Window {
  name: string;
  bytes: Uint8Array;
}

/**
 * Reads the allowed signers from OpenPGP files (armored or binary, possibly concatenated) and X.509 files
 * (PEM, possibly several, or DER). Human-readable `.txt` lists in the same folder are skipped.
 * @throws RelcatError key-unusable, naming each file with other content
 */
export async function readKeys(files: readonly KeyFile[]): Promise<Keys> {
  const keys: { openpgp: OpenPgpKey[]; x509: X509Key[] } = { openpgp: [], x509: [] };
  const problems: Problem[] = [];
  for (const { name, bytes, ...window } of files.filter((file) => !file.name.endsWith(".txt"))) {
    try {
      const { openpgp, x509 } = await certificatesOf(bytes);
      keys.x509.push(...x509.map((certificate) => ({ ...window, file: name, certificate })));
      keys.openpgp.push(...openpgp.map((certificate) => ({ ...window, file: name, ...certificate })));
    } catch (error) {
      const message = `${name} ${error instanceof Error ? error.message : String(error)}`;
      problems.push({ code: "key-unusable", severity: "error", message, hint });
    }
  }
  if (problems.length > 0) throw new RelcatError(problems);
  return keys;
}

const hint = "Put nothing but certificates there: gpg --armor --export KEY, or a certificate as PEM or DER";

/** @throws Error; the caller puts the file name before its message */
async function certificatesOf(bytes: Uint8Array) {
  const text = Buffer.from(bytes).toString("latin1");
  if (/-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY/.test(text))
    throw new Error(
      "holds a private key, expected certificates; move it to where only its owner can read it",
    );
  const pem = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g);
  const armored = text.match(
    /-----BEGIN PGP PUBLIC KEY BLOCK-----[\s\S]+?-----END PGP PUBLIC KEY BLOCK-----/g,
  );
  const found = pem ?? armored;
  if (found && found.length < text.split("-----BEGIN ").length - 1)
    throw new Error(
      "holds more than certificates of one kind, expected OpenPGP or X.509 alone, each complete",
    );
  if (pem) return { openpgp: [], x509: pem.map(certificateOf) };
  // DER begins with a SEQUENCE tag (0x30), which no OpenPGP packet starts with.
  if (bytes[0] === 0x30) return { openpgp: [], x509: [certificateOf(bytes)] };
  return { openpgp: await readOpenPgpCertificates(bytes, armored), x509: [] };
}

function certificateOf(bytes: string | Uint8Array): X509Certificate {
  try {
    const certificate = new X509Certificate(bytes);
    readCertificate(typeof bytes === "string" ? certificate.raw : bytes);
    return certificate;
  } catch (cause) {
    throw new Error("holds a certificate that cannot be read, expected X.509 as PEM or DER", { cause });
  }
}

/** Later than any revocation, so that a revocation counts regardless of its date. */
const ever = new Date(8.64e15);

/** Reads a file of certificates, armored or binary. @throws Error; the caller puts the file name before its message */
async function readOpenPgpCertificates(bytes: Uint8Array, armored: readonly string[] | null) {
  const { readKeys } = await import("openpgp");
  const blocks = armored?.map((armoredKeys) => readKeys({ armoredKeys })) ?? [
    readKeys({ binaryKeys: bytes }),
  ];
  const read = await Promise.all(blocks).catch((cause) => {
    throw new Error("holds no certificate, expected OpenPGP or X.509", { cause });
  });
  const keys = read.flat();
  if (keys.some((key) => key.isPrivate()))
    throw new Error("holds a private key, expected certificates; export the public part alone");
  return Promise.all(keys.map(openPgpCertificateOf));
}

async function openPgpCertificateOf(key: PublicKey): Promise<OpenPgpCertificate> {
  const parts = await Promise.all([key, ...key.subkeys].map((part) => signingKey(key, part)));
  const signing = parts.filter((part) => part !== undefined);
  if (signing.length === 0) throw new Error(`holds ${key.getFingerprint()}, which cannot sign`);
  return { signing };
}

/** Undefined: the key cannot sign, or is not bound to its certificate. */
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

/** Milliseconds since 1970; without a valid self-signature the key was never valid. */
async function endOf(part: PublicKey | Subkey): Promise<number> {
  const end = await ("mainKey" in part ? part.getExpirationTime(ever) : part.getExpirationTime());
  return Number(end ?? 0);
}

/** Parameters of RSA, and of Ed25519 in the RFC 9580 form and the older one. */
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

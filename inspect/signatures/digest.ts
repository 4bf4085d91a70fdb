import { constants, type KeyObject, publicDecrypt } from "node:crypto";
import { malformed, unsupported, weak } from "../verdict.ts";
import { type Asn1, oidOf, sequenceOf, tags } from "./asn1.ts";

/** Name as in node:crypto. */
export interface Digest {
  name: "md5" | "sha1" | "sha256" | "sha384" | "sha512";
  /** In bytes. */
  size: number;
  /** Collisions are practical, so the signed content may have been replaced. */
  isWeak: boolean;
  /** RFC 3370, RFC 5754. */
  oid: string;
}

/** Some of these are recognized only to be rejected by name. */
export const digests = {
  md5: { name: "md5", size: 16, isWeak: true, oid: "1.2.840.113549.2.5" },
  sha1: { name: "sha1", size: 20, isWeak: true, oid: "1.3.14.3.2.26" },
  sha256: { name: "sha256", size: 32, isWeak: false, oid: "2.16.840.1.101.3.4.2.1" },
  sha384: { name: "sha384", size: 48, isWeak: false, oid: "2.16.840.1.101.3.4.2.2" },
  sha512: { name: "sha512", size: 64, isWeak: false, oid: "2.16.840.1.101.3.4.2.3" },
} as const satisfies Record<string, Digest>;

/** Reads an AlgorithmIdentifier. @throws Fault malformed; unsupported-format, for any other */
export function digestOf(algorithm: Asn1 | undefined, what: string): Digest {
  const oid = algorithmOf(algorithm, what);
  const digest = Object.values(digests).find((digest) => digest.oid === oid);
  if (digest) return digest;
  throw unsupported(`${what} uses the digest ${oid}, expected SHA-256, SHA-384 or SHA-512`);
}

/** Name of an AlgorithmIdentifier whose parameters are NULL or absent. @throws Fault malformed */
export function algorithmOf(algorithm: Asn1 | undefined, what: string): string {
  const [name, parameters, ...more] = sequenceOf(algorithm, what);
  const isPlain = !parameters || (parameters.tag === tags.null && parameters.content.length === 0);
  if (!isPlain || more.length > 0) throw malformed(`${what} has an algorithm with parameters, expected none`);
  return oidOf(name, what);
}

/** @throws Fault weak-digest */
export function refuseWeak(digest: Digest, what: string): void {
  if (digest.isWeak) throw weak(`${what} uses ${digest.name.toUpperCase()}, expected SHA-256 or stronger`);
}

/**
 * Verifies RSA (PKCS #1 v1.5, RFC 8017, section 8.2.2) over a digest, because node:crypto accepts only the data itself.
 * @param algorithm name of the digest in node:crypto
 */
export function isRsaSigned(
  key: KeyObject,
  signature: Uint8Array,
  digest: Uint8Array,
  algorithm: string,
): boolean {
  try {
    const { RSA_PKCS1_PADDING: padding } = constants;
    return publicDecrypt({ key, padding }, signature).equals(digestInfo(digest, algorithm));
  } catch {
    return false;
  }
}

/** Last arc of each object identifier 2.16.840.1.101.3.4.2.x (RFC 8017, appendix B.1). SHA-1 has another one. */
const arcs: Readonly<Record<string, number>> = {
  sha256: 1,
  sha384: 2,
  sha512: 3,
  sha224: 4,
  "sha3-256": 8,
  "sha3-512": 10,
};

function digestInfo(digest: Uint8Array, hash: string): Buffer {
  const sha1 = [0x2b, 0x0e, 0x03, 0x02, 0x1a];
  const name = hash === "sha1" ? sha1 : [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, arcs[hash] ?? 0];
  const algorithm = [0x30, name.length + 4, 0x06, name.length, ...name, 0x05, 0x00];
  const size = digest.length;
  return Buffer.concat([Buffer.from([0x30, algorithm.length + 2 + size, ...algorithm, 0x04, size]), digest]);
}

import { constants, type KeyObject, publicDecrypt } from "node:crypto";

/**
 * Verifies an RSA signature (PKCS #1 v1.5, RFC 8017, section 8.2.2) over a digest, because node:crypto
 * accepts only the data itself.
 * @param oid last arc of the digest's object identifier 2.16.840.1.101.3.4.2.x, or the octets of another one
 * (RFC 8017, appendix B.1)
 */
export function isRsaSigned(
  key: KeyObject,
  signature: Uint8Array,
  digest: Uint8Array,
  oid: DigestOid,
): boolean {
  try {
    const { RSA_PKCS1_PADDING: padding } = constants;
    return publicDecrypt({ key, padding }, signature).equals(digestInfo(digest, oid));
  } catch {
    return false;
  }
}

type DigestOid = number | readonly number[];

function digestInfo(digest: Uint8Array, oid: DigestOid): Buffer {
  const name = typeof oid === "number" ? [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, oid] : oid;
  const algorithm = [0x30, name.length + 4, 0x06, name.length, ...name, 0x05, 0x00];
  const size = digest.length;
  return Buffer.concat([Buffer.from([0x30, algorithm.length + 2 + size, ...algorithm, 0x04, size]), digest]);
}

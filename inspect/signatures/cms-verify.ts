import { createHash, verify } from "node:crypto";
import { Fault, malformed } from "../verdict.ts";
import { octetsOf, oidOf } from "./asn1.ts";
import { attributeOf, type SignedData, type Signer } from "./cms.ts";
import { type Digest, refuseWeak } from "./digest.ts";

const attributeIds = { contentType: "1.2.840.113549.1.9.3", messageDigest: "1.2.840.113549.1.9.4" } as const;

/** Digest of each signature algorithm (RFC 3370, 5754, 5758); null: the signer info names it. */
const algorithms = new Map<string, Digest["name"] | null>([
  ["1.2.840.113549.1.1.1", null],
  ["1.2.840.113549.1.1.5", "sha1"],
  ["1.2.840.113549.1.1.11", "sha256"],
  ["1.2.840.113549.1.1.12", "sha384"],
  ["1.2.840.113549.1.1.13", "sha512"],
  ["1.2.840.10045.2.1", null],
  ["1.2.840.10045.4.1", "sha1"],
  ["1.2.840.10045.4.3.2", "sha256"],
  ["1.2.840.10045.4.3.3", "sha384"],
  ["1.2.840.10045.4.3.4", "sha512"],
]);

/**
 * Verifies that the signer's key signed this content (RFC 5652, 5.4 and 5.6), not that the key is allowed.
 * @param content without tag and length, if it is ASN.1
 * @throws Fault bad-signature, bad-digest, malformed, weak-digest, unsupported-format
 */
export function verifySignature(
  { signer, contentType }: SignedData,
  content: Uint8Array,
  what: string,
): void {
  const { digest } = signer;
  const { publicKey } = signer.certificate;
  refuseOtherAlgorithm(signer, what);
  if (!verify(digest.name, signer.signedBytes, publicKey, signer.signature))
    throw new Fault("bad-signature", `${what} was not made by the key of its certificate, or was changed`);
  if (oidOf(attributeOf(signer, attributeIds.contentType, what), what) !== contentType)
    throw malformed(`${what} is for another kind of content than it came with`);
  const expected = octetsOf(attributeOf(signer, attributeIds.messageDigest, what), what);
  if (!createHash(digest.name).update(content).digest().equals(expected))
    throw new Fault("bad-digest", `${what} does not match the content it came with`);
  refuseWeak(digest, what);
}

function refuseOtherAlgorithm({ algorithm, digest, certificate }: Signer, what: string): void {
  const goesWith = algorithms.get(algorithm);
  const type = certificate.publicKey.asymmetricKeyType;
  if (goesWith === undefined || (type !== "rsa" && type !== "ec"))
    throw new Fault(
      "unsupported-format",
      `${what} is made with ${algorithm} (${type}), expected RSA PKCS #1 or ECDSA`,
    );
  const isRsa = algorithm.startsWith("1.2.840.113549.");
  if ((goesWith ?? digest.name) !== digest.name || isRsa !== (type === "rsa"))
    throw malformed(`${what} names an algorithm that does not match its key and digest`);
}

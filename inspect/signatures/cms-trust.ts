import { createHash, verify } from "node:crypto";
import type { Uncovered } from "../bytes/byte-source.ts";
import type { InspectOptions, Signature } from "../inspection.ts";
import { badDigest, Fault, malformed, unsupported } from "../verdict.ts";
import {
  type Asn1,
  expectTag,
  integerOf,
  octetsOf,
  oidOf,
  readAsn1,
  sequenceOf,
  tags,
  timeOf,
} from "./asn1.ts";
import { attributeOf, contentTypes, type SignedData, type Signer, signedDataOf } from "./cms.ts";
import { type Digest, digestOf, refuseWeak } from "./digest.ts";
import { type Certificate, commonNameOf, subjectOf, thumbprintOf } from "./x509.ts";
import { chainOf, usages } from "./x509-chain.ts";

export interface Trusted {
  /** Milliseconds since 1970; undefined: no timestamp. */
  time: number | undefined;
  notes: readonly string[];
  /** Ranges of the CMS structure that no signature covers. */
  uncovered: readonly Uncovered[];
}

/**
 * Verifies a signature, and that its key was allowed at the signature's timestamp or, without one, is allowed
 * now.
 * @param bytes encoded signature
 * @throws Fault
 */
export function verifyTrusted(
  signed: SignedData,
  content: Uint8Array,
  bytes: Uint8Array,
  { usage, what, options }: { usage: readonly string[]; what: string; options: InspectOptions },
): Trusted {
  verifySignature(signed, content, what);
  const stamp = timestampOf(signed.signer, options);
  const time = typeof stamp === "number" ? stamp : undefined;
  const notes =
    typeof stamp === "object" ? [`${what} has a timestamp that does not count: ${stamp.reason}`] : [];
  const { signer, certificates: among } = signed;
  try {
    const at = time ?? options.now;
    const chain = chainOf(signer.certificate, { among, keys: options.keys, at, usage });
    return { time, notes, uncovered: uncoveredIn(signed, chain, bytes) };
  } catch (error) {
    if (!(error instanceof Fault) || error.verdict !== "expired-certificate") throw error;
    throw new Fault(error.verdict, [error.message, ...notes].join("; "));
  }
}

function uncoveredIn(
  { lists, signer, certificates }: SignedData,
  chain: readonly Certificate[],
  bytes: Uint8Array,
): readonly Uncovered[] {
  const used = chain.filter((certificate) => certificates.includes(certificate)).map(({ der }) => der);
  const isUsed = ({ raw }: Asn1) => used.some((der) => der === raw);
  const range = (why: string) => (found: Asn1) => {
    const from = found.raw.byteOffset - bytes.byteOffset;
    return { from, to: from + found.raw.length, why };
  };
  return [
    ...lists.certificates.filter((found) => !isUsed(found)).map(range("a certificate that is not needed")),
    ...[lists.revocations]
      .filter((found) => found !== undefined)
      .map(range("revocation lists in the signature")),
    ...[signer.unsigned]
      .filter((found) => found !== undefined)
      .map(range("unsigned attributes of the signature")),
  ];
}

/** Signer in the catalog's form. @param scheme such as Authenticode */
export function signatureOf(
  { certificate, digest }: Pick<Signer, "certificate" | "digest">,
  scheme: string,
  time?: number,
): Signature {
  const type = certificate.publicKey.asymmetricKeyType?.toUpperCase() ?? "";
  const dated =
    time === undefined ? "" : `, timestamped ${new Date(time).toISOString().replace(".000Z", "Z")}`;
  return {
    signer: subjectOf(certificate),
    display: `${scheme}, ${type}/${digest.name.toUpperCase()}, ${commonNameOf(certificate)}${dated}`,
    fingerprint: thumbprintOf(certificate),
  };
}

/** Windows uses its own identifier for the attribute of RFC 3161, appendix A. */
const attributeIds = ["1.3.6.1.4.1.311.3.3.1", "1.2.840.113549.1.9.16.2.14"];

const what = "the timestamp";

/**
 * The latest time at which a signature was made, from an RFC 3161 timestamp in its unsigned attributes.
 * @returns milliseconds since 1970; a reason, if the timestamp is not valid; undefined: no timestamp
 */
function timestampOf(signer: Signer, options: InspectOptions): number | { reason: string } | undefined {
  try {
    const token = tokenOf(signer.unsigned);
    return token && verifiedTime(token, signer.signature, options);
  } catch (error) {
    if (error instanceof Fault) return { reason: error.message };
    throw error;
  }
}

/** Unsigned attributes may contain anything, because nothing authenticates them. */
function tokenOf(unsigned: Asn1 | undefined): Asn1 | undefined {
  for (const attribute of unsigned?.inside ?? []) {
    const [name, values] = sequenceOf(attribute, what);
    if (attributeIds.includes(oidOf(name, what))) return expectTag(values, tags.set, what).inside[0];
  }
  return undefined;
}

/** RFC 3161, 2.4.2. */
function verifiedTime(token: Asn1, signature: Uint8Array, { keys, now }: InspectOptions): number {
  const signed = signedDataOf(token, what);
  if (signed.contentType !== contentTypes.timestampInfo) throw malformed(`${what} holds something else`);
  const info = octetsOf(signed.content, what);
  verifySignature(signed, info, what);
  const [version, , imprint, , time] = sequenceOf(readAsn1(info, what), what);
  const [algorithm, hash] = sequenceOf(imprint, what);
  const digest = digestOf(algorithm, what);
  refuseWeak(digest, what);
  if (integerOf(version, what) !== 1) throw malformed(`${what} is not of version 1`);
  const isOfIt = createHash(digest.name).update(signature).digest().equals(octetsOf(hash, what));
  if (!isOfIt) throw badDigest(`${what} belongs to another signature`);
  const at = timeOf(time, what);
  if (at > now) throw malformed(`${what} is of ${new Date(at).toISOString()}, which is in the future`);
  chainOf(signed.signer.certificate, { among: signed.certificates, keys, at, usage: usages.timeStamping });
  return at;
}

const signedAttributes = {
  contentType: "1.2.840.113549.1.9.3",
  messageDigest: "1.2.840.113549.1.9.4",
} as const;

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
function verifySignature({ signer, contentType }: SignedData, content: Uint8Array, what: string): void {
  const { digest } = signer;
  const { publicKey } = signer.certificate;
  refuseOtherAlgorithm(signer, what);
  if (!verify(digest.name, signer.signedBytes, publicKey, signer.signature))
    throw new Fault("bad-signature", `${what} was not made by the key of its certificate, or was changed`);
  if (oidOf(attributeOf(signer, signedAttributes.contentType, what), what) !== contentType)
    throw malformed(`${what} is for another kind of content than it came with`);
  const expected = octetsOf(attributeOf(signer, signedAttributes.messageDigest, what), what);
  if (!createHash(digest.name).update(content).digest().equals(expected))
    throw badDigest(`${what} does not match the content it came with`);
  refuseWeak(digest, what);
}

function refuseOtherAlgorithm({ algorithm, digest, certificate }: Signer, what: string): void {
  const goesWith = algorithms.get(algorithm);
  const type = certificate.publicKey.asymmetricKeyType;
  if (goesWith === undefined || (type !== "rsa" && type !== "ec"))
    throw unsupported(`${what} is made with ${algorithm} (${type}), expected RSA PKCS #1 or ECDSA`);
  const isRsa = algorithm.startsWith("1.2.840.113549.");
  if ((goesWith ?? digest.name) !== digest.name || isRsa !== (type === "rsa"))
    throw malformed(`${what} names an algorithm that does not match its key and digest`);
}

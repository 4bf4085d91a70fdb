import { createHash, verify } from "node:crypto";
import type { Uncovered } from "../bytes/byte-source.ts";
import type { InspectOptions, Signature } from "../inspection.ts";
import { badDigest, badSignature, expired, Fault, malformed, unsupported } from "../verdict.ts";
import {
  type Asn1,
  context,
  expectTag,
  integerOf,
  octetsOf,
  oidOf,
  readAsn1,
  sequenceOf,
  tags,
  timeOf,
} from "./asn1.ts";
import { algorithmOf, type Digest, digestOf, refuseWeak } from "./digest.ts";
import {
  type Certificate,
  certificateIn,
  chainOf,
  commonNameOf,
  subjectOf,
  thumbprintOf,
  usages,
} from "./x509.ts";

export type SignedData = ReturnType<typeof signedDataOf>;
type Signer = ReturnType<typeof signerOf>;

export const contentTypes = {
  data: "1.2.840.113549.1.7.1",
  signedData: "1.2.840.113549.1.7.2",
  timestampInfo: "1.2.840.113549.1.9.16.1.4",
} as const;

const maxCertificates = 32;

/** As signedDataOf, for bytes. @throws Fault */
export const readSignedData = (bytes: Uint8Array, what: string) => signedDataOf(readAsn1(bytes, what), what);

/**
 * Reads CMS SignedData with one signer (RFC 5652), or PKCS #7 as Windows writes it (RFC 2315).
 * @throws Fault malformed; unsupported-format, for valid features that this reader does not support
 */
export function signedDataOf(found: Asn1, what: string) {
  const [type, wrapped, ...extra] = sequenceOf(found, what);
  if (oidOf(type, what) !== contentTypes.signedData || extra.length > 0)
    throw malformed(`${what} is not SignedData`);
  const [inner, ...more] = expectTag(wrapped, context(0), what).inside;
  if (more.length > 0) throw malformed(`${what} holds more than one SignedData`);
  const [version, digestSet, encapsulated, ...rest] = sequenceOf(inner, what);
  const certificateSet = rest[0]?.tag === context(0) ? rest.shift() : undefined;
  const revocations = rest[0]?.tag === context(1) ? rest.shift() : undefined;
  const signers = expectTag(rest.shift(), tags.set, what).inside;
  if (rest.length > 0) throw malformed(`${what} has elements after its signers`);
  const [info, ...others] = signers;
  if (!info || others.length > 0) throw unsupported(`${what} has ${signers.length} signers, expected one`);
  // Elements that no signature covers.
  const lists = { certificates: certificateSet?.inside ?? [], revocations };
  if (lists.certificates.length > maxCertificates)
    throw unsupported(`${what} holds ${lists.certificates.length} certificates, expected a few`);
  const certificates = lists.certificates.filter(({ tag }) => tag === tags.sequence).map(certificateIn);
  const { content, contentType } = encapsulatedOf(encapsulated, what);
  const signer = signerOf(info, certificates, what);
  // RFC 5652, 5.1; PKCS #7 has version 1 (RFC 2315, 9.1).
  refuseVersion(version, contentType === contentTypes.timestampInfo ? 3 : signer.version, what);
  refuseOtherDigests(expectTag(digestSet, tags.set, what).inside, signer.digest, what);
  return { contentType, content, certificates, signer, lists };
}

function encapsulatedOf(encapsulated: Asn1 | undefined, what: string) {
  const [type, wrapped, ...more] = sequenceOf(encapsulated, what);
  const [content, ...others] = wrapped ? expectTag(wrapped, context(0), what).inside : [];
  if (more.length > 0 || others.length > 0) throw malformed(`${what} has more than one content`);
  return { contentType: oidOf(type, what), content };
}

function refuseVersion(found: Asn1 | undefined, expected: number, what: string, whose = ""): void {
  const version = integerOf(found, what);
  if (version !== expected) throw malformed(`${what} has ${whose}version ${version}, expected ${expected}`);
}

function refuseOtherDigests(found: readonly Asn1[], digest: Digest, what: string): void {
  const names = found.map((algorithm) => digestOf(algorithm, what).name);
  if (names.length !== 1 || names[0] !== digest.name)
    throw malformed(`${what} announces the digests ${names.join(", ")}, and its signer uses ${digest.name}`);
}

function signerOf(info: Asn1, certificates: readonly Certificate[], what: string) {
  const [versionAt, identifier, digest, ...rest] = sequenceOf(info, what);
  const attributeSet = rest[0]?.tag === context(0) ? rest.shift() : undefined;
  const [algorithm, signature, unsigned, ...more] = rest;
  if (!attributeSet) throw unsupported(`${what} has no signed attributes, expected the digest there`);
  if (unsigned) expectTag(unsigned, context(1), what);
  if (more.length > 0) throw malformed(`${what} has elements after its unsigned attributes`);
  // The signature covers the attributes encoded as a SET, not as the [0] found here (RFC 5652, 5.4).
  const signedBytes = Uint8Array.from(attributeSet.raw);
  signedBytes[0] = tags.set;
  // RFC 5652, 5.3: version 1 has issuer and serial number, version 3 a key identifier.
  const version = identifier?.tag === tags.sequence ? 1 : 3;
  refuseVersion(versionAt, version, what, "a signer of ");
  return {
    version,
    certificate: certificateNamed(identifier, certificates, what),
    digest: digestOf(digest, what),
    attributes: attributesOf(attributeSet.inside, what),
    signedBytes,
    algorithm: algorithmOf(algorithm, what),
    signature: octetsOf(signature, what),
    unsigned,
  };
}

function certificateNamed(identifier: Asn1 | undefined, certificates: readonly Certificate[], what: string) {
  const found = certificates.find(namedBy(identifier, what));
  if (!found) throw malformed(`${what} does not hold the certificate of its signer`);
  return found;
}

function namedBy(identifier: Asn1 | undefined, what: string): (certificate: Certificate) => boolean {
  const same = (one: Uint8Array | undefined, other: Uint8Array) =>
    one !== undefined && Buffer.compare(one, other) === 0;
  if (identifier?.tag === 0x80) return ({ subjectKeyId }) => same(subjectKeyId, identifier.content);
  const [issuer, serial, ...more] = sequenceOf(identifier, what);
  if (!issuer || more.length > 0) throw malformed(`${what} does not name the certificate of its signer`);
  const number = expectTag(serial, tags.integer, what).content;
  return (certificate) => same(certificate.issuer, issuer.raw) && same(certificate.serial, number);
}

function attributesOf(found: readonly Asn1[], what: string): ReadonlyMap<string, readonly Asn1[]> {
  const attributes = new Map<string, readonly Asn1[]>();
  for (const attribute of found) {
    const [name, set] = sequenceOf(attribute, what);
    const oid = oidOf(name, what);
    if (attributes.has(oid)) throw malformed(`${what} has the attribute ${oid} twice`);
    attributes.set(oid, expectTag(set, tags.set, what).inside);
  }
  return attributes;
}

/** The single value of a signed attribute. @throws Fault malformed */
function attributeOf({ attributes }: Signer, oid: string, what: string): Asn1 {
  const [value, ...others] = attributes.get(oid) ?? [];
  if (!value || others.length > 0)
    throw malformed(`${what} has ${others.length + (value ? 1 : 0)} values of ${oid}, expected one`);
  return value;
}

export interface Trusted {
  /** Milliseconds since 1970; undefined: no timestamp. */
  time: number | undefined;
  notes: readonly string[];
  /** Ranges of the CMS structure that no signature covers. */
  uncovered: readonly Uncovered[];
}

/**
 * Verifies a signature, and that its key was allowed at the time of its timestamp or, without one, is allowed now.
 * @param bytes encoded signature @throws Fault
 */
export function verifyTrusted(
  signed: SignedData,
  content: Uint8Array,
  bytes: Uint8Array,
  { usage, what, options }: { usage: readonly string[]; what: string; options: InspectOptions },
): Trusted {
  verifySignature(signed, content, what);
  const { signer, certificates: among } = signed;
  const { time, reason } = timestampOf(signer, options);
  const notes = reason === undefined ? [] : [`${what} has a timestamp that does not count: ${reason}`];
  try {
    const at = time ?? options.now;
    const chain = chainOf(signer.certificate, { among, keys: options.keys, at, usage });
    return { time, notes, uncovered: uncoveredIn(signed, chain, bytes) };
  } catch (error) {
    if (!(error instanceof Fault) || error.verdict !== "expired-certificate") throw error;
    throw expired([error.message, ...notes].join("; "));
  }
}

function uncoveredIn(
  { lists, signer, certificates }: SignedData,
  chain: readonly Certificate[],
  bytes: Uint8Array,
): readonly Uncovered[] {
  const used = chain.filter((certificate) => certificates.includes(certificate)).map(({ der }) => der);
  const open: [string, Asn1 | undefined][] = [
    ...lists.certificates
      .filter(({ raw }) => used.every((der) => der !== raw))
      .map((found): [string, Asn1] => ["a certificate that is not needed", found]),
    ["revocation lists in the signature", lists.revocations],
    ["unsigned attributes of the signature", signer.unsigned],
  ];
  return open.flatMap(([why, found]) => {
    if (!found) return [];
    const from = found.raw.byteOffset - bytes.byteOffset;
    return [{ from, to: from + found.raw.length, why }];
  });
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

const stamp = "the timestamp";

/**
 * The latest time at which a signature was made, from an RFC 3161 timestamp in its unsigned attributes.
 * @returns milliseconds since 1970; a reason, if the timestamp is not valid; neither without a timestamp
 */
function timestampOf(signer: Signer, options: InspectOptions): { time?: number; reason?: string } {
  try {
    const token = tokenOf(signer.unsigned);
    return token ? { time: verifiedTime(token, signer.signature, options) } : {};
  } catch (error) {
    if (error instanceof Fault) return { reason: error.message };
    throw error;
  }
}

/** Unsigned attributes may contain anything, because nothing authenticates them. */
function tokenOf(unsigned: Asn1 | undefined): Asn1 | undefined {
  for (const attribute of unsigned?.inside ?? []) {
    const [name, values] = sequenceOf(attribute, stamp);
    if (attributeIds.includes(oidOf(name, stamp))) return expectTag(values, tags.set, stamp).inside[0];
  }
  return undefined;
}

/** RFC 3161, 2.4.2. */
function verifiedTime(token: Asn1, signature: Uint8Array, { keys, now }: InspectOptions): number {
  const signed = signedDataOf(token, stamp);
  if (signed.contentType !== contentTypes.timestampInfo) throw malformed(`${stamp} holds something else`);
  const info = octetsOf(signed.content, stamp);
  verifySignature(signed, info, stamp);
  const [version, , imprint, , time] = sequenceOf(readAsn1(info, stamp), stamp);
  const [algorithm, hash] = sequenceOf(imprint, stamp);
  const digest = digestOf(algorithm, stamp);
  refuseWeak(digest, stamp);
  if (integerOf(version, stamp) !== 1) throw malformed(`${stamp} is not of version 1`);
  const isOfIt = createHash(digest.name).update(signature).digest().equals(octetsOf(hash, stamp));
  if (!isOfIt) throw badDigest(`${stamp} belongs to another signature`);
  const at = timeOf(time, stamp);
  if (at > now) throw malformed(`${stamp} is of ${new Date(at).toISOString()}, which is in the future`);
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
    throw badSignature(`${what} was not made by the key of its certificate, or was changed`);
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

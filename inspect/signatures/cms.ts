import { malformed, unsupported } from "../verdict.ts";
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
} from "./asn1.ts";
import { algorithmOf, type Digest, digestOf } from "./digest.ts";
import { type Certificate, certificateIn } from "./x509.ts";

export type SignedData = ReturnType<typeof signedDataOf>;
export type Signer = ReturnType<typeof signerOf>;

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
  refuseVersion(integerOf(version, what), contentType, signer, what);
  refuseOtherDigests(expectTag(digestSet, tags.set, what).inside, signer.digest, what);
  return { contentType, content, certificates, signer, lists };
}

/** Type of the signed content, and the content if it is embedded. */
function encapsulatedOf(encapsulated: Asn1 | undefined, what: string) {
  const [type, wrapped, ...more] = sequenceOf(encapsulated, what);
  const [content, ...others] = wrapped ? expectTag(wrapped, context(0), what).inside : [];
  if (more.length > 0 || others.length > 0) throw malformed(`${what} has more than one content`);
  return { contentType: oidOf(type, what), content };
}

/** RFC 5652, 5.1; PKCS #7 has version 1 (RFC 2315, 9.1). */
function refuseVersion(version: number, contentType: string, signer: Signer, what: string): void {
  const expected = contentType === contentTypes.timestampInfo ? 3 : signer.version;
  if (version !== expected) throw malformed(`${what} has version ${version}, expected ${expected}`);
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
  return {
    version: refuseSignerVersion(integerOf(versionAt, what), identifier, what),
    certificate: certificateOf(identifier, certificates, what),
    digest: digestOf(digest, what),
    attributes: attributesOf(attributeSet.inside, what),
    /** The encoded attributes. */
    signedBytes,
    algorithm: algorithmOf(algorithm, what),
    signature: octetsOf(signature, what),
    unsigned,
  };
}

/** RFC 5652, 5.3: version 1 has issuer and serial number, version 3 a key identifier. */
function refuseSignerVersion(version: number, identifier: Asn1 | undefined, what: string): number {
  const expected = identifier?.tag === tags.sequence ? 1 : 3;
  if (version !== expected)
    throw malformed(`${what} has a signer of version ${version}, expected ${expected}`);
  return version;
}

function certificateOf(
  identifier: Asn1 | undefined,
  certificates: readonly Certificate[],
  what: string,
): Certificate {
  const isNamed = namedBy(identifier, what);
  const found = certificates.find(isNamed);
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

/** Values of the signed attributes by object identifier. */
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
export function attributeOf({ attributes }: Signer, oid: string, what: string): Asn1 {
  const [value, ...others] = attributes.get(oid) ?? [];
  if (!value || others.length > 0)
    throw malformed(`${what} has ${others.length + (value ? 1 : 0)} values of ${oid}, expected one`);
  return value;
}

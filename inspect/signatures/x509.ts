import { type KeyObject, X509Certificate } from "node:crypto";
import { malformed } from "../verdict.ts";
import { type Asn1, context, expectTag, integerOf, oidOf, readAsn1, sequenceOf, tags } from "./asn1.ts";

export type Certificate = ReturnType<typeof certificateIn>;

const what = "a certificate";

const extensionIds = {
  subjectKeyId: "2.5.29.14",
  keyUsage: "2.5.29.15",
  basicConstraints: "2.5.29.19",
  extendedKeyUsage: "2.5.29.37",
};

/** Apple's extensions that name the programme a certificate belongs to: `1.2.840.113635.100.6`. */
const appleMarker = "1.2.840.113635.100.6.";

/** As certificateIn, for bytes. @throws Fault malformed */
export const readCertificate = (der: Uint8Array) => certificateIn(readAsn1(der, what));

/** A certificate, with the fields that decide whether it may sign (RFC 5280). @throws Fault malformed */
export function certificateIn(found: Asn1) {
  const [body, algorithm] = sequenceOf(found, what);
  const der = found.raw;
  const fields = [...sequenceOf(body, what)];
  if (fields[0]?.tag === context(0)) fields.shift();
  const [serial, , issuer, , subject] = fields;
  const extensions = readExtensions(fields.find(({ tag }) => tag === context(3)));
  const usage = extensions.get(extensionIds.keyUsage)?.content;
  const isAllowed = (bit: number) => usage === undefined || ((usage[1] ?? 0) & (0x80 >> bit)) !== 0;
  const [isCa, maxPathLength] = sequenceOrNone(extensions.get(extensionIds.basicConstraints));
  const usages = extensions.get(extensionIds.extendedKeyUsage);
  let made: Parsed | undefined;
  return {
    der,
    /** Created lazily: most certificates in a signature are never used. @throws Fault malformed */
    get x509() {
      made ??= parsed(der);
      return made.x509;
    },
    get publicKey() {
      made ??= parsed(der);
      return made.publicKey;
    },
    // Encoded, because signatures identify a certificate by issuer and serial number.
    issuer: expectTag(issuer, tags.sequence, what).raw,
    subject: expectTag(subject, tags.sequence, what).raw,
    serial: expectTag(serial, tags.integer, what).content,
    /** Extended key usages as object identifiers; undefined: unrestricted. */
    usages: usages && sequenceOf(usages, what).map((oid) => oidOf(oid, what)),
    maySign: isAllowed(0),
    mayIssue: isCa?.tag === tags.boolean && isCa.content[0] === 0xff && isAllowed(5),
    /** Number of CAs allowed between this certificate and a leaf. */
    pathLength: maxPathLength ? integerOf(maxPathLength, what) : Number.POSITIVE_INFINITY,
    subjectKeyId: extensions.get(extensionIds.subjectKeyId)?.content,
    signatureAlgorithm: oidOf(sequenceOf(algorithm, what)[0], what),
    unknown: extensions.unknown,
  };
}

interface Parsed {
  x509: X509Certificate;
  publicKey: KeyObject;
}

/**
 * Cached: the packages of a release share few signers, and parsing a certificate takes as long as verifying
 * with it.
 */
const recent = new Map<string, Parsed>();
const maxRecent = 64;

function parsed(der: Uint8Array): Parsed {
  const bytes = Buffer.from(der).toString("latin1");
  const known = recent.get(bytes);
  if (known) return known;
  const made = parse(der);
  const [oldest] = recent.keys();
  if (recent.size === maxRecent && oldest !== undefined) recent.delete(oldest);
  recent.set(bytes, made);
  return made;
}

function parse(der: Uint8Array): Parsed {
  try {
    const x509 = new X509Certificate(der);
    return { x509, publicKey: x509.publicKey };
  } catch (error) {
    throw malformed(`${what} cannot be read: ${(error as Error).message}`);
  }
}

/** Known extensions, each with its parsed ASN.1 content. */
class Extensions extends Map<string, Asn1> {
  /** Critical extensions that are not understood here, so their restrictions are unknown. */
  unknown: string[] = [];
}

function readExtensions(found: Asn1 | undefined): Extensions {
  const extensions = new Extensions();
  const known = Object.values(extensionIds);
  for (const extension of found ? sequenceOf(found.inside[0], what) : []) {
    const [name, ...rest] = sequenceOf(extension, what);
    const oid = oidOf(name, what);
    const isCritical = rest.length === 2 && rest[0]?.content[0] === 0xff;
    const value = expectTag(rest.at(-1), tags.octets, what).content;
    if (extensions.has(oid)) throw malformed(`${what} has the extension ${oid} twice`);
    if (known.includes(oid)) extensions.set(oid, readAsn1(value, `the extension ${oid} of ${what}`));
    else if (isCritical && !oid.startsWith(appleMarker)) extensions.unknown.push(oid);
  }
  return extensions;
}

const sequenceOrNone = (found: Asn1 | undefined) => (found ? sequenceOf(found, what) : []);

/** One part a line. Node gives undefined for an empty subject. */
const partsOf = ({ x509 }: Certificate): string[] => ((x509.subject as string | undefined) ?? "").split("\n");

/** RFC 4514 order: the last part first. */
export const subjectOf = (certificate: Certificate): string => partsOf(certificate).reverse().join(",");

/** The most specific one of several common names. */
export const commonNameOf = (certificate: Certificate): string => {
  const names = partsOf(certificate).filter((part) => part.startsWith("CN="));
  return names.at(-1)?.slice(3) ?? subjectOf(certificate);
};

/** SHA-1 in lower-case hexadecimal, the thumbprint that Windows and macOS show. */
export const thumbprintOf = ({ x509 }: Certificate): string =>
  x509.fingerprint.replaceAll(":", "").toLowerCase();

import { X509Certificate } from "node:crypto";
import { isWithin, type Keys, type X509Key } from "../keys.ts";
import { expired, Fault, malformed, untrusted, weak } from "../verdict.ts";
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
  // Most certificates in a signature are never used.
  const lazily = () => (made ??= parsed(der));
  return {
    der,
    /** @throws Fault malformed, as publicKey */
    get x509() {
      return lazily().x509;
    },
    get publicKey() {
      return lazily().publicKey;
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

type Parsed = Pick<X509Certificate, "publicKey"> & { x509: X509Certificate };

/** Packages of a release share few signers, and parsing a certificate takes as long as verifying with it. */
const recent = new Map<string, Parsed>();
const maxRecent = 64;

function parsed(der: Uint8Array): Parsed {
  const bytes = Buffer.from(der).toString("latin1");
  const known = recent.get(bytes);
  if (known) return known;
  try {
    const x509 = new X509Certificate(der);
    const made = { x509, publicKey: x509.publicKey };
    const [oldest] = recent.keys();
    if (recent.size === maxRecent && oldest !== undefined) recent.delete(oldest);
    recent.set(bytes, made);
    return made;
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

/** Extended key usages (RFC 5280, 4.2.1.12). */
export const usages = {
  codeSigning: ["1.3.6.1.5.5.7.3.3"],
  /** Apple's usage for installers, and the general one. */
  installerSigning: ["1.2.840.113635.100.4.13", "1.3.6.1.5.5.7.3.3"],
  timeStamping: ["1.3.6.1.5.5.7.3.8"],
} as const;

/** SHA-1 and MD5 with RSA, DSA and ECDSA. */
const weakSignatures = [
  "1.2.840.113549.1.1.4",
  "1.2.840.113549.1.1.5",
  "1.2.840.10040.4.3",
  "1.2.840.10045.4.1",
  "1.3.14.3.2.29",
];

const maxChainCertificates = 8;

interface Wanted {
  /** Certificates that are embedded in the signature. */
  among: readonly Certificate[];
  keys: Keys;
  /** Time of the signature, in milliseconds since 1970. */
  at: number;
  usage: readonly string[];
}

/**
 * Builds the chain from the signer's to an allowed certificate, both included (RFC 5280, section 6, no revocation).
 * @throws Fault untrusted-key, expired-certificate, weak-digest: the problem of the last candidate chain
 */
export function chainOf(signer: Certificate, wanted: Wanted): readonly Certificate[] {
  let worst: Fault | undefined;
  for (const path of waysUp([signer], wanted, new Set())) {
    try {
      for (const [index, certificate] of path.entries())
        refuseLink(certificate, index, wanted, index === path.length - 1);
      for (const key of wanted.keys.x509)
        if (path.some((certificate) => isThat(key, certificate))) refuseWindow(key, wanted.at);
      return path;
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      worst = error;
    }
  }
  const name = commonNameOf(signer);
  throw worst ?? untrusted(`the certificate of ${name} is neither allowed nor issued by an allowed CA`);
}

/** Each certificate is tried once, so that a web of cross-signed certificates takes no longer. */
function* waysUp(
  path: readonly Certificate[],
  wanted: Wanted,
  seen: Set<Certificate>,
): Generator<readonly Certificate[]> {
  const last = path.at(-1);
  if (!last || path.length > maxChainCertificates) return;
  for (const key of wanted.keys.x509) {
    const allowed = certificateOf(key);
    if (isThat(key, last)) yield path;
    else if (isIssuedBy(last, allowed)) yield [...path, allowed];
  }
  for (const issuer of wanted.among) {
    if (seen.has(issuer) || path.includes(issuer) || !isIssuedBy(last, issuer)) continue;
    seen.add(issuer);
    yield* waysUp([...path, issuer], wanted, seen);
  }
}

const certificates = new WeakMap<X509Key, Certificate>();

/** Cached per key. @throws Fault malformed */
export function certificateOf(key: X509Key): Certificate {
  const found = certificates.get(key) ?? readCertificate(key.certificate.raw);
  certificates.set(key, found);
  return found;
}

const isThat = (key: X509Key, { der }: Certificate): boolean =>
  Buffer.compare(certificateOf(key).der, der) === 0;

const isIssuedBy = (certificate: Certificate, issuer: Certificate): boolean =>
  Buffer.compare(certificate.issuer, issuer.subject) === 0 && isSignedBy(certificate.x509, issuer.x509);

const signedBy = new WeakMap<X509Certificate, WeakMap<X509Certificate, boolean>>();

/** Cached per pair of certificates. */
function isSignedBy(x509: X509Certificate, issuer: X509Certificate): boolean {
  const known = signedBy.get(x509) ?? new WeakMap<X509Certificate, boolean>();
  const isSigned = known.get(issuer) ?? (x509.checkIssued(issuer) && x509.verify(issuer.publicKey));
  signedBy.set(x509, known.set(issuer, isSigned));
  return isSigned;
}

/** @param index 0: the signer's certificate */
function refuseLink(certificate: Certificate, index: number, wanted: Wanted, isTop: boolean): void {
  const name = commonNameOf(certificate);
  const unfit = (reason: string) => untrusted(`the certificate of ${name} ${reason}`);
  if (certificate.unknown.length > 0)
    throw unfit(`is restricted by ${certificate.unknown[0]}, which is unknown here`);
  if (index === 0 && !certificate.maySign) throw unfit("may not be used for signatures");
  if (index > 0 && !certificate.mayIssue) throw unfit("is not that of a CA");
  if (index > certificate.pathLength + 1) throw unfit(`allows ${certificate.pathLength} CAs below it`);
  const isForIt = certificate.usages?.some((usage) => wanted.usage.includes(usage)) ?? index > 0;
  // A time-stamping key must have no other use (RFC 3161, 2.3): a code-signing key could date its own signatures.
  const isShared = index === 0 && wanted.usage === usages.timeStamping && certificate.usages?.length !== 1;
  const use = wanted.usage === usages.timeStamping ? "timestamps" : "signing code";
  if (!isForIt || isShared) throw unfit(`is not for ${use}${isForIt ? " alone" : ""}`);
  // The signature of the allowed certificate does not matter, because that certificate is trusted directly.
  if (!isTop && weakSignatures.includes(certificate.signatureAlgorithm))
    throw weak(`the certificate of ${name} is signed with SHA-1 or MD5, expected SHA-256 or stronger`);
  refuseExpired(certificate, name, wanted.at);
}

function refuseExpired({ x509 }: Certificate, name: string, at: number): void {
  const [from, to] = [x509.validFromDate.getTime(), x509.validToDate.getTime()];
  if (at >= from && at <= to) return;
  throw expired(
    `the certificate of ${name} is good from ${dayOf(from)} to ${dayOf(to)}, expected at ${dayOf(at)}`,
  );
}

/** An allowed key outside its window is rejected, even if its CA is allowed. */
function refuseWindow(key: X509Key, at: number): void {
  const { file, notBefore, notAfter } = key;
  if (isWithin(key, at)) return;
  throw untrusted(
    `${file} is allowed to sign from ${dayOf(notBefore)} to ${dayOf(notAfter)}, and not on ${dayOf(at)}`,
  );
}

const dayOf = (time = Number.NaN): string =>
  Number.isNaN(time) ? "…" : new Date(time).toISOString().slice(0, 10);

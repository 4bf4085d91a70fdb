import type { X509Certificate } from "node:crypto";
import type { Keys, X509Key } from "../keys.ts";
import { Fault } from "../verdict.ts";
import { type Certificate, commonNameOf, readCertificate } from "./x509.ts";

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
 * Builds the chain from the signer's to an allowed certificate, both included (RFC 5280, section 6, without
 * revocation).
 * @throws Fault untrusted-key, expired-certificate, weak-digest: the problem of the last candidate chain
 */
export function chainOf(signer: Certificate, wanted: Wanted): readonly Certificate[] {
  let worst: Fault | undefined;
  for (const path of waysUp([signer], wanted, new Set())) {
    try {
      for (const [index, certificate] of path.entries()) refuseLink(certificate, index, wanted, path);
      for (const key of wanted.keys.x509) if (path.some(isThat(key))) refuseWindow(key, wanted.at);
      return path;
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      worst = error;
    }
  }
  throw (
    worst ??
    new Fault(
      "untrusted-key",
      `the certificate of ${commonNameOf(signer)} is neither allowed nor issued by an allowed CA`,
    )
  );
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
    if (isThat(key)(last)) yield path;
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
  const known = certificates.get(key);
  if (known) return known;
  const read = readCertificate(key.certificate.raw);
  certificates.set(key, read);
  return read;
}

const isThat =
  (key: X509Key) =>
  ({ der }: Certificate): boolean =>
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
function refuseLink(
  certificate: Certificate,
  index: number,
  wanted: Wanted,
  path: readonly Certificate[],
): void {
  const name = commonNameOf(certificate);
  const untrusted = (reason: string) => new Fault("untrusted-key", `the certificate of ${name} ${reason}`);
  if (certificate.unknown.length > 0)
    throw untrusted(`is restricted by ${certificate.unknown[0]}, which is unknown here`);
  if (index === 0 && !certificate.maySign) throw untrusted("may not be used for signatures");
  if (index > 0 && !certificate.mayIssue) throw untrusted("is not that of a CA");
  if (index > certificate.pathLength + 1) throw untrusted(`allows ${certificate.pathLength} CAs below it`);
  const isForIt = certificate.usages?.some((usage) => wanted.usage.includes(usage)) ?? index > 0;
  // A time-stamping key must have no other use (RFC 3161, 2.3): a code-signing key could date its own
  // signatures.
  const isShared = index === 0 && wanted.usage === usages.timeStamping && certificate.usages?.length !== 1;
  if (!isForIt || isShared)
    throw untrusted(`is not for ${usageName(wanted.usage)}${isForIt ? " alone" : ""}`);
  // The signature of the allowed certificate does not matter, because that certificate is trusted directly.
  if (index < path.length - 1 && weakSignatures.includes(certificate.signatureAlgorithm))
    throw new Fault(
      "weak-digest",
      `the certificate of ${name} is signed with SHA-1 or MD5, expected SHA-256 or stronger`,
    );
  refuseExpired(certificate, name, wanted.at);
}

const usageName = (usage: readonly string[]): string =>
  usage === usages.timeStamping ? "timestamps" : "signing code";

function refuseExpired({ x509 }: Certificate, name: string, at: number): void {
  const [from, to] = [x509.validFromDate.getTime(), x509.validToDate.getTime()];
  if (at >= from && at <= to) return;
  throw new Fault(
    "expired-certificate",
    `the certificate of ${name} is good from ${dayOf(from)} to ${dayOf(to)}, expected at ${dayOf(at)}`,
  );
}

/** An allowed key outside its window is rejected, even if its CA is allowed. */
function refuseWindow({ file, notBefore, notAfter }: X509Key, at: number): void {
  if (at >= (notBefore ?? at) && at <= (notAfter ?? at)) return;
  throw new Fault(
    "untrusted-key",
    `${file} is allowed to sign from ${dayOf(notBefore)} to ${dayOf(notAfter)}, and not on ${dayOf(at)}`,
  );
}

const dayOf = (time = Number.NaN): string =>
  Number.isNaN(time) ? "…" : new Date(time).toISOString().slice(0, 10);

import { verify } from "node:crypto";
import type { Xar, XarSignature } from "../../archives/xar.ts";
import { shifted } from "../../bytes/ranges.ts";
import type { InspectOptions } from "../../inspection.ts";
import { readPaddedAsn1 } from "../../signatures/asn1.ts";
import { signedDataOf } from "../../signatures/cms.ts";
import { type Trusted, verifyTrusted } from "../../signatures/cms-trust.ts";
import { type Digest, refuseWeak } from "../../signatures/digest.ts";
import { isRsaSigned } from "../../signatures/rsa-digest.ts";
import { type Certificate, readCertificate } from "../../signatures/x509.ts";
import { chainOf, usages } from "../../signatures/x509-chain.ts";
import { Fault, malformed } from "../../verdict.ts";

/** Keyed by the last arc of the object identifier; SHA-1 by its octets. */
const digestOids = new Map<string, number | readonly number[]>([
  ["sha1", [0x2b, 0x0e, 0x03, 0x02, 0x1a]],
  ["sha256", 1],
  ["sha512", 3],
]);

const what = "its installer signature";

/** The signers that the table claims, not yet verified. @throws Fault unsigned, malformed */
export function xarSigners({ signatures }: Xar): readonly [Certificate, ...Certificate[]] {
  if (signatures.length === 0) throw new Fault("unsigned", "it has no signature");
  const [first, ...more] = signatures.flatMap(({ certificates }) => certificates).map(readCertificate);
  if (!first) throw malformed("its signature comes without a certificate");
  return [first, ...more];
}

/**
 * Verifies every signature over the table's hash. All must be from the same, allowed certificate.
 * @throws Fault
 */
export function verifyXar(xar: Xar, options: InspectOptions): Trusted {
  const [signer, ...among] = xarSigners(xar);
  // The macOS installer accepts SHA-1 here, and packages for older versions of macOS have only that.
  for (const digest of digestsOf(xar))
    if (digest.name !== "sha1") refuseWeak(digest, "its table of contents");
  let trusted: Trusted | undefined;
  for (const signature of xar.signatures) {
    if (signature.style === "RSA") refuseOtherRsa(signature, signer, xar);
    else if (signature.style === "CMS") trusted = verifyCms(signature, signer, xar, options);
    else
      throw new Fault("unsupported-format", `${what} has the style ${signature.style}, expected RSA or CMS`);
  }
  if (trusted) return trusted;
  chainOf(signer, { among, keys: options.keys, at: options.now, usage: usages.installerSigning });
  return { time: undefined, notes: [], uncovered: [] };
}

export const digestsOf = ({ digest, files }: Xar): readonly Digest[] => [
  ...new Set([digest, ...files.flatMap(({ parts }) => parts.map(({ digest }) => digest))]),
];

/** Apple's tools sign the hash itself; other tools hash it again. */
function refuseOtherRsa(
  signature: XarSignature,
  { publicKey }: Certificate,
  { heap, hash, digest }: Xar,
): void {
  const bytes = Buffer.from(heap.read(signature.offset, signature.size));
  const isOver = isRsaSigned(publicKey, bytes, hash, digestOids.get(digest.name) ?? []);
  if (publicKey.asymmetricKeyType !== "rsa" || !(isOver || verify("sha256", hash, publicKey, bytes)))
    throw new Fault(
      "bad-signature",
      `${what} was not made by the key of its certificate over this table of contents`,
    );
}

function verifyCms(
  signature: XarSignature,
  signer: Certificate,
  { heap, heapAt, hash }: Xar,
  options: InspectOptions,
): Trusted {
  const bytes = Buffer.from(heap.read(signature.offset, signature.size));
  const found = readPaddedAsn1(bytes, what);
  const signed = signedDataOf(found, what);
  if (signed.content) throw malformed(`${what} is over something of its own`);
  if (Buffer.compare(signed.signer.certificate.der, signer.der) !== 0)
    throw malformed(`${what} has two signers, expected one`);
  const trusted = verifyTrusted(signed, hash, bytes, { usage: usages.installerSigning, what, options });
  return { ...trusted, uncovered: trusted.uncovered.map(shifted(heapAt + signature.offset)) };
}

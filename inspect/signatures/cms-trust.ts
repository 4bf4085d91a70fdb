import type { Uncovered } from "../bytes/ranges.ts";
import type { InspectOptions, Signature } from "../inspection.ts";
import type { Asn1 } from "./asn1.ts";
import type { SignedData, Signer } from "./cms.ts";
import { verifySignature } from "./cms-verify.ts";
import { timestampOf } from "./timestamp.ts";
import { type Certificate, commonNameOf, subjectOf, thumbprintOf } from "./x509.ts";
import { chainOf } from "./x509-chain.ts";

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
  const { keys, now } = options;
  const chain = chainOf(signed.signer.certificate, {
    among: signed.certificates,
    keys,
    at: time ?? now,
    usage,
  });
  return { time, notes, uncovered: uncoveredIn(signed, chain, bytes) };
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

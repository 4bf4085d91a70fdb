import type { InspectOptions } from "../inspection.ts";
import { badDigest, malformed } from "../verdict.ts";
import { octetsOf, oidOf, readAsn1, sequenceOf } from "./asn1.ts";
import { type SignedData, type Trusted, verifyTrusted } from "./cms.ts";
import { digestOf } from "./digest.ts";
import { usages } from "./x509.ts";

/** Authenticode (Windows Authenticode Portable Executable Signature Format, Microsoft 2008). */
const indirectData = "1.3.6.1.4.1.311.2.1.4";

/** Object identifiers for kinds of files. */
export const subjects = { pe: "1.3.6.1.4.1.311.2.1.15", msi: "1.3.6.1.4.1.311.2.1.30" } as const;

type IndirectData = ReturnType<typeof indirectDataOf>;

/** SpcIndirectDataContent, which the signature covers. @throws Fault malformed, also if it signs another kind of file */
export function indirectDataOf(signed: SignedData, subject: string, what: string) {
  if (signed.contentType !== indirectData || !signed.content)
    throw malformed(`${what} is not an Authenticode signature`);
  const [data, digestInfo, ...more] = sequenceOf(signed.content, what);
  const [type, value] = sequenceOf(data, what);
  const [algorithm, hash] = sequenceOf(digestInfo, what);
  if (more.length > 0) throw malformed(`${what} is over more than one digest`);
  if (oidOf(type, what) !== subject) throw malformed(`${what} is for another kind of file`);
  return {
    // Algorithm and value of the file's hash.
    digest: digestOf(algorithm, what),
    expected: octetsOf(hash, what),
    /** Data specific to the kind of file. */
    value,
    /** The encoded content, as it is signed. */
    content: signed.content.content,
  };
}

/**
 * Verifies the file's hash against the indirect data, and the signature over that. Callers refuse weak digests.
 * @param found the hash, computed in the way of this kind of file @param bytes encoded signature
 * @throws Fault
 */
export function verifyAuthenticode(
  signed: SignedData,
  { digest, expected, content }: IndirectData,
  found: Buffer,
  bytes: Uint8Array,
  { what, options }: { what: string; options: InspectOptions },
): Trusted {
  if (!found.equals(expected)) {
    const hex = Buffer.from(expected).toString("hex");
    throw badDigest(`its ${digest.name} is ${found.toString("hex")}, and ${what} is over ${hex}`);
  }
  return verifyTrusted(signed, content, bytes, { usage: usages.codeSigning, what, options });
}

/** SpcPeImageData may contain page hashes, as attributes of a serialized object. */
const serializedObject = "a6b586d5b4a12466ae05a217da8e60d6";
const pageHashes = new Map([
  ["1.3.6.1.4.1.311.2.3.1", "sha1"],
  ["1.3.6.1.4.1.311.2.3.2", "sha256"],
] as const);

export function pageHashesOf({ value }: IndirectData, what: string) {
  const object = value?.inside.at(-1)?.inside[0];
  if (object?.tag !== 0xa1) return undefined;
  const [id, data] = object.inside;
  if (Buffer.from(octetsOf(id, what)).toString("hex") !== serializedObject) return undefined;
  for (const attribute of readAsn1(octetsOf(data, what), what).inside) {
    const [name, values] = sequenceOf(attribute, what);
    const digest = pageHashes.get(oidOf(name, what) as "1.3.6.1.4.1.311.2.3.2");
    if (digest) return { digest, table: octetsOf(values?.inside[0], what) };
  }
  return undefined;
}

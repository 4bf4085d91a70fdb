import type { FileSignature, InspectOptions } from "../../inspection.ts";
import type { X509Key } from "../../keys.ts";
import { isRsaSigned } from "../../signatures/rsa-digest.ts";
import type { Certificate } from "../../signatures/x509.ts";
import { certificateOf } from "../../signatures/x509-chain.ts";
import { malformed, type Verdict } from "../../verdict.ts";
import { integersOf, type RpmHeader, textsOf } from "./header.ts";
import { type RpmLayout, signatureTags } from "./layout.ts";

/** Header tags: file digests, their algorithm, and the three parts of a file name. */
const fileTags = { digests: 1035, digestAlgorithm: 5011, folderOf: 1116, names: 1117, folders: 1118 };

/**
 * Digests that IMA signatures may use: number in IMA, number in OpenPGP, last arc of the object identifier.
 */
const algorithms = [
  { ima: 4, openpgp: 8, oid: 1 },
  { ima: 5, openpgp: 9, oid: 2 },
  { ima: 6, openpgp: 10, oid: 3 },
];

/**
 * Checks the IMA signature of each file against the digest in the header. Nothing signs the header part that
 * holds these signatures, so an invalid one is an error of the package.
 * @throws Fault malformed
 */
export function fileSignaturesOf({ signatures, main }: RpmLayout, options: InspectOptions): FileSignature[] {
  const written = textsOf(signatures, signatureTags.fileSignatures);
  if (written.length === 0) return [];
  const digests = textsOf(main, fileTags.digests);
  const names = namesOf(main);
  if (written.length !== digests.length || digests.length !== names.length)
    throw malformed(`there are ${written.length} file signatures for ${names.length} files`);
  const algorithm = integersOf(main, fileTags.digestAlgorithm)[0];
  const signers = options.keys.x509.map((key) => ({ key, certificate: certificateOf(key) }));
  return written.flatMap((hex, index) => {
    const [name, digest] = [names[index] ?? "", digests[index] ?? ""];
    if (hex === "") return [];
    const signature = imaSignature(hex, name);
    const verdict = verdictOf(signature, { digest, algorithm }, signers, options.now);
    return [{ name, signature: { fingerprint: signature.keyId }, verdict }];
  });
}

/** Paths of the files of the header. @throws Fault malformed */
export function namesOf(main: RpmHeader): string[] {
  const folders = textsOf(main, fileTags.folders);
  const folderOf = integersOf(main, fileTags.folderOf);
  return textsOf(main, fileTags.names).map((name, index) => {
    const folder = folders[folderOf[index] ?? -1];
    if (folder === undefined) throw malformed(`the file ${name} is in no folder`);
    return folder + name;
  });
}

interface ImaSignature {
  algorithm: number;
  /** The last four bytes of the key id, in hexadecimal. */
  keyId: string;
  bytes: Buffer;
}

/** security.ima, version 2 (struct signature_v2_hdr of Linux, security/integrity/integrity.h). */
function imaSignature(hex: string, name: string): ImaSignature {
  const bytes = Buffer.from(hex, "hex");
  const isWhole =
    bytes.toString("hex") === hex && bytes.length > 9 && bytes.readUInt16BE(7) === bytes.length - 9;
  if (!isWhole || bytes[0] !== 3 || bytes[1] !== 2)
    throw malformed(`the signature of ${name} is not an IMA signature of version 2`);
  return { algorithm: bytes[2] ?? 0, keyId: bytes.toString("hex", 3, 7), bytes: bytes.subarray(9) };
}

interface Signer {
  key: X509Key;
  certificate: Certificate;
}

function verdictOf(
  { algorithm: ima, keyId, bytes }: ImaSignature,
  file: { digest: string; algorithm: number | undefined },
  signers: readonly Signer[],
  now: number,
): Verdict {
  const algorithm = algorithms.find((known) => known.ima === ima);
  if (!algorithm) return "weak-digest";
  const known = signers.filter(({ certificate }) => certificate.maySign && keyIdOf(certificate) === keyId);
  const signer = known.find(({ key }) => now >= (key.notBefore ?? now) && now <= (key.notAfter ?? now));
  if (!signer) return "untrusted-key";
  const { publicKey, x509 } = signer.certificate;
  if (publicKey.asymmetricKeyType !== "rsa") return "unsupported-format";
  if (now < x509.validFromDate.getTime() || now > x509.validToDate.getTime()) return "expired-certificate";
  // The header has no digest that this signature is over, and the file itself is not hashed.
  if (file.algorithm !== algorithm.openpgp) return "unsupported-format";
  const isSigned = isRsaSigned(publicKey, bytes, Buffer.from(file.digest, "hex"), algorithm.oid);
  return isSigned ? "ok" : "bad-signature";
}

const keyIdOf = ({ subjectKeyId }: Certificate): string =>
  Buffer.from(subjectKeyId?.slice(-4) ?? []).toString("hex");

import { type CpioEntry, cpioReader } from "../../archives/cpio.ts";
import { compressionOf, decompress } from "../../archives/decompress.ts";
import { type ByteSource, hashRanges, partOf } from "../../bytes/byte-source.ts";
import {
  type FileSignature,
  type Found,
  type InspectOptions,
  isBroken,
  type Reader,
  refuseWorst,
  settled,
} from "../../inspection.ts";
import { isWithin, type X509Key } from "../../keys.ts";
import { type SelfCheckFinder, selfCheckFinder, withSelfCheck } from "../../self-check.ts";
import { isRsaSigned } from "../../signatures/digest.ts";
import { digestNumbered } from "../../signatures/openpgp.ts";
import { type Certificate, certificateOf } from "../../signatures/x509.ts";
import { Fault, malformed, notCovered, unsigned, unsupported, type Verdict } from "../../verdict.ts";
import { digestChecks, isPayloadCovered, type RpmCheck, signatureChecks, sizeNotes } from "./checks.ts";
import { integersOf, longsOf, type RpmHeader, shortsOf, textOf, textsOf } from "./header.ts";
import { isSourcePackage, pathJoiner, type RpmLayout, readRpmLayout, signatureTags, tags } from "./layout.ts";

/** Packages of the formats 3, 4 and 6: header and payload signatures, digests, IMA signatures of files, and the content. */
export const inspectRpm: Reader = async (source, options) => {
  const found: Found = {};
  const finder = selfCheckFinder(options.selfCheck);
  let isRead = false;
  const inspection = await settled("rpm", found, async () => {
    const layout = readRpmLayout(source);
    found.uncovered = layout.uncovered;
    const signatures: RpmCheck[] = [];
    const signature = await settled("rpm", found, async () => {
      signatures.push(...(await signatureChecks(layout, options, found)));
    });
    const digests = await settled("rpm", found, async () => {
      const checks = [...signatures, ...digestChecks(layout)];
      await hashRanges(source, checks);
      for (const { conclude } of checks) await conclude();
    });
    if (isBroken(digests) || isBroken(signature)) return refuseWorst(digests, signature);
    const contents = await settled("rpm", found, async () => {
      found.facts = factsOf(layout.main);
      const notes = [...(found.notes ?? []), ...notesOf(layout)];
      found.notes = notes;
      if (signatures.length > 0 && !isPayloadCovered(layout))
        throw notCovered("the signed header has no digest of the payload, which may have been replaced");
      found.file_signatures = fileSignaturesOf(layout, options);
      refuseFileSignature(found.file_signatures);
      notes.push(...(await readRpmPayload(source, layout, options.limit, finder)));
      isRead = true;
      if (signatures.length === 0) throw unsigned("it has no signature");
    });
    return refuseWorst(digests, signature, contents);
  });
  return isRead ? withSelfCheck(inspection, finder) : inspection;
};

function factsOf(main: RpmHeader) {
  const identity = [tags.name, tags.version, tags.release, tags.arch];
  const [name, version, release, architecture] = identity.map((tag) => textOf(main, tag));
  if (!name || !version || !release || !architecture)
    throw malformed("the header does not say name, version, release and architecture");
  const epoch = integersOf(main, tags.epoch)[0] ?? null;
  const [format] = integersOf(main, tags.format);
  return { name, epoch, version, release, architecture, ...(format !== undefined && { format }) };
}

const notesOf = (layout: RpmLayout): string[] => [
  ...(isSourcePackage(layout.main)
    ? ["It is a source package, which the yum repository does not list."]
    : []),
  ...layout.notes,
  ...sizeNotes(layout),
  ...(layout.signatures.tags.has(signatureTags.veritySignatures)
    ? ["Its fs-verity signatures of files are not checked."]
    : []),
];

function refuseFileSignature(files: readonly FileSignature[]): void {
  const bad = files.find(({ verdict }) => verdict !== "ok");
  if (bad)
    throw new Fault(
      bad.verdict,
      `the signature of the file ${bad.name} inside does not hold: ${bad.verdict}`,
    );
}

const headLength = 16;

/** @returns notes @throws Fault refuse beyond the size limit; bad-digest; malformed; unsupported-format */
async function readRpmPayload(
  source: ByteSource,
  { main, signatures, size }: RpmLayout,
  limit: number,
  finder: SelfCheckFinder,
): Promise<string[]> {
  const format = textOf(main, tags.payloadFormat) ?? "cpio";
  if (format !== "cpio") throw unsupported(`its payload has the format ${format}, expected cpio`);
  if (textsOf(main, tags.requireNames).includes("rpmlib(PayloadAlignment)"))
    throw unsupported("its payload is aligned to blocks (rpm 6.2), expected plain cpio");
  const payload = partOf(source, main.to, size - main.to);
  const compression = compressionOf(payload.read(0, Math.min(headLength, payload.size)));
  const onFile = ({ path, type }: CpioEntry) => (type === "file" ? finder.file(path) : undefined);
  const cpio = cpioReader(onFile, listedFiles(main));
  const unpacked = await decompress(payload, compression, limit, cpio.write);
  cpio.end();
  const expected =
    integersOf(signatures, signatureTags.payloadSize)[0] ??
    longsOf(signatures, signatureTags.longArchiveSize)[0];
  return expected === undefined || expected === unpacked
    ? []
    : [`The payload unpacks to ${unpacked} bytes, but the package says ${expected}.`];
}

const modes = { mask: 0o170000, file: 0o100000, link: 0o120000 };
const ghostFlag = 1 << 6;

/** Finds files by number in the header: payloads of rpm 6 have no more, and those of rpm 4 with a file over 4 GiB. */
function listedFiles(main: RpmHeader): (index: number) => CpioEntry | undefined {
  let files: CpioEntry[] | undefined;
  return (index) => {
    files ??= cpioEntries(main);
    return files[index];
  };
}

function cpioEntries(main: RpmHeader): CpioEntry[] {
  const [short, long] = [integersOf(main, tags.fileSizes), longsOf(main, tags.longFileSizes)];
  const [kinds, flags] = [shortsOf(main, tags.fileModes), integersOf(main, tags.fileFlags)];
  const [devices, inodes] = [integersOf(main, tags.fileDevices), integersOf(main, tags.fileInodes)];
  const kindOf = (index: number) => (kinds[index] ?? 0) & modes.mask;
  const inodeOf = (index: number) => `${devices[index]}:${inodes[index] || `none ${index}`}`;
  const names = namesOf(main);
  // Only the last of several links to a file has its content.
  const last = new Map<string, number>();
  for (const index of names.keys())
    if (kindOf(index) === modes.file && !((flags[index] ?? 0) & ghostFlag)) last.set(inodeOf(index), index);
  return names.map((name, index) => {
    const [path, size] = [name.replace(/^\/+/, ""), long[index] ?? short[index] ?? 0];
    if (kindOf(index) === modes.link) return { path, size, type: "link" };
    if (kindOf(index) !== modes.file) return { path, size: 0, type: "other" };
    return { path, size: last.get(inodeOf(index)) === index ? size : 0, type: "file" };
  });
}

/** Digests that IMA signatures may use: number in IMA, number in OpenPGP. */
const algorithms: Readonly<Record<number, number>> = { 4: 8, 5: 9, 6: 10 };

/**
 * Checks IMA signatures against the digests in the header. Nothing signs the header that holds these signatures, so an
 * invalid one is an error of the package. @throws Fault malformed
 */
export function fileSignaturesOf({ signatures, main }: RpmLayout, options: InspectOptions): FileSignature[] {
  const written = textsOf(signatures, signatureTags.fileSignatures);
  if (written.length === 0) return [];
  const digests = textsOf(main, tags.fileDigests);
  const names = namesOf(main);
  if (written.length !== digests.length || digests.length !== names.length)
    throw malformed(`there are ${written.length} file signatures for ${names.length} files`);
  const algorithm = integersOf(main, tags.fileDigestAlgorithm)[0];
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
function namesOf(main: RpmHeader): string[] {
  const folders = textsOf(main, tags.dirNames);
  const folderOf = integersOf(main, tags.dirIndexes);
  const join = pathJoiner();
  return textsOf(main, tags.baseNames).map((name, index) => {
    const folder = folders[folderOf[index] ?? -1];
    if (folder === undefined) throw malformed(`the file ${name} is in no folder`);
    return join(folder, name);
  });
}

/** Version 2 (signature_v2_hdr in Linux's security/integrity/integrity.h). `keyId`: last four bytes, in hexadecimal. */
function imaSignature(hex: string, name: string) {
  const bytes = Buffer.from(hex, "hex");
  const isWhole =
    bytes.toString("hex") === hex && bytes.length > 9 && bytes.readUInt16BE(7) === bytes.length - 9;
  if (!isWhole || bytes[0] !== 3 || bytes[1] !== 2)
    throw malformed(`the signature of ${name} is not an IMA signature of version 2`);
  return { algorithm: bytes[2] ?? 0, keyId: bytes.toString("hex", 3, 7), bytes: bytes.subarray(9) };
}

function verdictOf(
  { algorithm: ima, keyId, bytes }: ReturnType<typeof imaSignature>,
  file: { digest: string; algorithm: number | undefined },
  signers: readonly { key: X509Key; certificate: Certificate }[],
  now: number,
): Verdict {
  const algorithm = algorithms[ima];
  if (algorithm === undefined) return "weak-digest";
  const known = signers.filter(({ certificate }) => certificate.maySign && keyIdOf(certificate) === keyId);
  const signer = known.find(({ key }) => isWithin(key, now));
  if (!signer) return "untrusted-key";
  const { publicKey, x509 } = signer.certificate;
  if (publicKey.asymmetricKeyType !== "rsa") return "unsupported-format";
  if (now < x509.validFromDate.getTime() || now > x509.validToDate.getTime()) return "expired-certificate";
  // The header has no digest that this signature is over, and the file itself is not hashed.
  if (file.algorithm !== algorithm) return "unsupported-format";
  const digest = Buffer.from(file.digest, "hex");
  const isSigned = isRsaSigned(publicKey, bytes, digest, digestNumbered(algorithm));
  return isSigned ? "ok" : "bad-signature";
}

const keyIdOf = ({ subjectKeyId }: Certificate): string =>
  Buffer.from(subjectKeyId?.slice(-4) ?? []).toString("hex");

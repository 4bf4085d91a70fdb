import { createHash, verify } from "node:crypto";
import { type CpioEntry, cpioReader } from "../../archives/cpio.ts";
import { compressionOf, decompress } from "../../archives/decompress.ts";
import { openXar, type Xar, type XarFile, type XarSignature } from "../../archives/xar.ts";
import { type ByteSource, bytesSource, hashWhole, partOf, shifted } from "../../bytes/byte-source.ts";
import { heldFile, tooLarge } from "../../held-file.ts";
import {
  type FileSignature,
  type Found,
  type Inspection,
  type InspectOptions,
  isBroken,
  refuseWorst,
  settled,
} from "../../inspection.ts";
import { type SelfCheckFinder, selfCheckFinder, withSelfCheck } from "../../self-check.ts";
import { readPaddedAsn1 } from "../../signatures/asn1.ts";
import { signatureOf, signedDataOf, type Trusted, verifyTrusted } from "../../signatures/cms.ts";
import { type Digest, isRsaSigned, refuseWeak } from "../../signatures/digest.ts";
import { type Certificate, chainOf, commonNameOf, readCertificate, usages } from "../../signatures/x509.ts";
import { badDigest, badSignature, Fault, malformed, unsigned, unsupported } from "../../verdict.ts";
import { machOSignatures } from "../macho/file.ts";
import { isMachO } from "../macho/macho.ts";
import { pkgFacts } from "./metadata.ts";

interface Into {
  options: InspectOptions;
  finder: SelfCheckFinder;
  found: Found;
}

/** Payload is installed; Scripts runs during the installation. */
const archives = ["Payload", "Scripts"];

async function readPkgContents({ files, heap }: Xar, into: Into): Promise<void> {
  const signatures: FileSignature[] = [];
  const notes: string[] = [];
  into.found.file_signatures = signatures;
  let limit = into.options.limit;
  for (const file of files) {
    const name = file.path.split("/").at(-1) ?? "";
    const [content] = file.parts;
    if (!archives.includes(name) || !content) continue;
    const prefix = name === "Payload" ? "" : `${name}/`;
    const onEntry = ({ type, path, size }: CpioEntry) =>
      type === "file" ? fileSink(`${prefix}${path}`, size, into, signatures) : undefined;
    try {
      limit -= await readArchive(archiveIn(heap, file), limit, onEntry);
    } catch (error) {
      if (!(error instanceof Fault) || error.verdict !== "unsupported-format") throw error;
      notes.push(`${file.path}: ${error.message}; its files were not looked at`);
    }
  }
  into.found.notes = [...(into.found.notes ?? []), ...notes];
}

function archiveIn(heap: ByteSource, { path, parts: [content] }: XarFile): ByteSource {
  if (content?.encoding !== "application/octet-stream")
    throw unsupported(`it is stored as ${content?.encoding}, expected as it is`);
  return partOf(heap, content.offset, content.size, path);
}

/** @returns unpacked size in bytes */
async function readArchive(
  source: ByteSource,
  limit: number,
  onEntry: Parameters<typeof cpioReader>[0],
): Promise<number> {
  const head = Buffer.from(source.read(0, Math.min(6, source.size)));
  if (head.toString("latin1", 0, 4) === "pbzx") throw unsupported("it is compressed as pbzx, expected gzip");
  const cpio = cpioReader(onEntry);
  const unpacked = await decompress(source, compressionOf(head), limit, cpio.write);
  cpio.end();
  return unpacked;
}

/** Programs need random access and are inspected when complete; the self-check search works per architecture. */
function fileSink(name: string, size: number, { finder, options }: Into, signatures: FileSignature[]) {
  const held = heldFile(size, isMachO, finder.file(name));
  let left = size;
  return (chunk: Uint8Array) => {
    held.write(chunk);
    left -= chunk.length;
    if (left > 0) return;
    const bytes = held.bytes();
    if (bytes === "too-large") signatures.push(tooLarge(name));
    else if (bytes)
      signatures.push(...machOSignatures(bytesSource(bytes, name), options, finder).file_signatures);
    held.release();
  };
}

const scheme = "Apple installer signature";

/** Inspects the signature of a macOS installer, and the programs in its payloads. */
export async function inspectPkg(source: ByteSource, options: InspectOptions): Promise<Inspection> {
  const finder = selfCheckFinder(options.selfCheck);
  const found: Found = {};
  const inspected = await settled("pkg", found, async () => {
    const xar = await openXar(source);
    const signature = await settled("pkg", found, () => checkSignature(xar, options, found));
    if (isBroken(signature)) return refuseWorst(signature);
    await refuseOtherFiles(xar);
    found.facts = { ...found.facts, ...(await pkgFacts(xar)) };
    const contents = await settled("pkg", found, () => readPkgContents(xar, { options, finder, found }));
    return refuseWorst(signature, contents);
  });
  return withSelfCheck(inspected, finder);
}

function checkSignature(xar: Xar, options: InspectOptions, found: Found): void {
  const { digest, hash, stored } = xar;
  found.facts = { digest: hash.toString("hex") };
  found.notes = weakNotes(xar);
  found.uncovered = xar.uncovered;
  const isSigned = xar.signatures.length > 0;
  if (isSigned) {
    const [certificate] = xarSigners(xar);
    found.signature = signatureOf({ certificate, digest }, scheme);
    found.key_id = commonNameOf(certificate);
  }
  if (!hash.equals(stored))
    throw badDigest(
      `its table of contents has the ${digest.name} ${hash.toString("hex")}, and another is stored`,
    );
  const trusted = verifyXar(xar, options);
  const [certificate] = xarSigners(xar);
  found.signature = signatureOf({ certificate, digest }, scheme, trusted.time);
  found.notes = [...found.notes, ...trusted.notes];
  found.uncovered = [...xar.uncovered, ...trusted.uncovered];
}

function weakNotes(xar: Xar): string[] {
  const names = digestsOf(xar).flatMap(({ isWeak, name }) => (isWeak ? [name.toUpperCase()] : []));
  return names.map((name) => `its table of contents or files are hashed with ${name}, expected SHA-256`);
}

/** @throws Fault bad-digest, if a file differs from the table of contents */
async function refuseOtherFiles({ files, heap }: Xar): Promise<void> {
  for (const { path, parts } of files) {
    for (const { offset, size, digest, hash } of parts) {
      const found = await hashWhole(partOf(heap, offset, size), createHash(digest.name));
      if (found.digest("hex") !== hash.toLowerCase())
        throw badDigest(`${path} is not the file that the table of contents names`);
    }
  }
}

const what = "its installer signature";

/** The signers that the table claims, not yet verified. @throws Fault unsigned, malformed */
function xarSigners({ signatures }: Xar): readonly [Certificate, ...Certificate[]] {
  if (signatures.length === 0) throw unsigned("it has no signature");
  const [first, ...more] = signatures.flatMap(({ certificates }) => certificates).map(readCertificate);
  if (!first) throw malformed("its signature comes without a certificate");
  return [first, ...more];
}

/** Verifies every signature over the table's hash. All must be from the same, allowed certificate. @throws Fault */
function verifyXar(xar: Xar, options: InspectOptions): Trusted {
  const [signer, ...among] = xarSigners(xar);
  // The macOS installer accepts SHA-1 here, and packages for older versions of macOS have only that.
  for (const digest of digestsOf(xar))
    if (digest.name !== "sha1") refuseWeak(digest, "its table of contents");
  let trusted: Trusted | undefined;
  for (const signature of xar.signatures) {
    if (signature.style === "RSA") refuseOtherRsa(signature, signer, xar);
    else if (signature.style === "CMS") trusted = verifyCms(signature, signer, xar, options);
    else throw unsupported(`${what} has the style ${signature.style}, expected RSA or CMS`);
  }
  if (trusted) return trusted;
  chainOf(signer, { among, keys: options.keys, at: options.now, usage: usages.installerSigning });
  return { time: undefined, notes: [], uncovered: [] };
}

const digestsOf = ({ digest, files }: Xar): readonly Digest[] => [
  ...new Set([digest, ...files.flatMap(({ parts }) => parts.map(({ digest }) => digest))]),
];

/** Apple's tools sign the hash itself; other tools hash it again. */
function refuseOtherRsa(
  signature: XarSignature,
  { publicKey }: Certificate,
  { heap, hash, digest }: Xar,
): void {
  const bytes = Buffer.from(heap.read(signature.offset, signature.size));
  const isOver = isRsaSigned(publicKey, bytes, hash, digest.name);
  if (publicKey.asymmetricKeyType !== "rsa" || !(isOver || verify("sha256", hash, publicKey, bytes)))
    throw badSignature(`${what} was not made by the key of its certificate over this table of contents`);
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
  if (signed.content) throw malformed(`${what} contains its own content; expected a detached signature`);
  if (Buffer.compare(signed.signer.certificate.der, signer.der) !== 0)
    throw malformed(`${what} has two signers, expected one`);
  const trusted = verifyTrusted(signed, hash, bytes, { usage: usages.installerSigning, what, options });
  return { ...trusted, uncovered: trusted.uncovered.map(shifted(heapAt + signature.offset)) };
}

import { createHash, type Hash } from "node:crypto";
import { areZeros, type ByteSource, piecesOf, shifted } from "../../bytes/byte-source.ts";
import { type Found, type Inspection, type InspectOptions, settled } from "../../inspection.ts";
import { selfCheckFinder, withSelfCheck } from "../../self-check.ts";
import { type Asn1, readPaddedAsn1 } from "../../signatures/asn1.ts";
import { indirectDataOf, pageHashesOf, subjects, verifyAuthenticode } from "../../signatures/authenticode.ts";
import { signatureOf, signedDataOf } from "../../signatures/cms.ts";
import { refuseWeak } from "../../signatures/digest.ts";
import { badDigest, malformed, unsigned, unsupported } from "../../verdict.ts";

const what = "its Authenticode signature";

/** More than any signature with timestamps and page hashes. */
const maxSignatureBytes = 1 << 24;

/** Inspects a standalone executable or library of Windows. */
export async function inspectPe(source: ByteSource, options: InspectOptions): Promise<Inspection> {
  const finder = selfCheckFinder(undefined);
  const scan = finder.file(source.name);
  if (scan) await source.each(scan);
  return withSelfCheck(await peSignature(source, options), finder);
}

/** Checks only the Authenticode signature, for a file inside a package. */
export function peSignature(source: ByteSource, options: InspectOptions): Promise<Inspection> {
  const found: Found = {};
  return settled("pe", found, () => checkSignature(source, options, found));
}

function checkSignature(source: ByteSource, options: InspectOptions, found: Found): void {
  const layout = peLayout(source);
  found.facts = { machine: layout.machine };
  const pkcs7 = certificateOf(source, layout);
  const signed = signedDataOf(pkcs7, what);
  found.signature = signatureOf(signed.signer, "Authenticode");
  found.key_id = found.signature.fingerprint;
  const data = indirectDataOf(signed, subjects.pe, what);
  found.facts = { ...found.facts, digest: Buffer.from(data.expected).toString("hex") };
  refuseWeak(data.digest, what);
  const hash = update(createHash(data.digest.name), source, 0, layout.certificates.from, layout);
  const trusted = verifyAuthenticode(signed, data, hash.digest(), pkcs7.raw, { what, options });
  const pages = pageHashesOf(data, what);
  if (pages) checkPages(source, layout, pages.digest, pages.table);
  found.signature = signatureOf(signed.signer, "Authenticode", trusted.time);
  found.notes = trusted.notes;
  const start = layout.certificates.from + 8;
  found.uncovered = [
    { from: layout.checksumAt, to: layout.checksumAt + 4, why: "the checksum of a PE file" },
    ...trusted.uncovered.map(shifted(start)),
  ];
}

/** Reads the PKCS #7 from the only entry of the certificate table. @throws Fault unsigned, malformed */
function certificateOf(source: ByteSource, { certificates: { from, size } }: PeLayout): Asn1 {
  if (size === 0) throw unsigned(`${source.name} has no Authenticode signature`);
  if (size < 8 || size > maxSignatureBytes) throw malformed(`${what} has ${size} bytes`);
  const table = Buffer.from(source.read(from, size));
  const [length, revision, type] = [table.readUInt32LE(0), table.readUInt16LE(4), table.readUInt16LE(6)];
  const found = readPaddedAsn1(table.subarray(8), what);
  // Some signers include the padding to eight bytes in the length, others do not.
  if (length !== size && length !== found.raw.length + 8)
    throw malformed(
      `${source.name} has a signature of ${length} bytes in a table of ${size}, expected only it`,
    );
  if (revision !== 0x200 || type !== 2)
    throw unsupported(`${what} is of kind ${type}, revision ${revision}, expected PKCS #7 (2, 512)`);
  return found;
}

const maxPageBytes = 1 << 20;

/** Hash of a range without the checksum and the signature's location. */
function update(hash: Hash, source: ByteSource, from: number, to: number, layout: PeLayout): Hash {
  const { checksumAt, certificatesAt } = layout;
  const ranges = [
    [from, Math.min(to, checksumAt)],
    [Math.max(from, checksumAt + 4), Math.min(to, certificatesAt)],
    [Math.max(from, certificatesAt + 8), to],
  ] as const;
  for (const [start, end] of ranges) for (const { bytes } of piecesOf(source, start, end)) hash.update(bytes);
  return hash;
}

/**
 * Checks the page hashes that Windows checks while it loads a program.
 * @param table pairs of offset and hash: the header, each page of each section, and an end marker with a zero hash
 * @throws Fault bad-digest, malformed
 */
function checkPages(source: ByteSource, layout: PeLayout, digest: string, table: Uint8Array): void {
  const size = createHash(digest).digest().length;
  const { pageSize, headerSize, sections } = layout;
  if (pageSize < 512 || pageSize > maxPageBytes)
    throw malformed(`${source.name} has pages of ${pageSize} bytes`);
  const expected = entriesOf(Buffer.from(table), size);
  const check = (from: number, length: number) => {
    const entry = expected.next().value;
    const hash = createHash(digest);
    update(hash, source, from, from + length, layout);
    hash.update(Buffer.alloc(Math.max(0, pageSize - length)));
    if (entry?.at !== from)
      throw malformed(`${what} has page hashes for other pages than ${source.name} has`);
    if (!hash.digest().equals(entry.hash))
      throw badDigest(`the page of ${source.name} at byte ${from} is not the one that was signed`);
  };
  check(0, headerSize);
  let end = 0;
  for (const section of sections.filter((section) => section.size > 0)) {
    end = section.from + section.size;
    for (let at = section.from; at < end; at += pageSize) check(at, Math.min(pageSize, end - at));
  }
  const last = expected.next().value;
  if (last?.at !== end || !areZeros(last.hash) || !expected.next().done)
    throw malformed(`${what} has page hashes for other pages than ${source.name} has`);
}

function* entriesOf(table: Buffer, size: number): Generator<{ at: number; hash: Buffer }, undefined> {
  if (table.length % (size + 4) !== 0) throw malformed(`${what} has page hashes that end within one`);
  for (let at = 0; at < table.length; at += size + 4)
    yield { at: table.readUInt32LE(at), hash: table.subarray(at + 4, at + 4 + size) };
}

type PeLayout = ReturnType<typeof peLayout>;

const machines = new Map([
  [0x14c, "x86"],
  [0x8664, "x86_64"],
  [0xaa64, "arm64"],
]);

const directoryOfCertificates = 4;

export const isPe = (head: Uint8Array): boolean => head[0] === 0x4d && head[1] === 0x5a;

/** Offsets in the file (PE Format, Microsoft). @throws Fault malformed; unsupported-format, for DOS and 16-bit Windows */
function peLayout(source: ByteSource) {
  const start = view(source, 0, 64).getUint32(60, true);
  if (start + 24 > source.size)
    throw unsupported(`${source.name} is not a PE file, although it begins with MZ`);
  const coff = view(source, start, 24);
  if (coff.getUint32(0, false) !== 0x50450000)
    throw unsupported(`${source.name} is not a PE file, although it begins with MZ`);
  const machine = coff.getUint16(4, true);
  const [sections, optionalSize] = [coff.getUint16(6, true), coff.getUint16(20, true)];
  const at = start + 24;
  const optional = view(source, at, optionalSize);
  const magic = optionalSize >= 112 ? optional.getUint16(0, true) : 0;
  if (magic !== 0x10b && magic !== 0x20b)
    throw malformed(`${source.name} has no optional header of PE32 or PE32+ where a PE file has it`);
  const directories = magic === 0x20b ? 112 : 96;
  const entry = directories + 8 * directoryOfCertificates;
  if (optional.getUint32(directories - 4, true) <= directoryOfCertificates || optionalSize < entry + 8)
    throw unsigned(`${source.name} has no place for a signature in its header`);
  const [pageSize, headerSize] = [optional.getUint32(32, true), optional.getUint32(60, true)];
  const certificates = { from: optional.getUint32(entry, true), size: optional.getUint32(entry + 4, true) };
  return {
    machine: machines.get(machine) ?? `0x${machine.toString(16)}`,
    // Two fields that the signature cannot cover: the checksum and the location of the certificate table.
    checksumAt: at + 64,
    certificatesAt: at + entry,
    /** At the end of the file; size 0: unsigned. */
    certificates: refuseElsewhere(certificates, at + optionalSize, source),
    headerSize,
    pageSize,
    /** The ranges that Windows loads into memory. */
    sections: sectionsOf(view(source, at + optionalSize, 40 * sections)),
  };
}

/** The signature covers nothing after its table, and Windows programs can find data there, so nothing may follow. */
function refuseElsewhere(table: { from: number; size: number }, headerEnd: number, source: ByteSource) {
  const { from, size } = table;
  if (from === 0 && size === 0) return { from: source.size, size: 0 };
  if (from < headerEnd || from % 8 !== 0 || from + size !== source.size)
    throw malformed(
      `${source.name} has its signature at bytes ${from} to ${from + size}, expected it to end the file of ${source.size}`,
    );
  return table;
}

const sectionsOf = (table: DataView) =>
  Array.from({ length: table.byteLength / 40 }, (_, index) => {
    return { from: table.getUint32(40 * index + 20, true), size: table.getUint32(40 * index + 16, true) };
  });

/** A copy, so that it stays valid after the next read. */
function view(source: ByteSource, from: number, length: number): DataView {
  return new DataView(Uint8Array.from(source.read(from, length)).buffer);
}

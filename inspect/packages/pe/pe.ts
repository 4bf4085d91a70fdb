import type { ByteSource } from "../../bytes/byte-source.ts";
import { shifted } from "../../bytes/ranges.ts";
import { type Found, type Inspection, type InspectOptions, settled } from "../../inspection.ts";
import { selfCheckFinder } from "../../self-check.ts";
import { withSelfCheck } from "../../self-checked.ts";
import { type Asn1, readPaddedAsn1 } from "../../signatures/asn1.ts";
import { indirectDataOf, pageHashesOf, subjects, verifyAuthenticode } from "../../signatures/authenticode.ts";
import { signedDataOf } from "../../signatures/cms.ts";
import { signatureOf } from "../../signatures/cms-trust.ts";
import { Fault, malformed, type Verdict } from "../../verdict.ts";
import { checkPages, peDigest } from "./digest.ts";
import { type PeLayout, peLayout } from "./layout.ts";

const what = "its Authenticode signature";

/** More than any signature with timestamps and page hashes. */
const longestSignature = 1 << 24;

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
  return settled("pe", found, () => verdictOf(source, options, found));
}

async function verdictOf(source: ByteSource, options: InspectOptions, found: Found): Promise<Verdict> {
  const layout = peLayout(source);
  found.facts = { machine: layout.machine };
  const pkcs7 = certificateOf(source, layout);
  const signed = signedDataOf(pkcs7, what);
  found.signature = signatureOf(signed.signer, "Authenticode");
  found.key_id = found.signature.fingerprint;
  const data = indirectDataOf(signed, subjects.pe, what);
  found.facts = { ...found.facts, digest: Buffer.from(data.expected).toString("hex") };
  const hashed = async () => peDigest(source, layout, data.digest.name);
  const { time, notes, uncovered } = await verifyAuthenticode(signed, data, {
    bytes: pkcs7.raw,
    what,
    options,
    hashed,
  });
  const pages = pageHashesOf(data, what);
  if (pages) checkPages(source, layout, pages.digest, pages.table, what);
  found.signature = signatureOf(signed.signer, "Authenticode", time);
  found.notes = notes;
  const start = layout.certificates.from + 8;
  found.uncovered = [
    { from: layout.checksumAt, to: layout.checksumAt + 4, why: "the checksum of a PE file" },
    ...uncovered.map(shifted(start)),
  ];
  return "ok";
}

/** Reads the PKCS #7 from the only entry of the certificate table. @throws Fault unsigned, malformed */
function certificateOf(source: ByteSource, { certificates: { from, size } }: PeLayout): Asn1 {
  if (size === 0) throw new Fault("unsigned", `${source.name} has no Authenticode signature`);
  if (size < 8 || size > longestSignature) throw malformed(`${what} has ${size} bytes`);
  const table = Buffer.from(source.read(from, size));
  const [length, revision, type] = [table.readUInt32LE(0), table.readUInt16LE(4), table.readUInt16LE(6)];
  const found = readPaddedAsn1(table.subarray(8), what);
  // Some signers include the padding to eight bytes in the length, others do not.
  if (length !== size && length !== found.raw.length + 8)
    throw malformed(
      `${source.name} has a signature of ${length} bytes in a table of ${size}, expected only it`,
    );
  if (revision !== 0x200 || type !== 2)
    throw new Fault(
      "unsupported-format",
      `${what} is of kind ${type}, revision ${revision}, expected PKCS #7 (2, 512)`,
    );
  return found;
}

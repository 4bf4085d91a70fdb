import { Fault, malformed, type Verdict } from "../../../documents/verdict.ts";
import { type ByteSource, partOf } from "../../../system/byte-source.ts";
import { cpioReader } from "../../archives/cpio.ts";
import { compressionOf, decompress } from "../../archives/decompress.ts";
import { hashRanges } from "../../bytes/hash-ranges.ts";
import { type FileSignature, type Reader, settled } from "../../inspection.ts";
import { type SelfCheckFinder, selfCheckFinder } from "../../self-check.ts";
import { withSelfCheck } from "../../self-checked.ts";
import type { Found } from "../../signatures/openpgp-claim.ts";
import { digestChecks, isPayloadCovered, refuseOtherSize, signatureChecks } from "./checks.ts";
import { fileSignaturesOf } from "./file-signatures.ts";
import { integersOf, longOf, type RpmHeader, textOf } from "./header.ts";
import { type RpmLayout, readRpmLayout, signatureTags } from "./layout.ts";

/** Packages of rpm 4: header and payload signatures, digests, IMA signatures of files, and the content. */
export const inspectRpm: Reader = async (source, options) => {
  const found: Found = {};
  const finder = selfCheckFinder(options.selfCheck);
  let isRead = false;
  const inspection = await settled("rpm", found, async (): Promise<Verdict> => {
    const layout = readRpmLayout(source);
    found.uncovered = layout.uncovered;
    const signatures = await signatureChecks(layout, options, found);
    const checks = [...signatures, ...digestChecks(layout)];
    await hashRanges(source, checks);
    for (const { conclude } of checks) await conclude();
    refuseOtherSize(layout);
    found.facts = factsOf(layout.main);
    if (signatures.length > 0 && !isPayloadCovered(layout))
      throw new Fault(
        "payload-not-covered",
        "the signed header has no digest of the payload, which may have been replaced",
      );
    found.file_signatures = fileSignaturesOf(layout, options);
    refuseFileSignature(found.file_signatures);
    if (layout.signatures.tags.has(signatureTags.veritySignatures))
      found.notes = ["Its fs-verity signatures of files are not checked."];
    await readRpmPayload(source, layout, options.limit, finder);
    isRead = true;
    if (signatures.length === 0) throw new Fault("unsigned", "it has no signature");
    return "ok";
  });
  return isRead ? withSelfCheck(inspection, finder) : inspection;
};

/** Header tags with the package's identity. */
const nameTags = { name: 1000, version: 1001, release: 1002, epoch: 1003, architecture: 1022 };

function factsOf(main: RpmHeader) {
  const [name, version, release, architecture] = [
    nameTags.name,
    nameTags.version,
    nameTags.release,
    nameTags.architecture,
  ].map((tag) => textOf(main, tag));
  if (!name || !version || !release || !architecture)
    throw malformed("the header does not say name, version, release and architecture");
  return { name, epoch: integersOf(main, nameTags.epoch)[0] ?? null, version, release, architecture };
}

function refuseFileSignature(files: readonly FileSignature[]): void {
  const bad = files.find(({ verdict }) => verdict !== "ok");
  if (bad)
    throw new Fault(
      bad.verdict,
      `the signature of the file ${bad.name} inside does not hold: ${bad.verdict}`,
    );
}

const payloadFormat = 1124;
const headLength = 16;

/**
 * Reads the files of the payload.
 * @throws Fault refuse beyond the size limit; bad-digest; malformed; unsupported-format
 */
async function readRpmPayload(
  source: ByteSource,
  { main, signatures, size }: RpmLayout,
  limit: number,
  finder: SelfCheckFinder,
): Promise<void> {
  const format = textOf(main, payloadFormat) ?? "cpio";
  if (format !== "cpio")
    throw new Fault("unsupported-format", `its payload has the format ${format}, expected cpio`);
  const payload = partOf(source, main.to, size - main.to);
  const compression = compressionOf(payload.read(0, Math.min(headLength, payload.size)));
  const cpio = cpioReader(({ path, type }) => (type === "file" ? finder.file(path) : undefined));
  const unpacked = await decompress(payload, compression, limit, cpio.write);
  cpio.end();
  const expected =
    integersOf(signatures, signatureTags.payloadSize)[0] ?? longOf(signatures, signatureTags.longArchiveSize);
  if (expected !== undefined && expected !== unpacked)
    throw new Fault("bad-digest", `the payload unpacks to ${unpacked} bytes, the package says ${expected}`);
}

import { Fault, malformed, type Verdict } from "../../documents/verdict.ts";
import { hashRanges } from "../bytes/hash-ranges.ts";
import { type FileSignature, type Reader, settled } from "../inspection.ts";
import { selfCheckFinder } from "../self-check.ts";
import { withSelfCheck } from "../self-checked.ts";
import type { Found } from "../signatures/openpgp-claim.ts";
import { digestChecks, isPayloadCovered, refuseOtherSize, signatureChecks } from "./rpm-checks.ts";
import { fileSignaturesOf } from "./rpm-file-signatures.ts";
import { integersOf, type RpmHeader, textOf } from "./rpm-header.ts";
import { readRpmLayout, signatureTags } from "./rpm-layout.ts";
import { readRpmPayload } from "./rpm-payload.ts";

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
        "what is signed has no digest of the payload, which may be another one",
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

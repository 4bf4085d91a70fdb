import { createHash } from "node:crypto";
import { openXar, type Xar } from "../../archives/xar.ts";
import { type ByteSource, partOf } from "../../bytes/byte-source.ts";
import { hashWhole } from "../../bytes/hash-ranges.ts";
import { type Found, type Inspection, type InspectOptions, settled } from "../../inspection.ts";
import { selfCheckFinder } from "../../self-check.ts";
import { withSelfCheck } from "../../self-checked.ts";
import { signatureOf } from "../../signatures/cms-trust.ts";
import { commonNameOf } from "../../signatures/x509.ts";
import { Fault, type Verdict } from "../../verdict.ts";
import { isBroken, refuseWorst } from "../../verdicts.ts";
import { readPkgContents } from "./contents.ts";
import { pkgFacts } from "./facts.ts";
import { digestsOf, verifyXar, xarSigners } from "./xar-signature.ts";

const scheme = "Apple installer signature";

/** After these verdicts the content cannot be trusted, so it is not read. */

/** Inspects the signature of a macOS installer, and the programs in its payloads. */
export async function inspectPkg(source: ByteSource, options: InspectOptions): Promise<Inspection> {
  const finder = selfCheckFinder(options.selfCheck);
  const found: Found = {};
  const inspected = await settled("pkg", found, async (): Promise<Verdict> => {
    const xar = await openXar(source);
    const signature = await settled("pkg", found, () => verdictOf(xar, options, found));
    if (isBroken(signature)) return refuseWorst(signature);
    await refuseOtherFiles(xar);
    found.facts = { ...found.facts, ...(await pkgFacts(xar)) };
    const contents = await settled("pkg", found, () => readPkgContents(xar, { options, finder, found }));
    return refuseWorst(signature, contents);
  });
  return withSelfCheck(inspected, finder);
}

function verdictOf(xar: Xar, options: InspectOptions, found: Found): Verdict {
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
    throw new Fault(
      "bad-digest",
      `its table of contents has the ${digest.name} ${hash.toString("hex")}, and another is stored`,
    );
  const trusted = verifyXar(xar, options);
  const [certificate] = xarSigners(xar);
  found.signature = signatureOf({ certificate, digest }, scheme, trusted.time);
  found.notes = [...found.notes, ...trusted.notes];
  found.uncovered = [...xar.uncovered, ...trusted.uncovered];
  return "ok";
}

const weakNotes = (xar: Xar): string[] =>
  digestsOf(xar)
    .filter(({ isWeak }) => isWeak)
    .map(
      ({ name }) => `its table of contents or files are hashed with ${name.toUpperCase()}, expected SHA-256`,
    );

/** @throws Fault bad-digest, if a file differs from the table of contents */
async function refuseOtherFiles({ files, heap }: Xar): Promise<void> {
  for (const { path, parts } of files) {
    for (const { offset, size, digest, hash } of parts) {
      const found = createHash(digest.name);
      await hashWhole(partOf(heap, offset, size), found);
      if (found.digest("hex") !== hash.toLowerCase())
        throw new Fault("bad-digest", `${path} is not the file that the table of contents names`);
    }
  }
}

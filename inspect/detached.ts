import { hashWhole } from "./bytes/hash-ranges.ts";
import { readSmall } from "./bytes/small-file.ts";
import { type InspectOptions, type Reader, settled } from "./inspection.ts";
import { readChecksums } from "./signatures/checksums-asc.ts";
import { verifierOf } from "./signatures/openpgp.ts";
import { claimedSignature, type Found } from "./signatures/openpgp-claim.ts";
import { isCleartext } from "./signatures/openpgp-cleartext.ts";
import { Fault, type Verdict } from "./verdict.ts";

/**
 * Inspects a detached signature of the file with the same name without the suffix, or a signed checksum list.
 */
export const inspectSignatureFile: Reader = (source, options) => {
  const found: Found = {};
  return settled("openpgp", found, () => {
    const bytes = readSmall(source);
    const read = isCleartext(bytes) ? readChecksums : readDetached;
    return read(source.name, bytes, options, found);
  });
};

async function readDetached(
  name: string,
  bytes: Uint8Array,
  options: InspectOptions,
  found: Found,
): Promise<Verdict> {
  const signature = await claimedSignature(bytes, { base: 0, what: name, style: "gpg", options, found });
  const signs = name.replace(/\.(?:asc|sig|gpg)$/, "");
  const signed = signs === name ? undefined : options.beside?.(signs);
  if (!signed)
    throw new Fault("refuse", `the file that ${name} signs is not next to it, expected ${signs} there`);
  const { hash, conclude } = verifierOf(signature, "binary", options);
  await hashWhole(signed, hash);
  await conclude();
  found.facts = { signs };
  return "ok";
}

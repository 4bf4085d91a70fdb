import { createHash } from "node:crypto";
import { type ByteSource, hashWhole, readSmall } from "../../bytes/byte-source.ts";
import {
  type Found,
  type InspectOptions,
  isBroken,
  type Reader,
  refuseWorst,
  settled,
} from "../../inspection.ts";
import { verifiedText } from "../../signatures/openpgp.ts";
import { badDigest, malformed, refused, unsigned } from "../../verdict.ts";
import { chartTexts, type Provenance, readChartFile, readProvenance } from "./chart.ts";

/** Inspects a provenance file together with the chart that it signs. */
export const inspectProvenance: Reader = (source, options) => {
  const found: Found = {};
  return settled("helm-prov", found, async () => {
    const signed = await signedProvenance(source, options, found);
    const chart = options.openSibling?.(signed.file);
    if (!chart)
      throw refused(`${signed.file} is not next to ${source.name}, expected the signed chart there`);
    found.facts = await provenChart(chart, signed, options);
  });
};

/** Inspects a chart written by `helm package`. Its signature is in the provenance file next to it. */
export const inspectChart: Reader = (source, options) => {
  const found: Found = {};
  return settled("helm", found, async () => {
    const provenance = options.openSibling?.(`${source.name}.prov`);
    if (!provenance) {
      found.facts = { ...(await chartInside(source, options)) };
      throw unsigned(`${source.name}.prov is not next to it, expected its signature there`);
    }
    let signed: Provenance | undefined;
    const signature = await settled("helm", found, async () => {
      signed = await signedProvenance(provenance, options, found);
    });
    // Uncovered ranges refer to the provenance file; the chart itself is covered by its digest.
    if (signed) found.uncovered = [];
    if (isBroken(signature)) return refuseWorst(signature);
    const contents = await settled("helm", found, async () => {
      if (signed) found.facts = await provenChart(source, signed, options);
      else found.facts = { ...(await chartInside(source, options)) };
    });
    return refuseWorst(signature, contents);
  });
};

async function signedProvenance(
  source: ByteSource,
  options: InspectOptions,
  found: Found,
): Promise<Provenance> {
  const text = await verifiedText(readSmall(source), source.name, options, found);
  const signed = await readProvenance(text, source.name);
  if (source.name !== `${signed.file}.prov`)
    throw badDigest(`${source.name} signs ${signed.file}, expected ${source.name.replace(/\.prov$/, "")}`);
  return signed;
}

/** @throws Fault bad-digest; malformed, also if the chart contradicts the signed text */
async function provenChart(chart: ByteSource, signed: Provenance, options: InspectOptions) {
  const sum = (await hashWhole(chart, createHash("sha256"))).digest("hex");
  if (sum !== signed.sha256)
    throw badDigest(`${chart.name} has the SHA-256 ${sum}, its provenance says ${signed.sha256}`);
  const { name, version } = await chartInside(chart, options);
  if (name !== signed.name || version !== signed.version)
    throw malformed(`the chart is ${name} ${version}, its provenance says ${signed.name} ${signed.version}`);
  return { name, version };
}

const chartInside = async (source: ByteSource, { limit }: InspectOptions) =>
  readChartFile((await chartTexts(source, limit)).chart, "Chart.yaml");

import type { Storage, Stream } from "../../archives/compound-file.ts";
import { placesOf } from "../../bytes/byte-runs.ts";
import type { ByteSource } from "../../bytes/byte-source.ts";
import type { Uncovered } from "../../bytes/ranges.ts";
import { type Found, type Inspection, type InspectOptions, settled } from "../../inspection.ts";
import { selfCheckFinder } from "../../self-check.ts";
import { withSelfCheck } from "../../self-checked.ts";
import { indirectDataOf, subjects, verifyAuthenticode } from "../../signatures/authenticode.ts";
import { readSignedData } from "../../signatures/cms.ts";
import { signatureOf } from "../../signatures/cms-trust.ts";
import { Fault, malformed, type Verdict } from "../../verdict.ts";
import { refuseWorst } from "../../verdicts.ts";
import { readMsiContents } from "./contents.ts";
import { openInstaller, summaryName } from "./database.ts";
import { contentDigest, metadataDigest, signatureNames } from "./digest.ts";
import { type MsiTables, msiTables } from "./tables.ts";
import { uncoveredEntries } from "./uncovered.ts";

const what = "its signature";

/** More than any signature with timestamps. */
const longestSignature = 1 << 22;

/** Inspects the signature of a Windows installer, and the executables in its cabinets. */
export async function inspectMsi(source: ByteSource, options: InspectOptions): Promise<Inspection> {
  const finder = selfCheckFinder(options.selfCheck);
  const found: Found = {};
  const inspected = await settled("msi", found, async () => {
    const { root, uncovered } = openInstaller(source);
    refuseUnknownNames(root);
    const tables = msiTables(root);
    found.facts = factsOf(tables);
    const signature = await settled("msi", found, () => verdictOf(root, options, found));
    const contents = await settled("msi", found, () =>
      readMsiContents(root, tables, { options, finder, found }),
    );
    found.uncovered = [...uncovered, ...(found.uncovered ?? [])];
    return refuseWorst(signature, contents);
  });
  return withSelfCheck(inspected, finder);
}

const systemNames: readonly string[] = [
  ...Object.values(signatureNames),
  summaryName,
  "\u0005DocumentSummaryInformation",
];

/** A signature stream under any other name is treated as content, and is then not covered. */
function refuseUnknownNames({ streams }: Storage): void {
  const unknown = streams.find(({ entry: { name } }) => name < " " && !systemNames.includes(name));
  if (unknown)
    throw malformed(`it has the stream ${JSON.stringify(unknown.entry.name)}, which no installer has`);
}

const properties = new Map([
  ["ProductName", "name"],
  ["ProductVersion", "version"],
  ["Manufacturer", "manufacturer"],
  ["ProductCode", "product_code"],
]);

function factsOf(tables: MsiTables): Record<string, string> {
  const facts: Record<string, string> = {};
  for (const [name = "", value = ""] of tables.rows("Property", ["Property", "Value"])) {
    const fact = properties.get(name);
    if (fact) facts[fact] = value;
  }
  return facts;
}

async function verdictOf(root: Storage, options: InspectOptions, found: Found): Promise<Verdict> {
  const named = (name: string) => root.streams.find((stream) => stream.entry.name === name);
  const stream = named(signatureNames.signature);
  if (!stream) throw new Fault("unsigned", "it has no signature");
  const bytes = bytesOf(stream);
  const signed = readSignedData(bytes, what);
  found.signature = signatureOf(signed.signer, "Authenticode");
  found.key_id = found.signature.fingerprint;
  const data = indirectDataOf(signed, subjects.msi, what);
  found.facts = { ...found.facts, digest: Buffer.from(data.expected).toString("hex") };
  const extension = named(signatureNames.extended);
  const extended = extension ? bytesOf(extension) : Buffer.alloc(0);
  if (extension && !metadataDigest(root, data.digest.name).equals(extended))
    throw new Fault("bad-digest", "names, sizes or times of its streams are not those that were signed");
  const hashed = () => contentDigest(root, data.digest.name, extended);
  const trusted = await verifyAuthenticode(signed, data, { bytes, what, options, hashed });
  found.signature = signatureOf(signed.signer, "Authenticode", trusted.time);
  found.notes = [...trusted.notes, ...(extension ? [] : [openNames])];
  found.uncovered = [
    ...inFile(trusted.uncovered, stream),
    ...uncoveredEntries(root, extension !== undefined),
  ];
  return "ok";
}

const openNames = "names and sizes of the streams inside are not signed: there is no MsiDigitalSignatureEx";

function bytesOf({ entry, content }: Stream): Buffer {
  if (content.size > longestSignature)
    throw malformed(`${JSON.stringify(entry.name)} has ${content.size} bytes`);
  return Buffer.from(content.read(0, content.size));
}

/** Maps ranges of a stream to ranges of the file. */
const inFile = (ranges: readonly Uncovered[], { runs }: Stream): Uncovered[] =>
  ranges.flatMap(({ from, to, why }) =>
    placesOf(runs, from, to).map((at) => ({ from: at.from, to: at.from + at.size, why })),
  );

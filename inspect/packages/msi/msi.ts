import { createHash, type Hash } from "node:crypto";
import { type CabinetFile, cabinetMagic, type FileSink, openCabinet } from "../../archives/cabinet.ts";
import type { DirectoryEntry, Storage, Stream } from "../../archives/compound-file.ts";
import { placesOf } from "../../bytes/byte-runs.ts";
import { type ByteSource, bytesSource, shifted, type Uncovered } from "../../bytes/byte-source.ts";
import { heldFile, tooLarge } from "../../held-file.ts";
import {
  type FileSignature,
  type Found,
  type Inspection,
  type InspectOptions,
  refuseWorst,
  settled,
} from "../../inspection.ts";
import { type SelfCheckFinder, selfCheckFinder, withSelfCheck } from "../../self-check.ts";
import { indirectDataOf, subjects, verifyAuthenticode } from "../../signatures/authenticode.ts";
import { readSignedData, signatureOf } from "../../signatures/cms.ts";
import { refuseWeak } from "../../signatures/digest.ts";
import { badDigest, Fault, malformed, unsigned } from "../../verdict.ts";
import { isPe, peSignature } from "../pe/pe.ts";
import { type MsiTables, msiTables, openInstaller, streamName, summaryName } from "./tables.ts";

/** The signature covers all streams in byte order of their names, except these two. */
const signatureNames = {
  signature: "\u0005DigitalSignature",
  extended: "\u0005MsiDigitalSignatureEx",
} as const;

const isSignature = ({ entry }: Stream): boolean =>
  Object.values<string>(signatureNames).includes(entry.name);

/** Adds the streams and storages of a storage, then its class id. */
async function updateContent(hash: Hash, storage: Storage): Promise<Hash> {
  for (const part of inOrder(storage)) {
    if ("content" in part) await part.content.each((chunk) => void hash.update(chunk));
    else await updateContent(hash, part);
  }
  return hash.update(storage.entry.classId);
}

/** Adds names, sizes and times, which the hash of the content does not cover. */
function updateMetadata(hash: Hash, part: Storage | Stream): Hash {
  updateEntry(hash, part.entry);
  if ("streams" in part) for (const inside of inOrder(part)) updateMetadata(hash, inside);
  return hash;
}

function updateEntry(hash: Hash, { kind, rawName, classId, size, state, times }: DirectoryEntry): void {
  if (kind !== "root") hash.update(rawName);
  hash.update(kind === "stream" ? uint32(size) : classId);
  hash.update(state);
  if (kind !== "root") hash.update(times);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value % 2 ** 32);
  return bytes;
}

/** Only the root contains signature streams, which are not hashed. */
function inOrder({ entry, streams, storages }: Storage): readonly (Storage | Stream)[] {
  const signed = entry.kind === "root" ? streams.filter((stream) => !isSignature(stream)) : streams;
  return [...signed, ...storages].sort((one, other) =>
    Buffer.compare(one.entry.rawName, other.entry.rawName),
  );
}

/** Byte ranges of the fields of a directory entry (MS-CFB, 2.6.1), and their names in reasons. */
const fields = {
  name: [0, 64, "a name"],
  color: [67, 68, "a colour of the tree"],
  classId: [80, 96, "the class of a stream"],
  state: [96, 100, "state bits"],
  times: [100, 116, "times"],
  first: [116, 120, "the first sector of nothing"],
  size: [120, 124, "the size of a storage"],
  upperSize: [124, 128, "the unused half of a size"],
} as const;
type Field = keyof typeof fields;

/** Without `MsiDigitalSignatureEx`, the signature covers only class ids of storages and, indirectly, where content is. */
function uncoveredEntries(root: Storage, isExtended: boolean): Uncovered[] {
  const open: Field[] = isExtended ? [] : ["name", "state", "times"];
  const stream = (stream: Stream): Uncovered[] => {
    const more: Field[] = stream.entry.size === 0 ? ["classId", "first"] : ["classId"];
    return entryRanges(stream, [...(isSignature(stream) ? (["state", "times"] as const) : open), ...more]);
  };
  const inside = ({ streams, storages }: Storage): Uncovered[] => [
    ...streams.flatMap(stream),
    ...storages.flatMap((storage) => [
      ...entryRanges(storage, [...open, "first", "size"]),
      ...inside(storage),
    ]),
  ];
  // The root's name and times are never used; its size is that of the mini stream, which may have an unused end.
  const top: Field[] = ["name", "times", "size", ...(isExtended ? [] : (["state"] as const))];
  return [...entryRanges(root, root.entry.size === 0 ? [...top, "first"] : top), ...inside(root)];
}

/** @param names additional fields, besides those that are never covered */
function entryRanges({ place, entry: { rawName } }: Stream | Storage, names: readonly Field[]): Uncovered[] {
  const open = ([...names, "color", "upperSize"] as const).map((name) => range(fields[name]));
  // Bytes after a name's terminating zero are not covered, even if the name is.
  if (!names.includes("name")) open.push(range([rawName.length + 2, fields.name[1], fields.name[2]]));
  return open.filter(({ from, to }) => from < to).map(shifted(place));
}

const range = ([from, to, field]: readonly [number, number, string]): Uncovered => ({
  from,
  to,
  why: `${field} in the compound file's directory`,
});

const what = "its signature";

/** More than any signature with timestamps. */
const maxSignatureBytes = 1 << 22;

/** Inspects the signature of a Windows installer, and the executables in its cabinets. */
export async function inspectMsi(source: ByteSource, options: InspectOptions): Promise<Inspection> {
  const finder = selfCheckFinder(options.selfCheck);
  const found: Found = {};
  const inspected = await settled("msi", found, async () => {
    const { root, uncovered } = openInstaller(source);
    refuseUnknownNames(root);
    const tables = msiTables(root);
    found.facts = factsOf(tables);
    const signature = await settled("msi", found, () => checkSignature(root, options, found));
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

async function checkSignature(root: Storage, options: InspectOptions, found: Found): Promise<void> {
  const named = (name: string) => root.streams.find((stream) => stream.entry.name === name);
  const stream = named(signatureNames.signature);
  if (!stream) throw unsigned("it has no signature");
  const bytes = bytesOf(stream);
  const signed = readSignedData(bytes, what);
  found.signature = signatureOf(signed.signer, "Authenticode");
  found.key_id = found.signature.fingerprint;
  const data = indirectDataOf(signed, subjects.msi, what);
  found.facts = { ...found.facts, digest: Buffer.from(data.expected).toString("hex") };
  const extension = named(signatureNames.extended);
  const extended = extension ? bytesOf(extension) : Buffer.alloc(0);
  if (extension && !updateMetadata(createHash(data.digest.name), root).digest().equals(extended))
    throw badDigest("names, sizes or times of its streams are not those that were signed");
  refuseWeak(data.digest, what);
  const hash = await updateContent(createHash(data.digest.name).update(extended), root);
  const trusted = verifyAuthenticode(signed, data, hash.digest(), bytes, { what, options });
  found.signature = signatureOf(signed.signer, "Authenticode", trusted.time);
  found.notes = [...trusted.notes, ...(extension ? [] : [openNames])];
  found.uncovered = [
    ...inFile(trusted.uncovered, stream),
    ...uncoveredEntries(root, extension !== undefined),
  ];
}

const openNames = "names and sizes of the streams inside are not signed: there is no MsiDigitalSignatureEx";

function bytesOf({ entry, content }: Stream): Buffer {
  if (content.size > maxSignatureBytes)
    throw malformed(`${JSON.stringify(entry.name)} has ${content.size} bytes`);
  return Buffer.from(content.read(0, content.size));
}

/** Maps ranges of a stream to ranges of the file. */
const inFile = (ranges: readonly Uncovered[], { runs }: Stream): Uncovered[] =>
  ranges.flatMap(({ from, to, why }) =>
    placesOf(runs, from, to).map((at) => ({ from: at.from, to: at.from + at.size, why })),
  );

interface Into {
  options: InspectOptions;
  finder: SelfCheckFinder;
  found: Found;
}

/** Reads the cabinets, and the programs that the installer itself runs. @throws Fault */
async function readMsiContents(root: Storage, tables: MsiTables, into: Into): Promise<void> {
  const signatures: FileSignature[] = [];
  const notes: string[] = [];
  into.found.file_signatures = signatures;
  const names = fileNames(tables);
  let current = "";
  const sink = (file: CabinetFile) => {
    current = names.get(file.name) ?? file.name;
    return fileSink(current, file.size, into, signatures);
  };
  const extracted = async (cabinet: ByteSource, most: number): Promise<number> => {
    try {
      return await openCabinet(cabinet).extract(most, sink);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      const { verdict, message } = error;
      if (verdict === "unsupported-format") {
        notes.push(`${message}: its files were not looked at`);
        return 0;
      }
      // A broken cabinet means that the current file differs from the packed one, regardless of the cause.
      if (current !== "") signatures.push({ name: current, signature: null, verdict });
      throw error;
    }
  };
  let limit = into.options.limit;
  for (const { entry, content } of root.streams) {
    const name = streamName(entry.name);
    const head = content.size < 4 ? Buffer.alloc(0) : Buffer.from(content.read(0, 4));
    const named = { ...content, name };
    current = "";
    if (head.equals(cabinetMagic)) limit -= await extracted(named, limit);
    else if (name.startsWith("Binary.") && isPe(head))
      signatures.push(asFile(name, await peSignature(named, into.options)));
  }
  for (const [cabinet = ""] of tables.rows("Media", ["Cabinet"])) {
    if (cabinet !== "" && !cabinet.startsWith("#"))
      notes.push(`${cabinet} is next to the installer: its files were not checked`);
  }
  into.found.notes = [...(into.found.notes ?? []), ...notes];
}

/** The cabinet lists files by key; the table maps each key to `short|long` names. */
function fileNames(tables: MsiTables): Map<string, string> {
  const names = new Map<string, string>();
  for (const [key = "", name = ""] of tables.rows("File", ["File", "FileName"]))
    names.set(key, name.split("|").at(-1) ?? name);
  return names;
}

function fileSink(
  name: string,
  size: number,
  { finder, options }: Into,
  signatures: FileSignature[],
): FileSink {
  const scan = finder.file(name);
  const held = heldFile(size, isPe);
  return {
    write(chunk) {
      scan?.(chunk);
      held.write(chunk);
    },
    async end() {
      const bytes = held.bytes();
      if (bytes === "too-large") signatures.push(tooLarge(name));
      else if (bytes) signatures.push(asFile(name, await peSignature(bytesSource(bytes, name), options)));
      held.release();
    },
  };
}

function asFile(name: string, { signature, verdict }: Inspection): FileSignature {
  if (!signature) return { name, signature, verdict };
  const { signer, fingerprint } = signature;
  return { name, signature: { signer, fingerprint }, verdict };
}

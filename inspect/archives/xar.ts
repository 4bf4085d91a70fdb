import { createHash } from "node:crypto";
import { inflateSync } from "node:zlib";
import { type ByteSource, gaps, overlap, partOf, shifted, utf8 } from "../bytes/byte-source.ts";
import { readXml, type XmlElement } from "../bytes/xml.ts";
import { type Digest, digests } from "../signatures/digest.ts";
import { badDigest, malformed } from "../verdict.ts";

export type Xar = Awaited<ReturnType<typeof openXar>>;
export type XarSignature = ReturnType<typeof signatureOf>;

export interface XarFile {
  path: string;
  /** Content and extended attributes; a folder has none. */
  parts: readonly XarContent[];
}

type XarContent = ReturnType<typeof contentOf>;

/** A range of the heap. */
interface Part {
  offset: number;
  size: number;
}

const xarMagic = Buffer.from("xar!");
const headerSize = 28;
const algorithms = new Map<number, Digest>([
  [1, digests.sha1],
  [2, digests.md5],
  [3, digests.sha256],
  [4, digests.sha512],
]);
/** Enough for a table of thousands of files. */
const maxTableBytes = 1 << 22;

const what = "the table of contents";

/**
 * Opens a xar archive: a table of contents in XML, and the heap that it describes (xar(1)).
 * @returns `hash`: of the compressed table, which is signed; `stored`: must be equal; `heapAt`: offset of the heap
 * @throws Fault malformed, bad-digest
 */
export async function openXar(source: ByteSource) {
  const header = Buffer.from(source.read(0, headerSize));
  const digest = algorithms.get(header.readUInt32BE(24));
  if (
    !header.subarray(0, 4).equals(xarMagic) ||
    header.readUInt16BE(4) !== headerSize ||
    header.readUInt16BE(6) !== 1 ||
    !digest
  )
    throw malformed(`${source.name} has no header of xar, version 1, with a checksum of its table`);
  const [packed, unpacked] = [8, 16].map((at) => Number(header.readBigUInt64BE(at))) as [number, number];
  if (packed > maxTableBytes || unpacked > maxTableBytes)
    throw malformed(`${what} has ${Math.max(packed, unpacked)} bytes, expected ${maxTableBytes} at most`);
  const table = Buffer.from(source.read(headerSize, packed));
  // The readers of macOS ignore prefixes, and use parts of a text that CDATA or a comment splits.
  const xml = await readXml(utf8(inflated(table, unpacked), what), ["xar"], what, { isPlain: true });
  const heapAt = headerSize + packed;
  const heap = partOf(source, heapAt, source.size - heapAt, source.name);
  const { open, ...contents } = contentsOf(xml, digest, heap);
  const hash = createHash(digest.name).update(table).digest();
  return { ...contents, digest, hash, heap, uncovered: open.map(shifted(heapAt)), heapAt };
}

function inflated(table: Buffer, size: number): Buffer {
  try {
    const xml = inflateSync(table, { maxOutputLength: Math.max(1, size) });
    if (xml.length === size) return xml;
  } catch (error) {
    throw badDigest(`${what} cannot be unpacked: ${(error as Error).message}`);
  }
  throw malformed(`${what} does not unpack to the ${size} bytes that are announced`);
}

function contentsOf(xml: XmlElement, digest: Digest, heap: ByteSource) {
  const toc = sole(xml, "toc");
  const checksum = toc && sole(toc, "checksum");
  const stored = partOfHeap(checksum, "size");
  // A hash at another offset or of another kind has let unsigned archives pass as signed.
  if (
    !toc ||
    checksum?.attributes.style?.toLowerCase() !== digest.name ||
    stored.offset !== 0 ||
    stored.size !== digest.size
  )
    throw malformed(
      `${what} has its checksum elsewhere than first in the heap, or of another kind than the header says`,
    );
  const signatures = [...toc.all("signature"), ...toc.all("x-signature")].map(signatureOf);
  const files = filesIn(toc, "");
  const parts = [stored, ...signatures, ...files.flatMap(({ parts }) => parts)];
  const ranges = parts.map(({ offset, size }) => ({ from: offset, to: offset + size }));
  const twice = overlap(ranges.filter(({ from, to }) => from < to));
  if (twice !== undefined) throw malformed(`${what} has parts that overlap at byte ${twice} of the heap`);
  const beyond = ranges.find(({ to }) => to > heap.size);
  if (beyond)
    throw malformed(`${what} has a part up to byte ${beyond.to} of the heap, which has ${heap.size}`);
  const open = gaps(ranges, heap.size, "bytes of the heap that the table does not name");
  return { stored: Buffer.from(heap.read(0, digest.size)), signatures, files, open };
}

/** Readers differ in which of several elements they use. */
function sole(parent: XmlElement, name: string): XmlElement | undefined {
  const [found, ...others] = parent.all(name);
  if (others.length > 0) throw malformed(`${what} has an element with several ${name}, expected one at most`);
  return found;
}

const numberIn = (parent: XmlElement | undefined, name: string): number => {
  const text = (parent && sole(parent, name)?.text) ?? "";
  if (!/^\d{1,15}$/.test(text))
    throw malformed(`${what} has ${JSON.stringify(text)} for ${name}, expected a number`);
  return Number(text);
};

const partOfHeap = (parent: XmlElement | undefined, size: "size" | "length"): Part => ({
  offset: numberIn(parent, "offset"),
  size: numberIn(parent, size),
});

/** Its certificates are in DER, the signer's first. */
function signatureOf(found: XmlElement) {
  const listed = found.first("KeyInfo")?.first("X509Data")?.all("X509Certificate") ?? [];
  const certificates = listed.map(({ text }) => Buffer.from(text, "base64"));
  return { ...partOfHeap(found, "size"), style: found.attributes.style ?? "", certificates };
}

/** Files of a folder are child elements of the folder's element. */
function filesIn(parent: XmlElement, folder: string): XarFile[] {
  return parent.all("file").flatMap((file) => {
    const named = sole(file, "name");
    if (named?.attributes.enctype !== undefined)
      throw malformed(
        `${what} has a name with the encoding ${JSON.stringify(named.attributes.enctype)}, expected text`,
      );
    const name = named?.text ?? "";
    if (name === "" || name === ".." || name.includes("/"))
      throw malformed(`${what} has a file called ${JSON.stringify(name)}`);
    const path = `${folder}${name}`;
    const data = sole(file, "data");
    const parts = [...(data ? [data] : []), ...file.all("ea")].map(contentOf);
    return [{ path, parts }, ...filesIn(file, `${path}/`)];
  });
}

function contentOf(data: XmlElement) {
  const checksum = sole(data, "archived-checksum");
  const style = checksum?.attributes.style?.toLowerCase() ?? "";
  const digest = Object.values(digests).find(({ name }) => name === style);
  if (!checksum || !digest)
    throw malformed(`${what} has a file without a checksum, or with ${JSON.stringify(style)}`);
  const encoding = sole(data, "encoding")?.attributes.style ?? "application/octet-stream";
  return {
    ...partOfHeap(data, "length"),
    /** `application/octet-stream` means uncompressed. */
    encoding,
    unpackedSize: numberIn(data, "size"),
    digest,
    /** The hash of the stored bytes, in hexadecimal. */
    hash: checksum.text,
  };
}

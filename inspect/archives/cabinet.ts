import { inflateRawSync } from "node:zlib";
import type { ByteSource } from "../bytes/byte-source.ts";
import { badDigest, malformed, refused, unsupported } from "../verdict.ts";

export interface FileSink {
  write(chunk: Uint8Array): void;
  end(): Promise<void>;
}

export interface CabinetFile {
  name: string;
  size: number;
  folder: number;
  /** Offset in the folder's content. */
  from: number;
}

type Folder = ReturnType<typeof foldersIn>[number];

export const cabinetMagic = Buffer.from("MSCF");

const maxBlockBytes = 1 << 15;
const headerFlags = { isContinued: 1, continues: 2, hasReserve: 4 };
const compressions = ["none", "MSZIP", "Quantum", "LZX"];

/**
 * Opens a cabinet (MS-CAB): folders of concatenated files, compressed in blocks.
 * @throws Fault malformed; unsupported-format, for a set of several cabinets
 */
export function openCabinet(source: ByteSource) {
  const header = Buffer.from(source.read(0, 36));
  const [size, filesAt, flags] = [header.readUInt32LE(8), header.readUInt32LE(16), header.readUInt16LE(30)];
  if (!header.subarray(0, 4).equals(cabinetMagic) || header[25] !== 1 || size !== source.size)
    throw malformed(`${source.name} is not a cabinet of version 1 with ${source.size} bytes`);
  if (flags & (headerFlags.isContinued | headerFlags.continues))
    throw unsupported(`${source.name} is one of several cabinets that belong together`);
  const hasReserve = (flags & headerFlags.hasReserve) !== 0;
  const reserve = hasReserve ? Buffer.from(source.read(36, 4)) : Buffer.alloc(4);
  const [folderReserve, blockReserve] = [reserve[2] ?? 0, reserve[3] ?? 0];
  const foldersAt = 36 + (hasReserve ? 4 + reserve.readUInt16LE(0) : 0);
  const folders = foldersIn(source, foldersAt, header.readUInt16LE(26), 8 + folderReserve);
  const files = filesIn(source, filesAt, header.readUInt16LE(28), folders.length);
  return {
    files,
    /** Streams the content of each file in order. @returns unpacked size of all folders in bytes. @throws Fault */
    async extract(limit: number, take: (file: CabinetFile) => FileSink) {
      let total = 0;
      const byFolder = Map.groupBy(files, (file) => file.folder);
      for (const [index, folder] of folders.entries()) {
        const inside = byFolder.get(index) ?? [];
        total += await extractFolder(blocksOf(source, folder, blockReserve), inside, limit - total, take);
      }
      return total;
    },
  };
}

function foldersIn(source: ByteSource, at: number, count: number, size: number) {
  return Array.from({ length: count }, (_, index) => {
    const entry = Buffer.from(source.read(at + index * size, 8));
    return {
      first: entry.readUInt32LE(0),
      blocks: entry.readUInt16LE(4),
      compression: entry.readUInt16LE(6) & 15,
    };
  });
}

function filesIn(source: ByteSource, first: number, count: number, folders: number): CabinetFile[] {
  const files: CabinetFile[] = [];
  let at = first;
  for (let index = 0; index < count; index++) {
    const entry = Buffer.from(source.read(at, Math.max(16, Math.min(16 + 257, source.size - at))));
    const end = entry.indexOf(0, 16);
    if (end === -1) throw malformed(`${source.name} has a file whose name does not end`);
    const [folder, attributes] = [entry.readUInt16LE(8), entry.readUInt16LE(14)];
    // Bit 0x80 means that the name is UTF-8.
    const name = entry.toString(attributes & 0x80 ? "utf8" : "latin1", 16, end);
    if (folder >= folders)
      throw malformed(
        `${source.name} has ${JSON.stringify(name)} in folder ${folder}, and there are ${folders}`,
      );
    const last = files.at(-1);
    const from = entry.readUInt32LE(4);
    if (last && (last.folder > folder || (last.folder === folder && from < last.from + last.size)))
      throw malformed(`${source.name} has ${JSON.stringify(name)} where another file is, or out of order`);
    files.push({ name, size: entry.readUInt32LE(0), folder, from });
    at += end + 1;
  }
  return files;
}

function* blocksOf(
  source: ByteSource,
  { first, blocks, compression }: Folder,
  reserve: number,
): Generator<Uint8Array> {
  if (compression > 1)
    throw unsupported(
      `${source.name} is compressed with ${compressions[compression] ?? compression}, expected MSZIP`,
    );
  let at = first;
  let before: Uint8Array = new Uint8Array(0);
  for (let index = 0; index < blocks; index++) {
    const head = Buffer.from(source.read(at, 8 + reserve));
    const [size, unpacked] = [head.readUInt16LE(4), head.readUInt16LE(6)];
    // Valid until the next read, which is that of the next block.
    const { buffer, byteOffset } = source.read(at + head.length, size);
    const packed = Buffer.from(buffer, byteOffset, size);
    const sum = head.readUInt32LE(0);
    if (sum !== 0 && sum !== checksum(head.subarray(4), checksum(packed, 0)))
      throw badDigest(`${source.name} has a block at its byte ${at} whose checksum is wrong`);
    if (unpacked === 0 || unpacked > maxBlockBytes)
      throw malformed(`${source.name} has a block of ${unpacked} bytes`);
    before = compression === 0 ? packed : inflated(packed, before, unpacked, source.name);
    if (before.length !== unpacked)
      throw malformed(`${source.name} has a block of ${before.length} bytes, and ${unpacked} are announced`);
    yield before;
    at += head.length + size;
  }
}

/** MSZIP: `CK`, then deflate data that uses the previous block as its dictionary. */
function inflated(packed: Buffer, dictionary: Uint8Array, size: number, name: string): Uint8Array {
  if (packed.toString("latin1", 0, 2) !== "CK") throw malformed(`${name} has a block that is not MSZIP`);
  try {
    return inflateRawSync(packed.subarray(2), {
      dictionary,
      maxOutputLength: size,
      chunkSize: maxBlockBytes,
    });
  } catch (error) {
    throw malformed(`${name} has a block that cannot be unpacked: ${(error as Error).message}`);
  }
}

/** XOR of 32-bit words; the remaining bytes are in reverse order (MS-CAB, 3.1). */
function checksum(bytes: Buffer, seed: number): number {
  let sum = seed;
  const whole = bytes.length & ~3;
  for (let at = 0; at < whole; at += 4) sum ^= bytes.readUInt32LE(at);
  let rest = 0;
  for (const byte of bytes.subarray(whole)) rest = (rest << 8) | byte;
  return (sum ^ rest) >>> 0;
}

/** @returns unpacked size in bytes */
async function extractFolder(
  blocks: Iterable<Uint8Array>,
  files: readonly CabinetFile[],
  limit: number,
  take: (file: CabinetFile) => FileSink,
): Promise<number> {
  const waiting = files.values();
  const next = () => {
    const file = waiting.next().value;
    return file && { ...file, end: file.from + file.size, sink: take(file) };
  };
  let [at, current] = [0, next()];
  for (const block of current ? blocks : []) {
    const end = at + block.length;
    if (end > limit) throw refused(`a cabinet unpacks to more than the ${limit} bytes that are allowed`);
    while (current && current.from < end) {
      current.sink.write(
        block.subarray(Math.max(0, current.from - at), Math.min(block.length, current.end - at)),
      );
      if (current.end > end) break;
      await current.sink.end();
      current = next();
    }
    at = end;
  }
  for (; current; current = next()) {
    if (current.end > at) throw malformed(`the cabinet ends within ${JSON.stringify(current.name)}`);
    await current.sink.end();
  }
  return at;
}

import { deflateRawSync } from "node:zlib";

export interface Packed {
  name: string;
  content: Uint8Array;
}

export interface Wishes {
  /** 0: none, 1: MSZIP; others are only written to the header. */
  compression?: number;
  /** Bytes reserved in the header, in each folder and in each block. */
  reserve?: readonly [number, number, number];
  flags?: number;
  hasChecksums?: boolean;
}

const blockSize = 1 << 15;

/** Writes a cabinet with one folder (MS-CAB). */
export function cabinet(files: readonly Packed[], wishes: Wishes = {}): Buffer {
  const { compression = 1, reserve = [0, 0, 0], hasChecksums = true } = wishes;
  const hasReserve = reserve.some((size) => size > 0);
  const content = Buffer.concat(files.map(({ content }) => content));
  const blocks = blocksOf(content, compression, reserve[2], hasChecksums);
  const entries = Buffer.concat(entriesOf(files));
  const filesAt = 36 + (hasReserve ? 4 + reserve[0] : 0) + 8 + reserve[1];
  const dataAt = filesAt + entries.length;
  const data = Buffer.concat(blocks);
  const header = Buffer.alloc(36);
  header.write("MSCF");
  header.writeUInt32LE(dataAt + data.length, 8);
  header.writeUInt32LE(filesAt, 16);
  header.set([3, 1], 24);
  header.writeUInt16LE(1, 26);
  header.writeUInt16LE(files.length, 28);
  header.writeUInt16LE((wishes.flags ?? 0) | (hasReserve ? 4 : 0), 30);
  const reserved = Buffer.alloc(hasReserve ? 4 + reserve[0] : 0);
  if (hasReserve) reserved.set([reserve[0] & 255, reserve[0] >> 8, reserve[1], reserve[2]]);
  const folder = Buffer.alloc(8 + reserve[1]);
  folder.writeUInt32LE(dataAt, 0);
  folder.writeUInt16LE(blocks.length, 4);
  folder.writeUInt16LE(compression, 6);
  return Buffer.concat([header, reserved, folder, entries, data]);
}

function entriesOf(files: readonly Packed[]): Buffer[] {
  let from = 0;
  return files.map(({ name, content }) => {
    const entry = Buffer.alloc(16);
    entry.writeUInt32LE(content.length, 0);
    entry.writeUInt32LE(from, 4);
    entry.writeUInt16LE(0x80, 14);
    from += content.length;
    return Buffer.concat([entry, Buffer.from(`${name}\0`)]);
  });
}

function blocksOf(content: Buffer, compression: number, reserve: number, hasChecksums: boolean): Buffer[] {
  const blocks: Buffer[] = [];
  for (let at = 0; at < content.length; at += blockSize) {
    const plain = content.subarray(at, at + blockSize);
    const dictionary = content.subarray(Math.max(0, at - blockSize), at);
    const deflated = () => deflateRawSync(plain, dictionary.length > 0 ? { dictionary } : {});
    const packed = compression === 1 ? Buffer.concat([Buffer.from("CK"), deflated()]) : plain;
    const head = Buffer.alloc(8 + reserve);
    head.writeUInt16LE(packed.length, 4);
    head.writeUInt16LE(plain.length, 6);
    if (hasChecksums) head.writeUInt32LE(checksum(Buffer.concat([head.subarray(4)]), checksum(packed, 0)), 0);
    blocks.push(Buffer.concat([head, packed]));
  }
  return blocks;
}

/** The checksum by words, as in the format's description. */
function checksum(bytes: Buffer, seed: number): number {
  const [a = 0, b = 0, c = 0] = bytes.subarray(bytes.length & ~3);
  let sum = seed;
  for (let at = 0; at + 4 <= bytes.length; at += 4)
    sum ^=
      (bytes[at] ?? 0) |
      ((bytes[at + 1] ?? 0) << 8) |
      ((bytes[at + 2] ?? 0) << 16) |
      ((bytes[at + 3] ?? 0) << 24);
  const last = [0, a, (a << 8) | b, (a << 16) | (b << 8) | c][bytes.length % 4] ?? 0;
  return (sum ^ last) >>> 0;
}

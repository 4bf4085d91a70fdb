import { crc32 } from "node:zlib";

/**
 * An xz file that stores its content without compressing it. Its bytes depend on no compressor, so a digest of them
 * stays valid with every version of relcat (https://tukaani.org/xz/xz-file-format.txt).
 */
export function storedXz(content: Uint8Array): Uint8Array {
  const block = Buffer.concat([blockHeader, storedChunks(content)]);
  const check = number32(crc32(content));
  const index = withChecksum(
    padded(Buffer.from([0, 1, ...vli(block.length + check.length), ...vli(content.length)])),
  );
  const size = number32(index.length / 4 - 1);
  const footer = Buffer.concat([number32(crc32(Buffer.concat([size, flags]))), size, flags]);
  return Buffer.concat([streamHeader, padded(block), check, index, footer, Buffer.from("YZ")]);
}

const number32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};

const withChecksum = (bytes: Buffer): Buffer => Buffer.concat([bytes, number32(crc32(bytes))]);

const padded = (bytes: Buffer): Buffer => Buffer.concat([bytes, Buffer.alloc(-bytes.length & 3)]);

/** The check of the content is a CRC32. */
const flags = Buffer.from([0, 1]);
const streamHeader = Buffer.concat([Buffer.from("\xfd7zXZ\0", "latin1"), withChecksum(flags)]);

const lzma2 = 0x21;
/** 64 KiB, the size of a chunk. */
const dictionary = 8;
const blockHeader = withChecksum(Buffer.from([2, 0, lzma2, 1, dictionary, 0, 0, 0]));

const chunkSize = 0x10000;

/** Uncompressed chunks of LZMA2; the first one resets the dictionary. */
function storedChunks(content: Uint8Array): Buffer {
  const parts: Uint8Array[] = [];
  for (let at = 0; at < content.length; at += chunkSize) {
    const chunk = content.subarray(at, at + chunkSize);
    const last = chunk.length - 1;
    parts.push(Buffer.from([at === 0 ? 1 : 2, last >> 8, last & 0xff]), chunk);
  }
  return Buffer.concat([...parts, Buffer.from([0])]);
}

/** Numbers of the index have seven bits per byte, the lowest first. */
function vli(value: number): number[] {
  const low = value % 0x80;
  return value < 0x80 ? [value] : [low | 0x80, ...vli((value - low) / 0x80)];
}

import { createHash } from "node:crypto";
import { authenticode, subjects } from "./authenticode.ts";
import type { Identity } from "./certificates.ts";
import { context, der, octets, oid, sequence, set } from "./der.ts";
import type { digestOids, Signing } from "./signed-data.ts";

export interface SigningOfPe {
  signer: Identity;
  digest?: keyof typeof digestOids;
  subject?: string;
  /** Pairs of an offset and a hash. */
  pages?: Buffer;
  signing?: Partial<Signing>;
  /** Bytes after the signature in the certificate table. */
  padding?: Buffer;
}

const headerAt = (file: Buffer): number => file.readUInt32LE(60) + 24;
const isPlus = (file: Buffer): boolean => file.readUInt16LE(headerAt(file)) === 0x20b;
/** Offset of the certificate table's entry in the header. */
export const entryAt = (file: Buffer): number => headerAt(file) + (isPlus(file) ? 112 : 96) + 32;

/** Signs a program as Authenticode does. */
export function signedPe(unsigned: Buffer, wishes: SigningOfPe): Buffer {
  const { signer, digest = "sha256", subject = subjects.pe, signing } = wishes;
  const file = Buffer.concat([unsigned, Buffer.alloc(-unsigned.length & 7)]);
  const [checksum, entry] = [headerAt(file) + 64, entryAt(file)];
  const covered = Buffer.concat([
    file.subarray(0, checksum),
    file.subarray(checksum + 4, entry),
    file.subarray(entry + 8),
  ]);
  const hash = createHash(digest).update(covered).digest();
  const value = imageData(wishes.pages ? pagesObject(wishes.pages) : der(0xa2, der(0x80)));
  const pkcs7 = authenticode(hash, { signer, digest, subject, signing, value });
  const table = tableOf(pkcs7, wishes.padding ?? Buffer.alloc(-pkcs7.length & 7));
  file.writeUInt32LE(file.length, entry);
  file.writeUInt32LE(table.length, entry + 4);
  return Buffer.concat([file, table]);
}

export function tableOf(pkcs7: Uint8Array, padding: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32LE(8 + pkcs7.length, 0);
  head.writeUInt32LE(0x20200, 4);
  return Buffer.concat([head, pkcs7, padding]);
}

/** SpcPeImageData, whose file contains only page hashes. */
const imageData = (file: Buffer): Buffer => sequence(der(0x03, Buffer.alloc(1)), context(0, file));

function pagesObject(table: Buffer): Buffer {
  const hashes = set(sequence(oid("1.3.6.1.4.1.311.2.3.2"), set(octets(table))));
  return der(0xa1, octets(Buffer.from("a6b586d5b4a12466ae05a217da8e60d6", "hex")), octets(hashes));
}

/** The table of page hashes: header, pages of sections, end. */
export function pagesOf(file: Buffer): Buffer {
  const at = headerAt(file);
  const [pageSize, headerSize] = [file.readUInt32LE(at + 32), file.readUInt32LE(at + 60)];
  const sections = at + file.readUInt16LE(at - 4);
  const entry = (offset: number, hash: Buffer) => {
    const head = Buffer.alloc(4);
    head.writeUInt32LE(offset);
    return Buffer.concat([head, hash]);
  };
  const page = (parts: Buffer[]) => {
    const bytes = Buffer.concat(parts);
    const size = parts.reduce((sum, { length }) => sum + length, 0);
    return createHash("sha256")
      .update(bytes)
      .update(Buffer.alloc(Math.max(0, pageSize - size)))
      .digest();
  };
  const header = Buffer.concat([
    file.subarray(0, at + 64),
    file.subarray(at + 68, entryAt(file)),
    file.subarray(entryAt(file) + 8, headerSize),
  ]);
  // The padding is computed as if the two omitted fields were there.
  const first = createHash("sha256")
    .update(header)
    .update(Buffer.alloc(pageSize - headerSize))
    .digest();
  const table = [entry(0, first)];
  let end = 0;
  for (let index = 0; index < file.readUInt16LE(at - 18); index++) {
    const [size, from] = [
      file.readUInt32LE(sections + 40 * index + 16),
      file.readUInt32LE(sections + 40 * index + 20),
    ];
    for (let done = 0; done < size; done += pageSize)
      table.push(
        entry(from + done, page([file.subarray(from + done, from + Math.min(size, done + pageSize))])),
      );
    if (size > 0) end = from + size;
  }
  return Buffer.concat([...table, entry(end, Buffer.alloc(32))]);
}

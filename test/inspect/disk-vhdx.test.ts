import { describe, expect, test } from "vitest";
import { crc32c } from "../../inspect/images/disks/vhdx.ts";
import { changed, inspected, refusals, unpackedArtifact } from "../support/images.ts";

describe("vhdx", () => {
  const kibibyte = 1024;
  const summed = (copy: Buffer, from: number, size: number) => {
    copy.fill(0, from + 4, from + 8);
    copy.writeUInt32LE(crc32c(copy.subarray(from, from + size)), from + 4);
  };
  const headers = (change: (header: Buffer) => unknown) => (copy: Buffer) => {
    for (const from of [64 * kibibyte, 128 * kibibyte]) {
      change(copy.subarray(from, from + 4096));
      summed(copy, from, 4096);
    }
  };
  const regions = (change: (table: Buffer) => unknown) => (copy: Buffer) => {
    for (const from of [192 * kibibyte, 256 * kibibyte]) {
      change(copy.subarray(from, from + 65536));
      summed(copy, from, 65536);
    }
  };
  const place = (id: string) => (copy: Buffer) => {
    const at = copy.indexOf(Buffer.from(id, "hex"), 192 * kibibyte);
    return Number(copy.readBigUInt64LE(at + 16));
  };
  const metadata = place("06a27c8b90479a4bb8fe575f050f886e");
  const table = place("6677c22d23f600429d64115e9bfd4a08");
  /** Offset of an item's entry; where the item is. */
  const item = (copy: Buffer, index: number) => metadata(copy) + 32 + index * 32;
  const value = (copy: Buffer, index: number) => metadata(copy) + copy.readUInt32LE(item(copy, index) + 16);

  test("uses the checksum of RFC 3720", () => {
    expect(crc32c(Buffer.from("123456789")).toString(16)).toBe("e3069283");
    expect(crc32c(Buffer.alloc(32)).toString(16)).toBe("8a9136aa");
  });

  refusals(
    () => unpackedArtifact("vm/acme-1.2.3-hyperv.vhdx.xz"),
    [
      [
        "both headers damaged",
        (copy) => {
          copy.writeUInt8(9, 64 * kibibyte + 100);
          copy.writeUInt8(9, 128 * kibibyte + 100);
        },
        "malformed: disk has no header with a correct checksum",
      ],
      [
        "another version",
        headers((copy) => copy.writeUInt16LE(2, 66)),
        "unsupported-format: disk is VHDX of another version than 1",
      ],
      [
        "a log that is not empty",
        headers((copy) => copy.writeUInt8(1, 48)),
        "refuse: disk was not closed: its log has changes that the disk does not",
      ],
      [
        "both tables damaged",
        (copy) => {
          copy.writeUInt8(9, 192 * kibibyte + 1000);
          copy.writeUInt8(9, 256 * kibibyte + 1000);
        },
        "malformed: disk has no region table with a correct checksum",
      ],
      [
        "3000 regions",
        regions((copy) => copy.writeUInt32LE(3000, 8)),
        "malformed: disk has no region table with a correct checksum",
      ],
      [
        "no regions",
        regions((copy) => copy.writeUInt32LE(0, 8)),
        "malformed: disk has no region of blocks, or none of metadata",
      ],
      [
        "a region that is unknown and needed",
        regions((copy) => {
          copy.writeUInt8(copy.readUInt8(16) ^ 1, 16);
          copy.writeUInt8(1, 44);
        }),
        "unsupported-format: disk needs the region 2DC27767-F623-4200-9D64-115E9BFD4A08, which is not supported",
      ],
      [
        "a region twice",
        regions((copy) => copy.copy(copy, 48, 16, 32)),
        "malformed: disk has the region 2DC27766-F623-4200-9D64-115E9BFD4A08 twice",
      ],
      [
        "a region beyond the end",
        regions((copy) => copy.writeUInt32LE(2 ** 31, 32)),
        "malformed: disk has a region beyond its end",
      ],
      [
        "regions over each other",
        regions((copy) => copy.copy(copy, 32, 64, 72)),
        "malformed: disk has a region at byte 3145728, where something else is already",
      ],
      ["no metadata", (copy) => copy.write("x", metadata(copy)), "malformed: disk has no table of metadata"],
      [
        "a parent by a flag",
        (copy) => copy.writeUInt32LE(2, value(copy, 0) + 4),
        "refuse: disk is a difference to a parent disk, expected a disk of its own",
      ],
      [
        "metadata that is unknown and needed",
        (copy) => copy.writeUInt8(copy.readUInt8(item(copy, 1)) ^ 1, item(copy, 1)),
        "unsupported-format: disk needs the metadata 2FA54225-CD1B-4876-B211-5DBED83BF4B8, which is not supported",
      ],
      [
        "metadata outside",
        (copy) => copy.writeUInt32LE(2 ** 30, item(copy, 1) + 16),
        "malformed: disk has the metadata 2FA54224-CD1B-4876-B211-5DBED83BF4B8 outside its place",
      ],
      [
        "metadata twice",
        (copy) => copy.copy(copy, item(copy, 1), item(copy, 0), item(copy, 0) + 16),
        "malformed: disk has the metadata CAA16737-FA36-4D43-B3B6-33F0AA44E76B twice",
      ],
      [
        "metadata that is missing",
        (copy) => copy.writeUInt16LE(1, metadata(copy) + 10),
        "malformed: disk has no proper metadata item 8141BF1D-A96F-4709-BA47-F233A8FAAB5F",
      ],
      [
        "blocks of 3 bytes",
        (copy) => copy.writeUInt32LE(3, value(copy, 0)),
        "malformed: disk has blocks of 3 bytes and sectors of 512",
      ],
      [
        "a size of 1 EiB",
        (copy) => copy.writeBigUInt64LE(1n << 52n, value(copy, 1)),
        "refuse: disk declares a disk of 4503599627370496 bytes, expected 17592186044416 at most",
      ],
      [
        "more blocks than its table has",
        (copy) => copy.writeBigUInt64LE(1n << 42n, value(copy, 1)),
        "malformed: disk has a table that is too short for its disk",
      ],
      [
        "blocks that a parent completes",
        (copy) => copy.writeUInt8((copy.readUInt8(table(copy)) & 0xf8) | 7, table(copy)),
        "refuse: disk has blocks that a parent disk completes",
      ],
      [
        "a block over the table",
        (copy) => copy.writeBigUInt64LE(BigInt(table(copy)) | 6n, table(copy)),
        "malformed: disk has a block at byte 2097152, where something else is already",
      ],
      [
        "a block beyond the end",
        (copy) => copy.writeBigUInt64LE((1n << 40n) | 6n, table(copy)),
        "malformed: disk ends at byte 9437184, before a block (1048576 bytes from 1099511627776 on)",
      ],
    ],
  );

  test("reports one damaged header, and uses the other", async () => {
    const bytes = changed(unpackedArtifact("vm/acme-1.2.3-hyperv.vhdx.xz"), (copy) =>
      copy.writeUInt8(9, 64 * kibibyte + 100),
    );
    expect(await inspected(bytes, "disk")).toMatchObject({
      verdict: "ok",
      notes: ["one of its two headers is damaged"],
    });
  });
});

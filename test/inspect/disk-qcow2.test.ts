import { deflateRawSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { bytesOf } from "../support/artifacts.ts";
import { changed, inspected, refusals } from "../support/images.ts";

describe("qcow2", () => {
  const good = () => bytesOf("vm/acme-1.2.3.qcow2");
  const u64 = (at: number, value: bigint) => (copy: Buffer) => copy.writeBigUInt64BE(value, at);
  const u32 = (at: number, value: number) => (copy: Buffer) => copy.writeUInt32BE(value, at);
  /** The first second-level table, through the first. */
  const l2 = (copy: Buffer) =>
    Number(copy.readBigUInt64BE(Number(copy.readBigUInt64BE(40))) & 0xfffffffffffe00n);
  const firstCluster = (copy: Buffer) => copy.readBigUInt64BE(l2(copy));

  refusals(good, [
    ["version 1", u32(4, 1), "unsupported-format: disk is qcow version 1, expected 2 or 3"],
    [
      "a backing file",
      (copy) => {
        copy.writeBigUInt64BE(200n, 8);
        copy.writeUInt32BE(5, 16);
        copy.write("../it", 200);
      },
      'refuse: disk needs the backing file "../it", expected an image of its own',
    ],
    ["encrypted", u32(32, 1), "refuse: disk is encrypted, expected one that every machine can read"],
    ["dirty", u64(72, 1n), "refuse: disk was not closed: qemu-img check -r all repairs it"],
    ["corrupt", u64(72, 2n), "refuse: disk is marked corrupt; build it again"],
    ["its data elsewhere", u64(72, 4n), "refuse: disk keeps its data in another file, expected one file"],
    [
      "a feature that is unknown",
      u64(72, 32n),
      "unsupported-format: disk has features that are not supported",
    ],
    [
      "a compression that is unknown",
      u64(72, 8n),
      "unsupported-format: disk is compressed in a way that is not supported",
    ],
    ["clusters too small", u32(20, 8), "malformed: disk has clusters of 2^8 bytes, expected 2^9 to 2^21"],
    ["clusters too large", u32(20, 22), "malformed: disk has clusters of 2^22 bytes, expected 2^9 to 2^21"],
    ["no size", u64(24, 0n), "malformed: disk has a disk of 0 bytes"],
    [
      "a size of 8 PiB",
      u64(24, 2n ** 53n - 1n),
      "refuse: disk declares a disk of 9007199254740991 bytes, expected 17592186044416 at most",
    ],
    [
      "a size beyond all numbers",
      u64(24, 2n ** 63n),
      "malformed: disk has a number at byte 24 that is larger than any file",
    ],
    ["a short header", u32(100, 96), "malformed: disk has a header that is too short"],
    ["reference counts of 128 bits", u32(96, 7), "malformed: disk has reference counts of too many bits"],
    [
      "a first table too short",
      u32(36, 0),
      "malformed: disk has a table of 0 entries for its disk, expected 1",
    ],
    [
      "a first table of 2^32 entries",
      u32(36, 2 ** 32 - 1),
      "malformed: disk has a table of 4294967295 entries for its disk, expected 1",
    ],
    [
      "a first table beyond the end",
      u64(40, 2n ** 40n),
      "malformed: disk ends at byte 28672, before its first table (8 bytes from 1099511627776 on)",
    ],
    [
      "a first table anywhere",
      u64(40, 520n),
      "malformed: disk has its first table at byte 520, expected a multiple of 4096",
    ],
    [
      "a first table in the header",
      u64(40, 0n),
      "malformed: disk has its first table at byte 0, where something else is already",
    ],
    ["no reference counts", u32(56, 0), "malformed: disk has no proper table of reference counts"],
    [
      "reference counts without end",
      u32(56, 2 ** 31),
      "malformed: disk has no proper table of reference counts",
    ],
    [
      "extensions without end",
      (copy) => copy.writeBigUInt64BE(0x1_0000_1388n, copy.readUInt32BE(100)),
      "malformed: disk has header extensions that do not end",
    ],
    [
      "extensions that name a file",
      (copy) => {
        const at = copy.readUInt32BE(100);
        copy.write("DATA", at);
        copy.writeUInt32BE(0, at + 4);
      },
      "refuse: disk names a file with its data, expected one file",
    ],
    [
      "a cluster twice",
      (copy) => copy.writeBigUInt64BE(firstCluster(copy), l2(copy) + 8),
      "malformed: disk has a cluster at byte 20480, where something else is already",
    ],
    [
      "a table as its own cluster",
      (copy) => copy.writeUInt32BE(l2(copy), l2(copy) + 4),
      "malformed: disk has a cluster at byte 16384, where something else is already",
    ],
    [
      "a cluster beyond the end",
      (copy) => copy.writeUInt32BE(0x7ffff000, l2(copy) + 4),
      "malformed: disk ends at byte 28672, before a cluster (4096 bytes from 2147479552 on)",
    ],
    [
      "a compressed cluster beyond the end",
      (copy) => copy.writeBigUInt64BE((1n << 62n) | (1n << 40n), l2(copy)),
      "malformed: disk has a compressed cluster beyond its end",
    ],
    [
      "flags that are unknown",
      (copy) => copy.writeUInt8(0x90, l2(copy)),
      "malformed: disk has a table entry with unknown flags",
    ],
  ]);

  test("replaces control characters in the name of a backing file", async () => {
    const bytes = changed(good(), (copy) => {
      copy.writeBigUInt64BE(200n, 8);
      copy.writeUInt32BE(6, 16);
      copy.write("\x1b[2Jab", 200);
    });
    expect((await inspected(bytes, "disk")).reason).toContain('"\\u001b[2Jab"');
  });

  test("reports snapshots", async () => {
    const { verdict, notes } = await inspected(changed(good(), u32(60, 2)), "disk");
    expect([verdict, notes]).toEqual([
      "ok",
      ["it holds 2 snapshots, with the contents of the disk at that time"],
    ]);
  });

  test("reads compressed clusters, and reports damage", async () => {
    const boot = Buffer.alloc(4096);
    boot.writeUInt8(0x83, 450);
    boot.writeUInt16LE(0xaa55, 510);
    const packed = deflateRawSync(boot);
    const withPacked = (content: Uint8Array) =>
      changed(good(), (copy) => {
        copy.set(content, Number(firstCluster(copy) & 0xfffffffffffe00n));
        // Its place, one more sector after the first, and that it is compressed.
        copy.writeBigUInt64BE((1n << 62n) | (1n << 58n) | (firstCluster(copy) & 0xfffffffffffe00n), l2(copy));
      });
    expect((await inspected(withPacked(packed), "disk")).facts.boot).toBe("bios");
    const { verdict, facts, notes } = await inspected(withPacked(Buffer.alloc(1024, 0xff)), "disk");
    expect([verdict, facts.boot]).toEqual(["ok", "unknown"]);
    expect(notes).toEqual([
      "its partition table could not be read: disk has a compressed cluster at byte 20480 that is damaged",
    ]);
  });
});

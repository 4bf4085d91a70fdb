import { describe, expect, test } from "vitest";
import { refusals, unpackedArtifact, verdictOn } from "../support/images.ts";

describe("vhd", () => {
  /** The complement of the sum of its bytes, at 64 of a footer and 36 of a header. */
  const summed = (copy: Buffer, from: number, size: number, at: number) => {
    copy.fill(0, from + at, from + at + 4);
    const sum = copy.subarray(from, from + size).reduce((total, byte) => total + byte, 0);
    copy.writeUInt32BE(~sum >>> 0, from + at);
  };
  const footer = (change: (footer: Buffer) => unknown) => (copy: Buffer) => {
    for (const from of copy.toString("latin1", 0, 8) === "conectix"
      ? [0, copy.length - 512]
      : [copy.length - 512]) {
      change(copy.subarray(from, from + 512));
      summed(copy, from, 512, 64);
    }
  };
  const header = (change: (header: Buffer) => unknown) => (copy: Buffer) => {
    change(copy.subarray(512, 1536));
    summed(copy, 512, 1024, 36);
  };

  describe("fixed", () => {
    refusals(
      () => unpackedArtifact("vm/acme-1.2.3-azure.vhd.xz"),
      [
        [
          "a footer that is damaged",
          (copy) => copy.writeUInt8(9, copy.length - 512 + 30),
          "malformed: disk has a footer whose checksum is wrong",
        ],
        [
          "another version",
          footer((copy) => copy.writeUInt32BE(0x20000, 12)),
          "malformed: disk has no footer of version 1.0 at byte 1048576",
        ],
        [
          "a parent",
          footer((copy) => copy.writeUInt32BE(4, 60)),
          "refuse: disk is a difference to a parent disk, expected a disk of its own",
        ],
        [
          "another type",
          footer((copy) => copy.writeUInt32BE(5, 60)),
          "malformed: disk is of the disk type 5, expected fixed or dynamic",
        ],
        [
          "a saved state",
          footer((copy) => copy.writeUInt8(1, 84)),
          "refuse: disk holds a machine's saved state, expected none",
        ],
        [
          "another size",
          footer((copy) => copy.writeBigUInt64BE(512n, 48)),
          "malformed: disk has 1049088 bytes, expected its disk of 512 and a footer",
        ],
      ],
    );
  });

  describe("dynamic", () => {
    refusals(
      () => unpackedArtifact("vm/acme-1.2.3-dynamic.vhd.xz"),
      [
        [
          "a footer that is missing",
          (copy) => copy.fill(0, copy.length - 512),
          "malformed: disk has no footer of version 1.0 at byte 2099712",
        ],
        [
          "two footers",
          (copy) => {
            copy.writeUInt8(copy.readUInt8(25) ^ 1, 25);
            summed(copy, 0, 512, 64);
          },
          "malformed: disk begins with another footer than it ends with",
        ],
        [
          "a header that is damaged",
          (copy) => copy.writeUInt8(9, 600),
          "malformed: disk has a header whose checksum is wrong",
        ],
        ["no header", header((copy) => copy.write("x")), "malformed: disk has no header of a dynamic disk"],
        [
          "blocks of no size",
          header((copy) => copy.writeUInt32BE(0, 32)),
          "malformed: disk has 1 blocks of 0 bytes for its disk",
        ],
        [
          "blocks of 3 MiB",
          header((copy) => copy.writeUInt32BE(3 << 20, 32)),
          "malformed: disk has 1 blocks of 3145728 bytes for its disk",
        ],
        [
          "too few blocks",
          footer((copy) => copy.writeBigUInt64BE(1n << 30n, 48)),
          "malformed: disk has 1 blocks of 2097152 bytes for its disk",
        ],
        [
          "a table beyond the end",
          header((copy) => copy.writeBigUInt64BE(1n << 30n, 16)),
          "malformed: disk ends at byte 2099712, before its table (4 bytes from 1073741824 on)",
        ],
        [
          "2^32 blocks",
          header((copy) => copy.writeUInt32BE(2 ** 32 - 1, 28)),
          "malformed: disk ends at byte 2099712, before its table (17179869180 bytes from 1536 on)",
        ],
        [
          "a block over the table",
          (copy) => copy.writeUInt32BE(3, 1536),
          "malformed: disk has a block at byte 1536, where something else is already",
        ],
        [
          "a block beyond the end",
          (copy) => copy.writeUInt32BE(5, 1536),
          "malformed: disk ends at byte 2099712, before a block (2097664 bytes from 2560 on)",
        ],
      ],
    );
  });
});

describe("vdi", () => {
  const u32 = (at: number, value: number) => (copy: Buffer) => copy.writeUInt32LE(value, at);
  refusals(
    () => unpackedArtifact("vm/acme-1.2.3.vdi.xz"),
    [
      [
        "another version",
        u32(68, 0x20000),
        "unsupported-format: disk is VDI of another version, expected 1.1",
      ],
      [
        "a difference",
        u32(76, 4),
        "refuse: disk is a difference to a parent disk, expected a disk of its own",
      ],
      ["a parent", u32(440, 4), "refuse: disk is a difference to a parent disk, expected a disk of its own"],
      ["a link", u32(424, 4), "refuse: disk is a difference to a parent disk, expected a disk of its own"],
      ["no size", (copy) => copy.writeBigUInt64LE(0n, 368), "malformed: disk has a disk of 0 bytes"],
      ["blocks of no size", u32(376, 0), "malformed: disk has 1 blocks of 0 bytes for its disk of 1048576"],
      [
        "too few blocks",
        u32(384, 0),
        "malformed: disk has 0 blocks of 1048576 bytes for its disk of 1048576",
      ],
      [
        "a map that reaches into the data",
        u32(340, 1022),
        "malformed: disk has a block map that reaches into its data",
      ],
      [
        "data after the end",
        u32(344, 0x7ffffff0),
        "malformed: disk has data that begin at byte 2147483632, after its end",
      ],
      ["a block that is not there", u32(512, 1), "malformed: disk uses block 1 of 1"],
      [
        "a block beyond the end",
        u32(344, 4096),
        "malformed: disk ends at byte 1045504, before a block (1048576 bytes from 0 on)",
      ],
    ],
  );
});

describe("raw", () => {
  test.each([
    ["disk.raw", 1024, "ok"],
    ["disk.img", 1024, "ok"],
    ["disk.img", 1023, "malformed: disk.img has 1023 bytes, expected a multiple of 512 for a raw disk"],
    ["disk.raw", 0, "malformed: disk.raw has 0 bytes, expected a multiple of 512 for a raw disk"],
    ["disk", 1024, "unsupported-format: disk is not an image or archive in a known format"],
  ])("%s of %i bytes", async (name, size, expected) => {
    expect(await verdictOn(Buffer.alloc(size), name)).toBe(expected);
  });
});

import { crc32 } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { bootOf } from "../../inspect/images/boot.ts";
import { OutsideWindow } from "../../inspect/images/disks/fields.ts";
import { gptDisk, mbrDisk, partitionTypes } from "../support/images.ts";

const { esp, biosBoot, linux } = partitionTypes;

const read = (disk: Buffer) => ({
  virtualSize: disk.length,
  read: (from: number, length: number) => disk.subarray(from, from + length),
});

test.each([
  ["no table", Buffer.alloc(4096), "unknown"],
  ["half a sector", Buffer.alloc(256), "unknown"],
  ["an MBR without partitions", mbrDisk([]), "unknown"],
  ["a partition of Linux in the MBR", mbrDisk([0x83]), "bios"],
  ["an EFI system partition in the MBR", mbrDisk([0xef]), "efi"],
  ["both in the MBR", mbrDisk([0x83, 0xef]), "both"],
  ["a GPT with Linux only", gptDisk([[linux]]), "unknown"],
  ["a GPT with an EFI system partition", gptDisk([[linux], [esp]]), "efi"],
  ["a GPT with a place for GRUB", gptDisk([[biosBoot]]), "bios"],
  ["a GPT with both", gptDisk([[biosBoot], [esp]]), "both"],
  ["a partition marked for old firmware", gptDisk([[linux, 4], [esp]]), "both"],
  ["a GPT of sectors of 4096 bytes", gptDisk([[esp]], 4096), "efi"],
  ["a hybrid MBR", gptDisk([[esp]], 512, [0xee, 0x83]), "both"],
])("%s", (_, disk, boot) => {
  expect(bootOf(read(disk))).toEqual({ boot, notes: [] });
});

test.each<[string, (disk: Buffer) => unknown]>([
  ["header", (disk) => disk.writeUInt8(1, 512 + 60)],
  ["header's length", (disk) => disk.writeUInt32LE(2 ** 31, 512 + 12)],
  ["signature", (disk) => disk.write("x", 512)],
  ["table", (disk) => disk.writeUInt8(1, 1024 + 127)],
])("a GPT with a damaged %s is ignored with a note", (_, damage) => {
  const disk = gptDisk([[esp]]);
  damage(disk);
  expect(bootOf(read(disk))).toEqual({ boot: "unknown", notes: ["its GPT is damaged"] });
});

test("a stream whose partition table was not kept is reported", () => {
  const passed = () => {
    throw new OutsideWindow();
  };
  expect(bootOf({ virtualSize: 4096, read: passed })).toEqual({
    boot: "unknown",
    notes: ["its partition table was not kept while it was read"],
  });
});

test("any partition table is read completely or not at all", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 92, maxLength: 92 }), (bytes) => {
      const disk = gptDisk([[esp]]);
      disk.set(bytes, 512 + 8);
      const header = disk.subarray(512, 604);
      header.writeUInt32LE(92, 12);
      header.fill(0, 16, 20);
      header.writeUInt32LE(crc32(header), 16);
      expect(["bios", "efi", "both", "unknown"]).toContain(bootOf(read(disk)).boot);
    }),
  );
});

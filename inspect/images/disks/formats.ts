import { malformed } from "../../verdict.ts";
import type { Disk } from "./disk.ts";
import type { Bytes } from "./fields.ts";
import { readQcow2 } from "./qcow2.ts";
import { readVdi } from "./vdi.ts";
import { readVhd } from "./vhd.ts";
import { readVhdx } from "./vhdx.ts";
import { descriptorStart, readVmdk } from "./vmdk.ts";

export interface DiskFormat {
  name: string;
  read(source: Bytes): Disk;
}

const startsWith =
  (magic: string, at = 0) =>
  (source: Bytes): boolean =>
    source.size >= at + magic.length &&
    Buffer.from(source.read(at, magic.length)).toString("latin1") === magic;

const hasVhdFooter = (source: Bytes) =>
  source.size >= 512 && startsWith("conectix", source.size - 512)(source);

const formats: readonly (DiskFormat & { isIt(source: Bytes): boolean })[] = [
  { name: "qcow2", isIt: startsWith("QFI\xfb"), read: readQcow2 },
  { name: "vmdk", isIt: startsWith("KDMV"), read: readVmdk },
  { name: "vmdk", isIt: startsWith(descriptorStart), read: readVmdk },
  { name: "vhdx", isIt: startsWith("vhdxfile"), read: readVhdx },
  { name: "vdi", isIt: startsWith("\x7f\x10\xda\xbe", 64), read: readVdi },
  { name: "vhd", isIt: startsWith("conectix"), read: readVhd },
  // Last, because a fixed VHD differs from a raw disk only at its end, and may contain another image.
  { name: "vhd", isIt: hasVhdFooter, read: readVhd },
];

/** Recognized by magic bytes; undefined: no known format, possibly a raw disk. */
export const formatOf = (source: Bytes): DiskFormat | undefined => formats.find(({ isIt }) => isIt(source));

const sector = 512;

export const raw: DiskFormat = {
  name: "raw",
  read(source) {
    if (source.size === 0 || source.size % sector !== 0)
      throw malformed(
        `${source.name} has ${source.size} bytes, expected a multiple of ${sector} for a raw disk`,
      );
    const read = (from: number, length: number) => source.read(from, length);
    return { variant: "raw", virtualSize: source.size, read, notes: [] };
  },
};

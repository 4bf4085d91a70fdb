import { malformed, refused } from "../../verdict.ts";
import { allocatedRanges, blockReader, type Disk, refuseSize } from "./disk.ts";
import { type Bytes, type Fields, insideWindow, readFields, tableEntries } from "./fields.ts";

const footerSize = 512;
const sector = 512;

/** Numbers from Virtual Hard Disk Image Format Specification 1.0, "Disk Type". */
const types: Readonly<Record<number, "fixed" | "dynamic" | "differencing">> = {
  2: "fixed",
  3: "dynamic",
  4: "differencing",
};

/** Disks of Virtual PC and Azure. @throws Fault malformed; refuse, for a differencing disk or a saved state */
export function readVhd(source: Bytes): Disk {
  const footer = footerAt(source, source.size - footerSize);
  const variant = types[footer.u32(60)];
  if (!variant)
    throw malformed(`${source.name} is of the disk type ${footer.u32(60)}, expected fixed or dynamic`);
  if (variant === "differencing")
    throw refused(`${source.name} is a difference to a parent disk, expected a disk of its own`);
  if (footer.u8(84) !== 0) throw refused(`${source.name} holds a machine's saved state, expected none`);
  const virtualSize = footer.u64(48);
  refuseSize(source.name, virtualSize);
  const disk = { variant, virtualSize };
  return { ...disk, ...(variant === "fixed" ? fixedDisk(source, virtualSize) : dynamicDisk(source, footer)) };
}

type Content = Pick<Disk, "read" | "notes">;

function footerAt(source: Bytes, from: number): Fields {
  const footer = readFields(source, from, footerSize, "big");
  if (footer.text(0, 8) !== "conectix" || footer.u32(12) !== 0x10000)
    throw malformed(`${source.name} has no footer of version 1.0 at byte ${from}`);
  refuseSum(footer, 64, "footer", source.name);
  return footer;
}

/** The checksum is the complement of the sum of all bytes except its own. */
function refuseSum({ bytes, u32 }: Fields, at: number, what: string, name: string): void {
  let sum = 0;
  for (const [index, byte] of bytes.entries()) if (index < at || index >= at + 4) sum += byte;
  if (u32(at) !== ~sum >>> 0) throw malformed(`${name} has a ${what} whose checksum is wrong`);
}

function fixedDisk(source: Bytes, virtualSize: number): Content {
  if (source.size !== virtualSize + footerSize)
    throw malformed(
      `${source.name} has ${source.size} bytes, expected its disk of ${virtualSize} and a footer`,
    );
  return { read: (from, length) => source.read(from, length), notes: [] };
}

function dynamicDisk(source: Bytes, footer: Fields): Content {
  if (footer.bytes.compare(footerAt(source, 0).bytes) !== 0)
    throw malformed(`${source.name} begins with another footer than it ends with`);
  const place = footer.u64(16);
  const header = readFields(source, place, 1024, "big");
  if (header.text(0, 8) !== "cxsparse") throw malformed(`${source.name} has no header of a dynamic disk`);
  refuseSum(header, 36, "header", source.name);
  const table = header.u64(16);
  const [entries, blockSize] = [header.u32(28), header.u32(32)];
  const needed = Math.ceil(footer.u64(48) / blockSize);
  if (blockSize < 4096 || !Number.isInteger(Math.log2(blockSize)) || entries < needed)
    throw malformed(`${source.name} has ${entries} blocks of ${blockSize} bytes for its disk`);
  const bitmap = Math.ceil(blockSize / sector / 8 / sector) * sector;
  const notes = insideWindow(() => {
    const ranges = allocatedRanges({ name: source.name, size: source.size - footerSize }, sector);
    ranges.add(0, footerSize, "its first footer");
    ranges.add(place, 1024, "its header");
    ranges.add(table, entries * 4, "its table");
    for (const { fields, at } of tableEntries(source, table, entries, 4, "big"))
      if (fields.u32(at) !== unused) ranges.add(fields.u32(at) * sector, bitmap + blockSize, "a block");
  });
  return {
    notes,
    read: blockReader(blockSize, (block, from, length) => {
      const at = readFields(source, table + block * 4, 4, "big").u32(0);
      return at === unused ? undefined : source.read(at * sector + bitmap + from, length);
    }),
  };
}

const unused = 0xffffffff;

import { malformed, refused, unsupported } from "../../verdict.ts";
import { allocatedRanges, blockReader, type Disk, refuseSize } from "./disk.ts";
import { type Bytes, insideWindow, readFields, tableEntries } from "./fields.ts";

const types: Readonly<Record<number, string>> = { 1: "dynamic", 2: "fixed" };
/** Special values of the block map: unallocated, and zero. */
const firstHole = 0xfffffffe;

/** VirtualBox disks, version 1.1. @throws Fault malformed; refuse, for a differencing disk */
export function readVdi(source: Bytes): Disk {
  const header = readFields(source, 0, 456, "little");
  const { name } = source;
  if (header.u32(68) !== 0x10001) throw unsupported(`${name} is VDI of another version, expected 1.1`);
  const variant = types[header.u32(76)];
  const hasParent = !header.isZero(424, 440) || !header.isZero(440, 456);
  if (!variant || hasParent)
    throw refused(`${name} is a difference to a parent disk, expected a disk of its own`);
  const virtualSize = header.u64(368);
  refuseSize(name, virtualSize);
  const [map, data] = [header.u32(340), header.u32(344)];
  const [blockSize, extra] = [header.u32(376), header.u32(380)];
  const [blocks, allocated] = [header.u32(384), header.u32(388)];
  const isPower = blockSize >= 4096 && Number.isInteger(Math.log2(blockSize));
  if (!isPower || extra !== 0 || header.u32(360) !== 512 || blocks !== Math.ceil(virtualSize / blockSize))
    throw malformed(`${name} has ${blocks} blocks of ${blockSize} bytes for its disk of ${virtualSize}`);
  const notes = insideWindow(() => {
    if (map + blocks * 4 > data) throw malformed(`${name} has a block map that reaches into its data`);
    if (data > source.size) throw malformed(`${name} has data that begin at byte ${data}, after its end`);
    const ranges = allocatedRanges({ name, size: source.size - data }, blockSize);
    for (const { fields, at } of tableEntries(source, map, blocks, 4, "little")) {
      const block = fields.u32(at);
      if (block >= firstHole) continue;
      if (block >= allocated) throw malformed(`${name} uses block ${block} of ${allocated}`);
      ranges.add(block * blockSize, blockSize, "a block");
    }
  });
  const read = blockReader(blockSize, (block, from, length) => {
    const place = readFields(source, map + block * 4, 4, "little").u32(0);
    return place >= firstHole ? undefined : source.read(data + place * blockSize + from, length);
  });
  return { variant, virtualSize, read, notes };
}

import { Fault, malformed } from "../../verdict.ts";
import { type Bytes, type Fields, readFields } from "./fields.ts";

export interface Region {
  from: number;
  length: number;
}

/** The metadata region of a VHDX. */
export interface VhdxMetadata {
  virtualSize: number;
  blockSize: number;
  sectorSize: number;
  isFixed: boolean;
}

const fileParameters = "CAA16737-FA36-4D43-B3B6-33F0AA44E76B";
const diskSize = "2FA54224-CD1B-4876-B211-5DBED83BF4B8";
const diskId = "BECA12AB-B2E6-4523-93EF-C309E000C746";
const logicalSector = "8141BF1D-A96F-4709-BA47-F233A8FAAB5F";
const physicalSector = "CDA348C7-445D-4471-9CC9-E9885251C556";
const parentLocator = "A8D35F2D-B30B-454D-ABF7-D3D84834AB0C";
const known = [fileParameters, diskSize, diskId, logicalSector, physicalSector, parentLocator];

const mostItems = 1023;

/** @throws Fault malformed; refuse, for a parent; unsupported-format, for an unknown required item */
export function readMetadata(source: Bytes, region: Region): VhdxMetadata {
  const items = itemsOf(source, region);
  const item = (id: string, length: number): Fields => {
    const found = items.get(id);
    if (!found || found.length < length) throw malformed(`${source.name} has no proper metadata item ${id}`);
    return readFields(source, found.from, length, "little");
  };
  const parameters = item(fileParameters, 8);
  if (parameters.u32(4) & 2 || items.has(parentLocator))
    throw new Fault("refuse", `${source.name} is a difference to a parent disk, expected a disk of its own`);
  const [blockSize, sectorSize] = [parameters.u32(0), item(logicalSector, 4).u32(0)];
  const isPower = Number.isInteger(Math.log2(blockSize)) && blockSize >= 2 ** 20 && blockSize <= 2 ** 28;
  if (!isPower || (sectorSize !== 512 && sectorSize !== 4096))
    throw malformed(`${source.name} has blocks of ${blockSize} bytes and sectors of ${sectorSize}`);
  return {
    virtualSize: item(diskSize, 8).u64(0),
    blockSize,
    sectorSize,
    isFixed: (parameters.u32(4) & 1) === 1,
  };
}

function itemsOf(source: Bytes, region: Region): Map<string, Region> {
  const size = 64 * 1024;
  const table = readFields(source, region.from, size, "little");
  const count = table.u16(10);
  if (table.text(0, 8) !== "metadata" || count > mostItems)
    throw malformed(`${source.name} has no table of metadata`);
  const items = new Map<string, Region>();
  for (let at = 32; at < 32 + count * 32; at += 32) {
    const [id, from, length, flags] = [
      table.guid(at),
      table.u32(at + 16),
      table.u32(at + 20),
      table.u32(at + 24),
    ];
    if (flags & 4 && !known.includes(id))
      throw new Fault(
        "unsupported-format",
        `${source.name} needs the metadata ${id}, which is not supported`,
      );
    if (length > 0 && (from < size || from + length > region.length))
      throw malformed(`${source.name} has the metadata ${id} outside its place`);
    if (items.has(id)) throw malformed(`${source.name} has the metadata ${id} twice`);
    items.set(id, { from: region.from + from, length });
  }
  return items;
}

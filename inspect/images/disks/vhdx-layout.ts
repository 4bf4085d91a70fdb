import { Fault, malformed } from "../../verdict.ts";
import { crc32c } from "./crc32c.ts";
import { type Bytes, type Fields, fieldsOf } from "./fields.ts";
import { type Region, readMetadata, type VhdxMetadata } from "./vhdx-metadata.ts";

export interface VhdxLayout extends VhdxMetadata {
  table: Region;
  /** Regions that hold anything but blocks. */
  taken: readonly Region[];
}

const kibibyte = 1024;
/** VHDX keeps two copies of each header, so that one is always intact. */
const headers = [64 * kibibyte, 128 * kibibyte];
const regionTables = [192 * kibibyte, 256 * kibibyte];

const tableId = "2DC27766-F623-4200-9D64-115E9BFD4A08";
const metadataId = "8B7CA206-4790-4B9A-B8FE-575F050F886E";

/** @throws Fault malformed, refuse, unsupported-format */
export function readLayout(source: Bytes): { layout: VhdxLayout; notes: string[] } {
  const found = headers.flatMap((at) => checkedAt(source, at, 4 * kibibyte, "head") ?? []);
  const header = found.toSorted((a, b) => b.u64(8) - a.u64(8))[0];
  if (!header) throw malformed(`${source.name} has no header with a correct checksum`);
  if (header.u16(66) !== 1)
    throw new Fault("unsupported-format", `${source.name} is VHDX of another version than 1`);
  if (!header.isZero(48, 64))
    throw new Fault("refuse", `${source.name} was not closed: its log has changes that the disk does not`);
  const log = { from: header.u64(72), length: header.u32(68) };
  const regions = regionsOf(source);
  const [table, metadata] = [regions.get(tableId), regions.get(metadataId)];
  if (!table || !metadata) throw malformed(`${source.name} has no region of blocks, or none of metadata`);
  const taken = [{ from: 0, length: 1024 * kibibyte }, log, table, metadata].filter(
    ({ length }) => length > 0,
  );
  const notes = found.length < headers.length ? ["one of its two headers is damaged"] : [];
  return { layout: { ...readMetadata(source, metadata), table, taken }, notes };
}

/** A structure with signature and, in bytes 4 to 7, a checksum; undefined if either is wrong. */
function checkedAt(source: Bytes, at: number, length: number, signature: string): Fields | undefined {
  const bytes = Uint8Array.from(source.read(at, length));
  const fields = fieldsOf(bytes, "little", source.name);
  const sum = fields.u32(4);
  bytes.fill(0, 4, 8);
  return fields.text(0, 4) === signature && crc32c(bytes) === sum ? fields : undefined;
}

const mostRegions = 2047;

function regionsOf(source: Bytes): Map<string, Region> {
  const table = regionTables.map((at) => checkedAt(source, at, 64 * kibibyte, "regi")).find((found) => found);
  const count = table?.u32(8) ?? 0;
  if (!table || count > mostRegions)
    throw malformed(`${source.name} has no region table with a correct checksum`);
  const regions = new Map<string, Region>();
  for (let at = 16; at < 16 + count * 32; at += 32) {
    const id = table.guid(at);
    const region = { from: table.u64(at + 16), length: table.u32(at + 24) };
    if (id !== tableId && id !== metadataId && table.u32(at + 28) & 1)
      throw new Fault("unsupported-format", `${source.name} needs the region ${id}, which is not supported`);
    if (regions.has(id)) throw malformed(`${source.name} has the region ${id} twice`);
    if (region.from + region.length > source.size)
      throw malformed(`${source.name} has a region beyond its end`);
    regions.set(id, region);
  }
  return regions;
}

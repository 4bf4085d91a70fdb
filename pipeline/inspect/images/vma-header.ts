import { Fault, malformed } from "../../documents/verdict.ts";
import { refuseSize } from "./disks/disk.ts";
import type { Fields } from "./disks/fields.ts";

export interface VmaDisk {
  name: string;
  size: number;
  /** First cluster of the disk; zeros if it is not in the backup. */
  first: Uint8Array;
}

/** Size of everything before the texts: 256 names of configurations, their contents, and disks. */
export const headerStart = 12_288;
export const mostHeader = 1 << 20;
export const firstSize = 65_536;
const deviceTable = 4096;
const deviceSize = 32;

/** @returns disks by number. @throws Fault malformed; refuse, if a machine's memory is among them */
export function disksOf(header: Fields): Map<number, VmaDisk> {
  const disks = new Map<number, VmaDisk>();
  for (let id = 1; id < 256; id++) {
    const at = deviceTable + id * deviceSize;
    const [pointer, size] = [header.u32(at), header.u64(at + 8)];
    if (pointer === 0 && size === 0) continue;
    const name = textAt(header, pointer);
    if (name === "vmstate")
      throw new Fault("refuse", "the VMA archive holds a machine's memory, expected none");
    refuseSize(`the VMA archive's ${name}`, size);
    disks.set(id, { name, size, first: new Uint8Array(firstSize) });
  }
  if (disks.size === 0) throw malformed("the VMA archive has no disks");
  return disks;
}

/** A little-endian length, and a text that ends with a zero byte. */
function textAt({ bytes, u32 }: Fields, pointer: number): string {
  const at = u32(48) + pointer;
  const end = Math.min(u32(48) + u32(52), bytes.length);
  const length = at + 2 <= end ? bytes.readUInt16LE(at) : 0;
  if (pointer === 0 || length < 2 || at + 2 + length > end || bytes[at + 1 + length] !== 0)
    throw malformed("the VMA archive has a name outside its texts");
  return bytes.toString("utf8", at + 2, at + 1 + length);
}

import { Fault, malformed } from "../inspection.ts";
import { refuseSize } from "./disks/disk.ts";
import type { Fields } from "./disks/fields.ts";

export interface VmaDisk {
  name: string;
  size: number;
  /** Its first cluster: zeros where it does not come by. */
  first: Uint8Array;
}

/** All before the texts: 256 names of configurations, as many of their contents and of disks. */
export const headerStart = 12_288;
export const mostHeader = 1 << 20;
export const firstSize = 65_536;
const deviceTable = 4096;
const deviceSize = 32;

/** @returns disks by their number. @throws Fault malformed; refuse: a machine's memory among them */
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

/** A length in little-endian order, and a text with a zero at its end. */
function textAt({ bytes, u32 }: Fields, pointer: number): string {
  const at = u32(48) + pointer;
  const end = Math.min(u32(48) + u32(52), bytes.length);
  const length = at + 2 <= end ? bytes.readUInt16LE(at) : 0;
  if (pointer === 0 || length < 2 || at + 2 + length > end || bytes[at + 1 + length] !== 0)
    throw malformed("the VMA archive has a name outside its texts");
  return bytes.toString("utf8", at + 2, at + 1 + length);
}

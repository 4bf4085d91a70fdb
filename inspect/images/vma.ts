import { createHash } from "node:crypto";
import { pushReader, type Steps } from "../bytes/push.ts";
import { badDigest, malformed, refused, unsupported } from "../verdict.ts";
import { bootOf } from "./boot.ts";
import { type OpenContent, recordDisks } from "./disk-facts.ts";
import { refuseSize } from "./disks/disk.ts";
import { type Fields, fieldsOf } from "./disks/fields.ts";

/** Proxmox backups (vma_spec.txt of pve-qemu): a header, then extents that mix clusters of all disks. */
export const vmaContent: OpenContent = (findings) => {
  findings.type = "vma";
  const disks: VmaDisk[] = [];
  const reader = pushReader(steps(disks), "VMA archive");
  return {
    write: reader.write,
    end() {
      reader.end();
      const facts = disks.map((disk) => ({ ...aboutDisk(disk, findings.notes), name: disk.name }));
      recordDisks(facts, findings);
    },
  };
};

function aboutDisk({ size, first }: VmaDisk, notes: string[]) {
  const read = (from: number, length: number) => {
    if (from + length <= first.length) return first.subarray(from, from + length);
    throw malformed("it is larger than the supported size");
  };
  const found = bootOf({ virtualSize: size, read });
  notes.push(...found.notes);
  return { format: "vma", variant: "version 1", virtual_size: size, boot: found.boot };
}

function* steps(disks: VmaDisk[]): Steps {
  const start = Buffer.from(yield { exactly: headerStart });
  const size = start.readUInt32BE(56);
  if (start.readUInt32BE(4) !== 1) throw unsupported("the VMA archive is of another version than 1");
  if (size <= headerStart || size > maxHeaderBytes)
    throw malformed(`the VMA archive has a header of ${size} bytes`);
  const rest = yield { exactly: size - headerStart };
  const header = fieldsOf(Buffer.concat([start, rest]), "big", "the VMA archive");
  refuseSum(header, 32, "a header");
  const byId = disksOf(header);
  disks.push(...byId.values());
  for (;;) yield* extent(header.bytes.subarray(8, 24), byId);
}

/** MD5 over the header with a zeroed checksum field: it detects damage, not tampering. */
function refuseSum({ bytes }: Fields, at: number, what: string): void {
  const sum = Buffer.from(bytes.subarray(at, at + 16));
  const others = Buffer.from(bytes).fill(0, at, at + 16);
  if (!createHash("md5").update(others).digest().equals(sum))
    throw badDigest(`the VMA archive has ${what} whose checksum is wrong`);
}

const extentHeader = 512;
const blockSize = 4096;
const blocksInCluster = 16;

/** An extent has 59 entries (bitmap of present blocks, disk, cluster), followed by the blocks. */
function* extent(uuid: Buffer, disks: ReadonlyMap<number, VmaDisk>): Steps {
  const header = fieldsOf(yield { exactly: extentHeader, orEnd: true }, "big", "the VMA archive");
  if (header.text(0, 4) !== "VMAE" || !header.bytes.subarray(8, 24).equals(uuid))
    throw malformed("the VMA archive has no extent of its own where one should begin");
  refuseSum(header, 24, "an extent");
  let blocks = 0;
  for (let at = 40; at < extentHeader; at += 8) {
    const [mask, id, cluster] = [header.u16(at), header.u8(at + 3), header.u32(at + 4)];
    if (id === 0) continue;
    const disk = disks.get(id);
    if (!disk || cluster * blocksInCluster * blockSize >= disk.size)
      throw malformed(`the VMA archive has cluster ${cluster} of disk ${id}, which is not there`);
    for (let block = 0; block < blocksInCluster; block++) {
      if ((mask & (1 << block)) === 0) continue;
      const bytes = yield { exactly: blockSize };
      if (cluster === 0 && (block + 1) * blockSize <= firstSize) disk.first.set(bytes, block * blockSize);
      blocks++;
    }
  }
  if (blocks !== header.u16(6))
    throw malformed("the VMA archive has an extent with another number of blocks");
}

interface VmaDisk {
  name: string;
  size: number;
  /** First cluster of the disk; zeros if it is not in the backup. */
  first: Uint8Array;
}

/** Size of everything before the texts: 256 names of configurations, their contents, and disks. */
const headerStart = 12_288;
const maxHeaderBytes = 1 << 20;
const firstSize = 65_536;
const deviceTable = 4096;
const deviceSize = 32;

/** @returns disks by number. @throws Fault malformed; refuse, if a machine's memory is among them */
function disksOf(header: Fields): Map<number, VmaDisk> {
  const disks = new Map<number, VmaDisk>();
  for (let id = 1; id < 256; id++) {
    const at = deviceTable + id * deviceSize;
    const [pointer, size] = [header.u32(at), header.u64(at + 8)];
    if (pointer === 0 && size === 0) continue;
    const name = textAt(header, pointer);
    if (name === "vmstate") throw refused("the VMA archive holds a machine's memory, expected none");
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
    throw malformed("a name in the VMA archive points outside its string table");
  return bytes.toString("utf8", at + 2, at + 1 + length);
}

import { createHash } from "node:crypto";
import { Fault, malformed } from "../../documents/verdict.ts";
import { pushReader, type Steps } from "../bytes/push.ts";
import { bootOf } from "./boot.ts";
import type { OpenContent } from "./content.ts";
import { tellDisks } from "./disk-facts.ts";
import { type Fields, fieldsOf } from "./disks/fields.ts";
import { disksOf, firstSize, headerStart, mostHeader, type VmaDisk } from "./vma-header.ts";

/** Proxmox backups (vma_spec.txt of pve-qemu): a header, then extents that mix clusters of all disks. */
export const vmaContent: OpenContent = (told) => {
  told.type = "vma";
  const disks: VmaDisk[] = [];
  const reader = pushReader(steps(disks), "VMA archive");
  return {
    write: reader.write,
    end() {
      reader.end();
      const facts = disks.map((disk) => ({ ...aboutDisk(disk, told.notes), name: disk.name }));
      tellDisks(facts, told);
      return "ok";
    },
  };
};

function aboutDisk({ size, first }: VmaDisk, notes: string[]) {
  const read = (from: number, length: number) => {
    if (from + length <= first.length) return first.subarray(from, from + length);
    throw malformed("it is larger than what is looked at");
  };
  const found = bootOf({ virtualSize: size, read });
  notes.push(...found.notes);
  return { format: "vma", variant: "version 1", virtual_size: size, boot: found.boot };
}

function* steps(disks: VmaDisk[]): Steps {
  const start = Buffer.from(yield { exactly: headerStart });
  const size = start.readUInt32BE(56);
  if (start.readUInt32BE(4) !== 1)
    throw new Fault("unsupported-format", "the VMA archive is of another version than 1");
  if (size <= headerStart || size > mostHeader)
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
    throw new Fault("bad-digest", `the VMA archive has ${what} whose checksum is wrong`);
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

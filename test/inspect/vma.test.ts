import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { bytesOf } from "../support/artifacts.ts";
import { changed, inspected, mbrDisk, verdictOn } from "../support/images.ts";

const good = bytesOf("vm/acme-1.2.3-proxmox.vma");
const headerSize = good.readUInt32BE(56);
const uuid = good.subarray(8, 24);

/** Inserts the MD5 of the bytes at an offset. */
function summed(bytes: Buffer, at: number): Buffer {
  bytes.fill(0, at, at + 16);
  createHash("md5").update(bytes).digest().copy(bytes, at);
  return bytes;
}

const withHeader = (change: (header: Buffer) => unknown): Buffer =>
  changed(good, (copy) => {
    const header = copy.subarray(0, headerSize);
    change(header);
    summed(header, 32);
  });

/** An extent with clusters: disk, number, and the mask of their blocks. */
function extent(
  clusters: readonly (readonly [disk: number, cluster: number, blocks: readonly Buffer[]])[],
): Buffer {
  const header = Buffer.alloc(512);
  header.write("VMAE");
  uuid.copy(header, 8);
  for (const [index, [disk, cluster, blocks]] of clusters.entries()) {
    header.writeUInt16BE(2 ** blocks.length - 1, 40 + index * 8);
    header.writeUInt8(disk, 43 + index * 8);
    header.writeUInt32BE(cluster, 44 + index * 8);
  }
  const content = clusters.flatMap(([, , blocks]) => blocks);
  header.writeUInt16BE(content.length, 6);
  return Buffer.concat([summed(header, 24), ...content]);
}

const boot = mbrDisk([0x83], 4096);
const first = extent([
  [1, 0, [boot]],
  [1, 1, []],
]);
const rest = extent([[1, 2, [Buffer.alloc(4096), Buffer.alloc(4096)]]]);

test("a backup has the size of its disks, and the boot type of their first clusters", async () => {
  expect(await inspected(Buffer.concat([good, first, rest]), "backup.vma")).toMatchObject({
    type: "vma",
    verdict: "ok",
    facts: {
      virtual_size: 2 ** 20,
      boot: "bios",
      disks: [{ name: "drive-scsi0", variant: "version 1", virtual_size: 2 ** 20, boot: "bios" }],
    },
  });
});

test.each<[string, Buffer, string]>([
  [
    "another version",
    withHeader((header) => header.writeUInt32BE(2, 4)),
    "unsupported-format: the VMA archive is of another version than 1",
  ],
  [
    "a header that is damaged",
    changed(good, (copy) => copy.writeUInt8(9, 9)),
    "bad-digest: the VMA archive has a header whose checksum is wrong",
  ],
  [
    "a header of gigabytes",
    changed(good, (copy) => copy.writeUInt32BE(2 ** 31, 56)),
    "malformed: the VMA archive has a header of 2147483648 bytes",
  ],
  ["a header that breaks off", good.subarray(0, -1), "malformed: the VMA archive ends too early"],
  [
    "a name outside its texts",
    withHeader((header) => header.writeUInt32BE(5000, 4096 + 32)),
    "malformed: a name in the VMA archive points outside its string table",
  ],
  [
    "no disks",
    withHeader((header) => header.fill(0, 4096, 12288)),
    "malformed: the VMA archive has no disks",
  ],
  [
    "a disk of 1 EiB",
    withHeader((header) => header.writeUInt32BE(2 ** 20, 4096 + 40)),
    "refuse: the VMA archive's drive-scsi0 declares a disk of 4503599628419072 bytes, expected 17592186044416 at most",
  ],
  [
    "a machine's memory",
    withHeader((header) => {
      const at = header.indexOf("drive-scsi0") - 2;
      header.writeUInt16LE(8, at);
      header.write("vmstate\0", at + 2);
    }),
    "refuse: the VMA archive holds a machine's memory, expected none",
  ],
  [
    "an extent that breaks off",
    Buffer.concat([good, first.subarray(0, -1)]),
    "malformed: the VMA archive ends too early",
  ],
  [
    "half an extent's header",
    Buffer.concat([good, first.subarray(0, 100)]),
    "malformed: the VMA archive ends too early",
  ],
  [
    "an extent that is damaged",
    Buffer.concat([good, changed(first, (copy) => copy.writeUInt8(9, 500))]),
    "bad-digest: the VMA archive has an extent whose checksum is wrong",
  ],
  [
    "bytes after its end",
    Buffer.concat([good, Buffer.alloc(512, "x")]),
    "malformed: the VMA archive has no extent of its own where one should begin",
  ],
  [
    "an extent of another archive",
    Buffer.concat([good, changed(first, (copy) => summed(copy.fill(9, 8, 24).subarray(0, 512), 24))]),
    "malformed: the VMA archive has no extent of its own where one should begin",
  ],
  [
    "a disk that is not there",
    Buffer.concat([good, extent([[2, 0, [boot]]])]),
    "malformed: the VMA archive has cluster 0 of disk 2, which is not there",
  ],
  [
    "a cluster beyond the disk",
    Buffer.concat([good, extent([[1, 16, [boot]]])]),
    "malformed: the VMA archive has cluster 16 of disk 1, which is not there",
  ],
  [
    "another number of blocks",
    Buffer.concat([good, changed(first, (copy) => summed(copy.fill(7, 6, 8).subarray(0, 512), 24))]),
    "malformed: the VMA archive has an extent with another number of blocks",
  ],
])("%s is refused", async (_, bytes, expected) => {
  expect(await verdictOn(bytes, "backup.vma")).toBe(expected);
});

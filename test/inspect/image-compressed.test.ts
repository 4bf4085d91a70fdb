import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { bytesOf } from "../support/artifacts.ts";
import { inspected, mbrDisk, verdictOn } from "../support/images.ts";

const mebibyte = 2 ** 20;
const disk = mbrDisk([0x83]);

describe("compressed images", () => {
  test("are read like the others, and recognized by their content", async () => {
    const qcow2 = bytesOf("vm/acme-1.2.3-efi.qcow2");
    const { type, facts } = await inspected(gzipSync(qcow2), "disk.qcow2.gz");
    expect([type, facts]).toEqual([
      "qcow2",
      {
        compression: "gzip",
        unpacked_size: qcow2.length,
        inner_sha256: createHash("sha256").update(qcow2).digest("hex"),
        format: "qcow2",
        variant: "version 3, zlib",
        virtual_size: mebibyte,
        boot: "efi",
      },
    ]);
  });

  test.each([
    ["compressed twice", gzipSync(gzipSync(disk)), "refuse: disk.raw.gz is compressed twice"],
    [
      "larger than the limit",
      gzipSync(Buffer.alloc(2 * mebibyte)),
      "refuse: disk.raw.gz unpacks to more than 1048576 bytes, the limit",
    ],
    ["damaged", gzipSync(disk).subarray(0, -1), "bad-digest: disk.raw.gz is damaged: unexpected end of file"],
    [
      "in bzip2",
      Buffer.from("BZh91AY&SY"),
      "unsupported-format: disk.raw.gz is compressed with bzip2, expected gzip, xz or zstd",
    ],
    ["empty", gzipSync(""), "malformed: disk.raw.gz has 0 bytes, expected a multiple of 512 for a raw disk"],
  ])("are refused if they are %s", async (_, bytes, expected) => {
    expect(await verdictOn(bytes, "disk.raw.gz", { limit: mebibyte })).toBe(expected);
  });

  test("with distant tables are ok, with a note about unchecked parts", async () => {
    const far = Buffer.alloc(17 * mebibyte);
    const good = bytesOf("vm/acme-1.2.3.qcow2");
    good.copy(far);
    // The first table moves beyond the part of a stream that is kept.
    good.copy(far, 17 * mebibyte - 8192, 12288, 12296);
    far.writeBigUInt64BE(BigInt(17 * mebibyte - 8192), 40);
    expect(await inspected(far, "disk")).toMatchObject({ verdict: "ok", notes: [], facts: { boot: "bios" } });
    expect(await inspected(gzipSync(far), "disk")).toMatchObject({
      verdict: "ok",
      notes: [
        "its tables are beyond the first 16777216 bytes of the compressed data, and were not all checked",
        "its partition table was not kept while it was read",
      ],
      facts: { boot: "unknown" },
    });
  });
});

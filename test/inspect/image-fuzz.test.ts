import { basename } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { xz } from "@napi-rs/lzma";
import fc from "fast-check";
import { expect, test } from "vitest";
import { crc32c } from "../../inspect/images/disks/vhdx.ts";
import { artifactsOf, bytesOf } from "../support/artifacts.ts";
import { often } from "../support/effort.ts";
import { inspected, unpackedArtifact } from "../support/images.ts";
import { withSum } from "../support/tar.ts";

const numRuns = often(1500, 40);

const files = [
  "vm-raw",
  "vm-vpc",
  "vm-qcow2",
  "vm-ova",
  "vm-gce",
  "vm-vhdx",
  "vm-incus",
  "vm-vma",
  "vm-vmdk",
  "vm-xva",
  "vm-vdi",
  "tar.xz",
]
  .flatMap((type) => artifactsOf(type))
  .map(({ file }) => file)
  .filter((file) => !file.includes("bomb"));

const packed = files.filter((file) => /\.(?:xz|gz)$/.test(file) && !/tampered|truncated/.test(file));

/** The files, and the content of compressed ones, so that damage reaches the readers of the formats. */
const subjects: readonly (readonly [name: string, bytes: Buffer])[] = [
  ...files.map((file) => [basename(file), bytesOf(file)] as const),
  ...packed.map((file) => [basename(file).replace(/\.(?:xz|gz)$/, ""), unpackedArtifact(file)] as const),
];

type Mutation = (bytes: Buffer) => void;

const numbers = [
  "00",
  "01",
  "ff",
  "7fffffff",
  "80000000",
  "ffffffff",
  "0000000000000000",
  "ffffffffffffffff",
  "0000000100000000",
  "00000000ffffff00",
];

/** Likely offsets of headers and tables: near the beginning, near alignment boundaries, or at the end. */
const place = fc.oneof(
  fc.nat(1200),
  fc
    .tuple(fc.nat(64), fc.constantFrom(512, 4096, 65536, 1 << 20), fc.nat(64))
    .map(([count, unit, more]) => count * unit + more),
  fc.nat(1600).map((back) => -1 - back),
);

const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.tuple(place, fc.constantFrom(...numbers)).map(
    ([at, hex]): Mutation =>
      (bytes) => {
        bytes.write(hex, Math.min(bytes.length - 1, at < 0 ? Math.max(0, bytes.length + at) : at), "hex");
      },
  ),
  fc.tuple(place, fc.uint8Array({ minLength: 1, maxLength: 16 })).map(
    ([at, noise]): Mutation =>
      (bytes) => {
        const from = Math.max(0, Math.min(bytes.length - noise.length, at < 0 ? bytes.length + at : at));
        bytes.set(noise.subarray(0, bytes.length), from);
      },
  ),
  fc.tuple(place, place).map(
    ([from, to]): Mutation =>
      (bytes) => {
        if (from >= 0 && to >= 0 && to < bytes.length) bytes.copyWithin(to, from, from + 64);
      },
  ),
);

/** Corrects the checksums that would stop a reader early. */
function mended(bytes: Buffer): Buffer {
  const sum32 = (from: number, size: number) => {
    bytes.fill(0, from + 4, from + 8);
    bytes.writeUInt32LE(crc32c(bytes.subarray(from, from + size)), from + 4);
  };
  const complement = (from: number, size: number, at: number) => {
    bytes.fill(0, from + at, from + at + 4);
    bytes.writeUInt32BE(
      ~bytes.subarray(from, from + size).reduce((sum, byte) => sum + byte, 0) >>> 0,
      from + at,
    );
  };
  if (bytes.length > 400_000 && bytes.toString("latin1", 0, 8) === "vhdxfile") {
    for (const from of [65536, 131072]) sum32(from, 4096);
    for (const from of [196608, 262144]) sum32(from, 65536);
  }
  if (bytes.length > 2048 && bytes.toString("latin1", 0, 8) === "conectix") {
    complement(512, 1024, 36);
    complement(0, 512, 64);
    bytes.copy(bytes, bytes.length - 512, 0, 512);
  }
  if (bytes.length > 1024 && bytes.toString("latin1", 257, 262) === "ustar") withSum(bytes.subarray(0, 512));
  return bytes;
}

test.each(subjects)("%s with any damage gets a verdict", async (name, original) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(mutation, { minLength: 1, maxLength: 4 }),
      fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { freq: 5 }),
      fc.boolean(),
      async (mutations, cut, isMended) => {
        const bytes = Buffer.from(original);
        for (const mutate of mutations) mutate(bytes);
        if (isMended) mended(bytes);
        const { verdict, reason, facts } = await inspected(
          bytes.subarray(0, Math.floor((cut ?? 1) * bytes.length)),
          name,
        );
        expect([
          "ok",
          "refuse",
          "malformed",
          "bad-digest",
          "unsupported-format",
          "untrusted-key",
          "bad-signature",
          "weak-digest",
        ]).toContain(verdict);
        expect(reason === "").toBe(verdict === "ok");
        expect(() => JSON.stringify(facts)).not.toThrow();
      },
    ),
    { numRuns },
  );
});

test("noise in any compression gets a verdict", { tags: ["long"] }, async () => {
  const pack = fc.constantFrom<(bytes: Uint8Array) => Uint8Array>(
    (bytes) => bytes,
    gzipSync,
    zstdCompressSync,
    xz.compressSync,
  );
  const start = fc.constantFrom(
    "",
    "QFI\xfb",
    "KDMV",
    "# Disk DescriptorFile",
    "vhdxfile",
    "conectix",
    "VMA\0\0\0\0\x01",
    "\xfd7zXZ\0",
    "\x28\xb5\x2f\xfd",
    "\x1f\x8b\x08",
  );
  const name = fc.constantFrom("a", "a.raw", "a.tar", "a.ova", "a.tar.xz", "a.xva");
  await fc.assert(
    fc.asyncProperty(
      start,
      fc.uint8Array({ maxLength: 3000 }),
      pack,
      name,
      async (magic, noise, compress, file) => {
        const { reason, verdict } = await inspected(
          compress(Buffer.concat([Buffer.from(magic, "latin1"), noise])),
          file,
        );
        expect(reason === "").toBe(verdict === "ok");
      },
    ),
    { numRuns: numRuns * 5 },
  );
});

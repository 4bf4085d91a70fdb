import { randomBytes } from "node:crypto";
import { crc32, gzipSync, zstdCompressSync } from "node:zlib";
import { xz } from "@napi-rs/lzma";
import { execa } from "execa";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { compressionOf, decompress } from "../../inspect/archives/decompress.ts";
import { type ByteSource, bytesSource } from "../../inspect/bytes/byte-source.ts";
import { Fault } from "../../inspect/verdict.ts";
import { bytesOf } from "../support/artifacts.ts";
import { often } from "../support/effort.ts";

const text = Buffer.from("hello ".repeat(50));
const large = Buffer.from(Array.from({ length: 200_000 }, (_, index) => (index * index) % 251));
const pack = { gzip: gzipSync, zstd: zstdCompressSync, xz: xz.compressSync } as const;
type Packed = keyof typeof pack;
const kinds = ["gzip", "zstd", "xz"] as const;

/** A source that gives its bytes in pieces of this size. */
const inPieces = (bytes: Uint8Array, step: number): ByteSource => ({
  ...bytesSource(bytes, "file"),
  async each(take) {
    for (let at = 0; at < bytes.length; at += step) await take(bytes.subarray(at, at + step), at);
  },
});

async function unpack(
  bytes: Uint8Array,
  kind: Packed,
  step = bytes.length,
  limit = 1 << 24,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const size = await decompress(
    inPieces(bytes, step),
    kind,
    limit,
    (chunk) => void chunks.push(Buffer.from(chunk)),
  );
  const all = Buffer.concat(chunks);
  expect(all.length).toBe(size);
  return all;
}

const verdictOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "ok",
    (error: unknown) => {
      if (error instanceof Fault) return error.verdict;
      throw error;
    },
  );

/** More than one call unpacks. */
const much = Buffer.alloc((1 << 20) + 1);
const lengths = [
  ["short", Buffer.alloc(0)],
  ["long", much],
] as const;
const variants = kinds.flatMap((kind) => lengths.map(([name, before]) => ({ kind, name, before })));

describe.each(variants)("$kind, $name", ({ kind, name, before }) => {
  const whole = (...parts: Uint8Array[]) => Buffer.concat([before, ...parts]);
  const packed = (...parts: Uint8Array[]) =>
    Buffer.concat([...(before.length > 0 ? [before] : []), ...parts].map((part) => pack[kind](part)));
  const joined = packed(text, large);

  test.each([1, 7, 4096, 1 << 20])("reads several streams in a row, in pieces of %i bytes", async (step) => {
    expect((await unpack(joined, kind, step)).equals(whole(text, large))).toBe(true);
  });

  test("unpacks everything that was packed", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 5000 }),
        fc.integer({ min: 1, max: 300 }),
        async (bytes, step) => {
          expect((await unpack(packed(bytes), kind, step)).equals(whole(bytes))).toBe(true);
        },
      ),
      { numRuns: often(30, 5) },
    );
  });

  test.each<[string, (bytes: Buffer) => Buffer]>([
    ["breaks off", (bytes) => bytes.subarray(0, -3)],
    ["breaks off in its last part", (bytes) => bytes.subarray(0, packed(text).length + 6)],
    ["is nothing but its first bytes", (bytes) => bytes.subarray(0, 6)],
    ["is followed by text", (bytes) => Buffer.concat([bytes, Buffer.from("and so on")])],
    ["is followed by zeros", (bytes) => Buffer.concat([bytes, Buffer.alloc(7)])],
    ["begins with something else", (bytes) => Buffer.concat([Buffer.from("x"), bytes])],
  ])("refuses a stream that %s", async (_, damage) => {
    for (const step of [1, 100, 1 << 20])
      expect(await verdictOf(unpack(damage(joined), kind, step))).toBe("bad-digest");
  });

  test("notices every changed byte if the format has a checksum", async () => {
    const bytes = packed(text);
    const changed: string[] = [];
    for (let at = packed().length; at < bytes.length; at++) {
      bytes.writeUInt8(bytes.readUInt8(at) ^ 0x10, at);
      const verdict = await verdictOf(
        unpack(bytes, kind).then((out) => {
          if (!out.equals(whole(text))) changed.push(`byte ${at}`);
        }),
      );
      expect(["ok", "bad-digest", "refuse", "unsupported-format"]).toContain(verdict);
      bytes.writeUInt8(bytes.readUInt8(at) ^ 0x10, at);
    }
    // node:zlib writes Zstandard without one.
    if (kind !== "zstd") expect(changed).toEqual([]);
  });

  test("counts every unpacked byte towards the limit", async () => {
    const { length } = whole(text, large);
    expect((await unpack(joined, kind, 1000, length)).length).toBe(length);
    expect(await verdictOf(unpack(joined, kind, 1000, length - 1))).toBe("refuse");
  });

  test("passes on errors of the source and of the consumer", async () => {
    const fails = () => {
      throw new Error("no such disk");
    };
    const broken: ByteSource = {
      ...inPieces(joined, 50),
      ...(name === "short" && { read: fails }),
      async each(take) {
        await take(joined.subarray(0, 50), 0);
        fails();
      },
    };
    await expect(decompress(broken, kind, 1 << 24, () => {})).rejects.toThrow("no such disk");
    const taker = () => {
      throw new Error("no room");
    };
    await expect(decompress(inPieces(joined, 50), kind, 1 << 24, taker)).rejects.toThrow("no room");
  });

  test("waits for the consumer", async () => {
    let under = 0;
    await decompress(inPieces(joined, 5000), kind, 1 << 24, async () => {
      expect(++under).toBe(1);
      await new Promise(setImmediate);
      under--;
    });
    expect(under).toBe(0);
  });
});

test.each(kinds)("long incompressible content is unpacked from %s", async (kind) => {
  const noise = randomBytes((1 << 18) + 1);
  expect((await unpack(pack[kind](noise), kind, 10_000)).equals(noise)).toBe(true);
});

test.each([
  ["none", "7f454c46"],
  ["none", ""],
  ["gzip", "1f8b0800"],
  ["xz", "fd377a585a00"],
  ["zstd", "28b52ffd"],
  ["bzip2", "425a6839"],
  ["lzma", "5d00008000"],
])("the first bytes identify %s", (compression, hex) => {
  expect(compressionOf(Buffer.from(hex, "hex"))).toBe(compression);
});

test("without compression all bytes are passed on, up to the limit", async () => {
  const source = inPieces(large, 1000);
  expect(await decompress(source, "none", large.length, () => {})).toBe(large.length);
  expect(await verdictOf(decompress(source, "none", 5000, () => {}))).toBe("refuse");
});

test.each(["bzip2", "lzma"] as const)("%s is refused by name", async (compression) => {
  await expect(decompress(bytesSource(text, "file"), compression, 1, () => {})).rejects.toThrow(
    `file is compressed with ${compression}, expected gzip, xz or zstd`,
  );
});

test("a Zstandard file can have skippable frames", async () => {
  const skipped = Buffer.from("502a4d1803000000abcdef", "hex");
  const bytes = Buffer.concat([skipped, zstdCompressSync(text), skipped, zstdCompressSync(large)]);
  expect((await unpack(bytes, "zstd", 13)).equals(Buffer.concat([text, large]))).toBe(true);
});

describe("content that needs too much memory", () => {
  /** The same file with another dictionary size in its block header, and its checksum. */
  function withDictionary(bits: number): Buffer {
    const bytes = bytesOf("tar/acme-client-1.2.3.tar.xz");
    bytes.writeUInt8(bits, 16);
    bytes.writeUInt32LE(crc32(bytes.subarray(12, 20)), 20);
    return bytes;
  }

  test.each([
    [28, "ok"],
    [29, "refuse"],
    [40, "refuse"],
    [41, "bad-digest"],
  ])("a dictionary of size %i in xz is %s", async (bits, verdict) => {
    expect(bytesOf("tar/acme-client-1.2.3.tar.xz")[16]).toBe(28);
    expect(await verdictOf(unpack(withDictionary(bits), "xz"))).toBe(verdict);
  });

  test("is refused for its window in Zstandard", async () => {
    const bytes = zstdCompressSync(Buffer.alloc(1000, "many"));
    // A frame that does not say its size, with a window of 2^27 bytes.
    const frame = Buffer.concat([bytes.subarray(0, 4), Buffer.from([0, (27 - 10) << 3]), bytes.subarray(7)]);
    expect(bytes.readUInt8(4)).toBe(0x60);
    expect(await verdictOf(unpack(frame, "zstd"))).toBe("refuse");
  });

  test("an xz bomb that states its size is refused before it is unpacked", async () => {
    const chunks: number[] = [];
    const bomb = bytesSource(bytesOf("tar/bomb-64MiB.tar.xz"), "bomb");
    await expect(decompress(bomb, "xz", 1 << 20, ({ length }) => void chunks.push(length))).rejects.toThrow(
      "bomb unpacks to more than 1048576 bytes, the limit",
    );
    expect(chunks).toEqual([]);
  });
});

describe("a damaged xz container", () => {
  let bytes: Buffer;
  beforeAll(() => {
    bytes = bytesOf("tar/multiblock.tar.xz");
  });

  const mended = (change: (bytes: Buffer) => void): Buffer => {
    const copy = Buffer.from(bytes);
    change(copy);
    return copy;
  };
  const footer = (copy: Buffer) => copy.length - 12;
  const sumFooter = (copy: Buffer) =>
    copy.writeUInt32LE(crc32(copy.subarray(footer(copy) + 4, footer(copy) + 10)), footer(copy));

  test.each<[string, (copy: Buffer) => void, string]>([
    [
      "an unknown check",
      (copy) => {
        copy.writeUInt8(2, 7);
        copy.writeUInt32LE(crc32(copy.subarray(6, 8)), 8);
      },
      "unsupported-format",
    ],
    [
      "flags in the footer that are not those of the header",
      (copy) => {
        copy.writeUInt8(1, footer(copy) + 9);
        sumFooter(copy);
      },
      "bad-digest",
    ],
    [
      "a footer that says the index is longer",
      (copy) => {
        copy.writeUInt32LE(copy.readUInt32LE(footer(copy) + 4) + 1, footer(copy) + 4);
        sumFooter(copy);
      },
      "bad-digest",
    ],
    [
      "an unknown filter",
      (copy) => {
        const at = copy.indexOf(Buffer.from("2101", "hex"), 12);
        copy.writeUInt8(0x22, at);
        const end = 12 + (copy.readUInt8(12) + 1) * 4 - 4;
        copy.writeUInt32LE(crc32(copy.subarray(12, end)), end);
      },
      "unsupported-format",
    ],
    [
      "a block longer than its header says",
      (copy) => {
        copy.writeUInt8(copy.readUInt8(14) ^ 1, 14);
        const end = 12 + (copy.readUInt8(12) + 1) * 4 - 4;
        copy.writeUInt32LE(crc32(copy.subarray(12, end)), end);
      },
      "bad-digest",
    ],
  ])("with %s and correct checksums is refused", async (_, change, verdict) => {
    expect(await verdictOf(unpack(bytes, "xz"))).toBe("ok");
    expect(await verdictOf(unpack(mended(change), "xz"))).toBe(verdict);
  });
});

test("a missing native decoder is reported", async () => {
  const script = `
    import { decompress } from ${JSON.stringify(import.meta.resolve("../../inspect/archives/decompress.ts"))};
    import { bytesSource } from ${JSON.stringify(import.meta.resolve("../../inspect/bytes/byte-source.ts"))};
    const bytes = Buffer.from(process.argv[1], "base64");
    await decompress(bytesSource(bytes, "file"), "xz", 1 << 20, () => {}).catch((error) => {
      const [{ code, message, hint }] = error.problems;
      console.log(JSON.stringify([code, message, hint]));
    });`;
  const packed = Buffer.from(xz.compressSync("hello")).toString("base64");
  const { stdout } = await execa(process.execPath, ["--input-type=module", "-e", script, packed], {
    env: { NAPI_RS_NATIVE_LIBRARY_PATH: "/nowhere" },
  });
  expect(JSON.parse(stdout)).toEqual([
    "decoder-missing",
    "xz files cannot be read: the part of @napi-rs/lzma for this machine is not installed",
    'Run npx -c "npm install" in the project. npm leaves that part out if its own Node is too old for it.',
  ]);
});

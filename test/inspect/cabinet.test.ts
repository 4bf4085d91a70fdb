import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openCabinet } from "../../inspect/archives/cabinet.ts";
import { bytesSource } from "../../inspect/bytes/byte-source.ts";
import { Fault } from "../../inspect/verdict.ts";
import { cabinet, type Packed } from "../support/cabinet.ts";

const limit = 1 << 24;

/** Names and contents of the unpacked files. */
async function extracted(bytes: Uint8Array, most = limit): Promise<[string, Buffer][]> {
  const found: [string, Buffer][] = [];
  await openCabinet(bytesSource(bytes, "cabinet")).extract(most, ({ name }) => {
    const pieces: Buffer[] = [];
    return {
      write: (chunk) => void pieces.push(Buffer.from(chunk)),
      end: async () => void found.push([name, Buffer.concat(pieces)]),
    };
  });
  return found;
}

const asPacked = (files: readonly Packed[]) => files.map(({ name, content }) => [name, Buffer.from(content)]);

describe("a cabinet is unpacked to its files", () => {
  const content = fc.oneof(
    fc.uint8Array({ maxLength: 100 }),
    // Over several blocks, with repetitions that reach back into the one before.
    fc
      .tuple(fc.uint8Array({ minLength: 1, maxLength: 50 }), fc.integer({ min: 1, max: 90_000 }))
      .map(([part, size]) => Buffer.alloc(size, part)),
  );
  const name = fc.string({ minLength: 1, maxLength: 40, unit: fc.constantFrom(..."ab.é ") });
  const files = fc.uniqueArray(fc.record({ name, content }), { maxLength: 5, selector: ({ name }) => name });
  test.each([
    ["compressed", { compression: 1 }],
    ["as it is", { compression: 0 }],
    ["with reserved bytes", { reserve: [7, 3, 5] as const }],
    ["without checksums", { hasChecksums: false }],
  ])("%s", async (_, wishes) => {
    await fc.assert(
      fc.asyncProperty(files, async (packed) => {
        expect(await extracted(cabinet(packed, wishes))).toEqual(asPacked(packed));
      }),
      { numRuns: 40 },
    );
  });
});

const files = [
  { name: "one", content: Buffer.alloc(40_000, "one") },
  { name: "two", content: Buffer.alloc(100, "two") },
];
const entries = 44;
const second = entries + 16 + 4;
const data = second + 16 + 4;

test("a cabinet of thousands of folders takes no longer than one of thousands of files", async () => {
  const count = 0xffff;
  const header = Buffer.alloc(36 + 8 * count + 18 * count);
  const filesAt = 36 + 8 * count;
  header.write("MSCF");
  header.writeUInt32LE(header.length, 8);
  header.writeUInt32LE(filesAt, 16);
  header.set([3, 1], 24);
  header.writeUInt16LE(count, 26);
  header.writeUInt16LE(count, 28);
  for (let folder = 0; folder < count; folder++) {
    header.writeUInt16LE(folder, filesAt + 18 * folder + 8);
    header.write("f\0", filesAt + 18 * folder + 16);
  }
  const before = process.cpuUsage();
  expect(await extracted(header)).toHaveLength(count);
  expect(process.cpuUsage(before).user).toBeLessThan(5_000_000);
});

describe("a cabinet is refused if", () => {
  const damaged = (damage: (bytes: Buffer) => unknown, made = cabinet(files)) => {
    damage(made);
    return made;
  };
  test.each<[string, Buffer, string, string | RegExp]>([
    [
      "it has another signature",
      damaged((bytes) => bytes.write("MSCX")),
      "malformed",
      /is not a cabinet of version 1/,
    ],
    [
      "it is of another version",
      damaged((bytes) => bytes.writeUInt8(2, 25)),
      "malformed",
      /is not a cabinet of version 1/,
    ],
    [
      "it is shorter than it says",
      cabinet(files).subarray(0, -1),
      "malformed",
      /is not a cabinet of version 1/,
    ],
    [
      "it is part of a set",
      cabinet(files, { flags: 2 }),
      "unsupported-format",
      "cabinet is one of several cabinets that belong together",
    ],
    [
      "it is compressed with LZX",
      cabinet(files, { compression: 3 }),
      "unsupported-format",
      "cabinet is compressed with LZX, expected MSZIP",
    ],
    [
      "a checksum is wrong",
      damaged((bytes) => bytes.writeUInt8(bytes.readUInt8(data + 20) ^ 1, data + 20)),
      "bad-digest",
      `cabinet has a block at its byte ${data} whose checksum is wrong`,
    ],
    [
      "a block is not MSZIP",
      damaged((bytes) => bytes.write("XX", data + 8), cabinet(files, { hasChecksums: false })),
      "malformed",
      "cabinet has a block that is not MSZIP",
    ],
    [
      "a block cannot be unpacked",
      damaged((bytes) => bytes.fill(0xff, data + 10, data + 14), cabinet(files, { hasChecksums: false })),
      "malformed",
      /block that cannot be unpacked/,
    ],
    [
      "a block unpacks to more than it says",
      damaged((bytes) => bytes.writeUInt16LE(100, data + 6), cabinet(files, { hasChecksums: false })),
      "malformed",
      /cannot be unpacked/,
    ],
    [
      "a block unpacks to less than it says",
      damaged(
        (bytes) => bytes.writeUInt16LE(32_000, second + 6),
        cabinet([{ name: "one", content: Buffer.alloc(31_000) }], { hasChecksums: false }),
      ),
      "malformed",
      "cabinet has a block of 31000 bytes, and 32000 are announced",
    ],
    [
      "a block says that it is of no bytes",
      damaged((bytes) => bytes.writeUInt16LE(0, data + 6), cabinet(files, { hasChecksums: false })),
      "malformed",
      "cabinet has a block of 0 bytes",
    ],
    [
      "a block says more than a block may have",
      damaged((bytes) => bytes.writeUInt16LE(0x8001, data + 6), cabinet(files, { hasChecksums: false })),
      "malformed",
      "cabinet has a block of 32769 bytes",
    ],
    [
      "it announces more blocks than it has",
      damaged((bytes) => bytes.writeUInt16LE(0xffff, 40)),
      "malformed",
      /ends at byte/,
    ],
    [
      "it announces more files than it has",
      damaged((bytes) => bytes.writeUInt16LE(0xffff, 28)),
      "malformed",
      /in folder 19267, and there are 1$/,
    ],
    [
      "its files are beyond its end",
      damaged((bytes) => bytes.writeUInt32LE(0xfffffff0, 16)),
      "malformed",
      /^cabinet ends at byte \d+, expected 16 bytes from 4294967280 on$/,
    ],
    [
      "a file is in a missing folder",
      damaged((bytes) => bytes.writeUInt16LE(9, entries + 8)),
      "malformed",
      'cabinet has "one" in folder 9, and there are 1',
    ],
    [
      "two files share bytes",
      damaged((bytes) => bytes.writeUInt32LE(10, second + 4)),
      "malformed",
      'cabinet has "two" where another file is, or out of order',
    ],
    [
      "a file is longer than its folder",
      damaged((bytes) => bytes.writeUInt32LE(0xffff, second)),
      "malformed",
      'the cabinet ends within "two"',
    ],
    [
      "a name has no end",
      damaged((bytes) => bytes.fill(0x61, second + 16)),
      "malformed",
      "cabinet has a file whose name does not end",
    ],
  ])("%s", async (_, bytes, verdict, message) => {
    const fault = await extracted(bytes).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(Fault);
    expect((fault as Fault).verdict).toBe(verdict);
    expect((fault as Fault).message).toMatch(message);
  });

  test("it unpacks to more than is allowed", async () => {
    await expect(extracted(cabinet(files), 40_000)).rejects.toMatchObject({
      verdict: "refuse",
      message: "a cabinet unpacks to more than the 40000 bytes that are allowed",
    });
    expect(await extracted(cabinet(files), 40_100)).toHaveLength(2);
  });
});

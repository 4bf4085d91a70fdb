import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openCompoundFile, type Storage } from "../../inspect/archives/compound-file.ts";
import { bytesSource } from "../../inspect/bytes/byte-source.ts";
import { Fault } from "../../inspect/verdict.ts";
import { compoundFile, type Member } from "../support/compound-file.ts";

const opened = (bytes: Uint8Array) => openCompoundFile(bytesSource(bytes, "file"));

/** Names and contents, as they were written. */
function written({ streams, storages }: Storage): unknown[] {
  const contents = streams.map(({ entry, content }) => [
    entry.name,
    Buffer.from(content.read(0, content.size)),
  ]);
  return [...contents, ...storages.map((storage) => [storage.entry.name, written(storage)])].sort(byName);
}
const byName = ([one]: unknown[], [other]: unknown[]) => (String(one) < String(other) ? -1 : 1);
const asWritten = (members: readonly Member[]): unknown[] =>
  members
    .map(({ name, content, members }) => [name, members ? asWritten(members) : Buffer.from(content ?? [])])
    .sort(byName);

describe("a compound file is read as it was written", () => {
  const name = fc.string({ minLength: 1, maxLength: 31, unit: fc.constantFrom(..."aBc0\u0005㠀é") });
  const size = fc.oneof(fc.nat(200), fc.integer({ min: 4000, max: 9000 }));
  const stream = fc.record({ name, content: size.map((size) => Buffer.alloc(size, size % 251)) });
  const distinct = <T extends { name: string }>(member: fc.Arbitrary<T>) =>
    fc.uniqueArray(member, { maxLength: 6, selector: ({ name }) => name.toUpperCase() });
  const storage = fc.record({ name: name.map((name) => `s${name.slice(1)}`), members: distinct(stream) });
  test.each([3, 4] as const)("in version %i", (version) => {
    fc.assert(
      fc.property(distinct(fc.oneof(stream, storage) as fc.Arbitrary<Member>), (members) => {
        expect(written(opened(compoundFile(members, { version })).root)).toEqual(asWritten(members));
      }),
    );
  });

  test("with a table of tables", () => {
    const content = Buffer.alloc(8 << 20, 7);
    const { root } = opened(compoundFile([{ name: "large", content }]));
    expect(Buffer.compare(Buffer.from(root.streams[0]?.content.read(0, content.length) ?? []), content)).toBe(
      0,
    );
  });
});

test("ranges outside of any stream are reported with their offsets", () => {
  const bytes = compoundFile([
    { name: "a", content: Buffer.alloc(5000, 1) },
    { name: "b", content: Buffer.alloc(10, 2) },
  ]);
  const { uncovered } = opened(bytes);
  const [slack] = uncovered.filter(({ why }) => why === "after the end of a stream");
  expect(slack).toMatchObject({ from: 512 + 5000, to: 512 + 5120 });
  const free = uncovered.map(({ why }) => why);
  expect(free).toContain("an entry of the directory that is not in use");
  expect(free).toContain("entries of no sector");
});

/** Three streams: one in sectors 0 to 9, two in the mini stream, which is sector 10; directory 11, tables 12 and 13. */
const members = [
  { name: "large", content: Buffer.alloc(5000, 1) },
  { name: "ab", content: Buffer.alloc(100, 2) },
  { name: "cd", content: Buffer.alloc(100, 3) },
];
const sector = (index: number) => 512 * (index + 1);
const [directory, miniFat, fat] = [sector(11), sector(12), sector(13)];
const entry = (index: number, field: number) => directory + 128 * index + field;

test("the base file of the next tests is valid", () => {
  expect(opened(compoundFile(members)).root.streams.map(({ entry }) => entry.name)).toEqual([
    "ab",
    "cd",
    "large",
  ]);
});

describe("a compound file is malformed if", () => {
  const put = (at: number, value: number) => (bytes: Buffer) => void bytes.writeUInt32LE(value, at);
  test.each<[string, (bytes: Buffer) => unknown, string | RegExp]>([
    [
      "its version is another",
      (bytes) => bytes.writeUInt16LE(5, 26),
      "the compound file has the version 5, expected 3",
    ],
    [
      "its bytes are the other way round",
      (bytes) => bytes.writeUInt16LE(0xfeff, 28),
      "the compound file has the byte order 65279, expected 65534",
    ],
    [
      "its sectors have another size",
      (bytes) => bytes.writeUInt16LE(20, 30),
      "the compound file has a sector size of 2 to the power of 20, expected 9",
    ],
    [
      "its mini sectors have another size",
      (bytes) => bytes.writeUInt16LE(38, 32),
      "the compound file has a mini sector size of 2 to the power of 38, expected 6",
    ],
    ["its reserved bytes are in use", put(36, 1), /reserved bytes of its header/],
    [
      "it announces a directory's sectors",
      put(40, 1),
      "the header announces a directory of 1 sectors, expected 0",
    ],
    [
      "it announces more tables than sectors",
      put(44, 0xffffff),
      "the compound file announces more tables than it has sectors",
    ],
    [
      "it announces fewer tables than it lists",
      put(44, 0),
      /lists other tables than the 0 that it announces/,
    ],
    [
      "a table is beyond the end",
      put(76, 100),
      "a table of the compound file is in sector 100, and there are 14",
    ],
    ["a table is in a sector of something else", put(76, 3), /table of sectors|not marked as one/],
    ["it announces a list of tables that is not there", put(72, 1), /sector 4294967294/],
    [
      "a chain of sectors is a ring",
      put(fat + 4 * 5, 2),
      'the stream "large" leads to the sector 2, which is in use already',
    ],
    [
      "a chain of sectors leads beyond the end",
      put(fat + 4 * 5, 99),
      'the stream "large" leads to the sector 99, and there are 14',
    ],
    [
      "a chain of sectors leads to a free one",
      put(fat + 4 * 5, 0xffffffff),
      'the stream "large" leads to the sector 4294967295, and there are 14',
    ],
    [
      "a chain of sectors ends early",
      put(fat + 4 * 5, 0xfffffffe),
      'the stream "large" has 5000 bytes in 6 sectors of 512',
    ],
    [
      "a chain of mini sectors is a ring",
      put(miniFat, 0),
      'the stream "ab" leads to the mini sector 0, which is in use already',
    ],
    [
      "two streams share a sector",
      put(entry(2, 116), 0),
      'the stream "cd" leads to the mini sector 0, which is in use already',
    ],
    [
      "a sector is in use and belongs to nothing",
      (bytes) => {
        put(entry(3, 120), 9 * 512)(bytes);
        put(fat + 4 * 8, 0xfffffffe)(bytes);
      },
      "the sector 9 is in use, and belongs to nothing",
    ],
    [
      "the table has sectors beyond the end in use",
      put(fat + 4 * 14, 3),
      "the table of sectors has 128 entries for 14 of them, or uses some beyond",
    ],
    [
      "a stream announces more than it has",
      put(entry(1, 120), 200),
      'the stream "ab" has 200 bytes in 2 sectors of 64',
    ],
    [
      "a stream announces the most there is",
      put(entry(1, 120), 0xffffffff),
      /has 4294967295 bytes in|leads to/,
    ],
    [
      "the mini stream announces more than it has",
      put(entry(0, 120), 64 * 9),
      "the mini stream has 512 bytes, and 576 are announced",
    ],
    [
      "the mini stream ends within a sector",
      put(entry(0, 120), 250),
      "the mini stream has 512 bytes, and 250 are announced",
    ],
    [
      "the mini stream's table is shorter than announced",
      put(64, 2),
      "the table of mini sectors has 1 sectors, and 2 are announced",
    ],
    [
      "its directory begins with something else",
      (bytes) => bytes.writeUInt8(1, entry(0, 66)),
      "the directory does not begin with its root alone",
    ],
    ["its root has siblings", put(entry(0, 68), 1), "the directory does not begin with its root alone"],
    [
      "its directory is a ring",
      put(entry(3, 72), 1),
      "the directory leads to its entry 1 twice, or there is none",
    ],
    [
      "its directory leads to an entry that is not there",
      put(entry(3, 72), 77),
      "the directory leads to its entry 77 twice, or there is none",
    ],
    [
      "its directory leads to a root",
      (bytes) => bytes.writeUInt8(5, entry(3, 66)),
      "the directory leads to its entry 3, which is not in use",
    ],
    [
      "nothing leads to an entry",
      put(entry(2, 72), 0xffffffff),
      "the directory has an entry 3 that nothing leads to",
    ],
    ["a stream has something inside", put(entry(2, 76), 3), /a stream with something inside/],
    ["a kind is none", (bytes) => bytes.writeUInt8(4, entry(2, 66)), /with an invalid name or kind/],
    ["a name has no end", (bytes) => bytes.writeUInt16LE(0x41, entry(2, 4)), /with an invalid name or kind/],
    [
      "a name is longer than its field",
      (bytes) => bytes.writeUInt16LE(66, entry(2, 64)),
      /with an invalid name or kind/,
    ],
    [
      "a name is there twice",
      (bytes) => bytes.write("AB", entry(2, 0), "utf16le"),
      'the directory has "AB" twice or out of order',
    ],
    [
      "names are out of order",
      (bytes) => bytes.write("aa", entry(2, 0), "utf16le"),
      'the directory has "aa" twice or out of order',
    ],
  ])("%s", (_, damage, message) => {
    const bytes = compoundFile(members);
    damage(bytes);
    expect(() => opened(bytes)).toThrow(Fault);
    expect(() => opened(bytes)).toThrow(message);
  });

  test("it ends within a sector, or before its streams", () => {
    const bytes = compoundFile(members);
    expect(() => opened(bytes.subarray(0, -1))).toThrow("expected whole sectors of 512");
    for (let size = 0; size < bytes.length; size += 512)
      expect(() => opened(bytes.subarray(0, size))).toThrow(Fault);
    expect(() => opened(Buffer.concat([bytes, Buffer.alloc(512 * 200)]))).toThrow(
      "the table of sectors has 128 entries for 214 of them",
    );
  });

  test("its list of tables is longer than announced", () => {
    const bytes = compoundFile([{ name: "large", content: Buffer.alloc(8 << 20) }]);
    const [first, count] = [bytes.readUInt32LE(68), bytes.readUInt32LE(72)];
    expect(count).toBe(1);
    bytes.writeUInt32LE(3, sector(first) + 508);
    expect(() => opened(bytes)).toThrow("the list of tables has more sectors than announced");
  });

  test("its storages are nested without end", () => {
    const nested = (depth: number): Member => ({
      name: "s",
      members: depth === 0 ? [] : [nested(depth - 1)],
    });
    expect(opened(compoundFile([nested(14)])).root.storages).toHaveLength(1);
    expect(() => opened(compoundFile([nested(20)]))).toThrow("the directory is deeper than 16 storages");
  });
});

test("a file with another beginning is not a compound file", () => {
  const bytes = compoundFile(members);
  bytes.writeUInt8(0xd1, 0);
  expect(() => opened(bytes)).toThrow(new Fault("unsupported-format", "file is not a compound file"));
});

test("a directory of ten thousand names in a row is read", () => {
  const many = Array.from({ length: 10_000 }, (_, index) => ({
    name: `n${index}`,
    content: Buffer.alloc(0),
  }));
  expect(opened(compoundFile(many)).root.streams).toHaveLength(10_000);
});

import { deflateSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { bytesOf } from "../support/artifacts.ts";
import { changed, inspected, refusals, verdictOn } from "../support/images.ts";

describe("vmdk", () => {
  const describe2 = (change: (text: string) => string) => (copy: Buffer) => {
    const text = copy.toString("latin1", 512, 512 + 20 * 512).replace(/\0+$/, "");
    copy.fill(0, 512, 512 + 20 * 512).write(change(text), 512);
  };
  const replace = (from: RegExp | string, to: string) =>
    describe2((text) => {
      expect(text).toMatch(from);
      return text.replace(from, to);
    });
  const directory = (copy: Buffer) => copy.readUInt32LE(56) * 512;
  const table = (copy: Buffer) => copy.readUInt32LE(directory(copy)) * 512;

  refusals(
    () => bytesOf("vm/acme-1.2.3-sparse.vmdk"),
    [
      [
        "a parent by its number",
        replace("parentCID=ffffffff", "parentCID=12345678"),
        "refuse: disk is a difference to a parent disk, expected a disk of its own",
      ],
      [
        "a parent by its name",
        replace("version=1", 'parentFileNameHint="/x.vmdk"'),
        "refuse: disk is a difference to a parent disk, expected a disk of its own",
      ],
      [
        "several extents",
        replace(/^RW .*$/m, '$&\nRW 2048 SPARSE "b.vmdk"'),
        "refuse: disk is in 2 extents, expected one",
      ],
      ["no extent", replace(/^RW .*$/m, ""), "refuse: disk is in 0 extents, expected one"],
      [
        "an extent elsewhere",
        replace("monolithicSparse", "monolithicFlat"),
        'refuse: disk is "monolithicFlat", whose data is in another file; expected monolithicSparse or streamOptimized',
      ],
      [
        "encrypted",
        replace("version=1", "encryption.keySafe = x"),
        "refuse: disk is encrypted, expected one that every machine can read",
      ],
      [
        "no word of how it was made",
        replace(/^createType.*$/m, ""),
        "malformed: disk has a description without createType",
      ],
      [
        "no description",
        describe2(() => ""),
        "refuse: disk has no description of its own: it is a part of a disk in several files",
      ],
      ["not closed", (copy) => copy.writeUInt8(1, 72), "refuse: disk was not closed by what wrote it"],
      [
        "sent as text",
        (copy) => copy.write("\r", 73),
        "malformed: disk has line endings that were changed in transfer",
      ],
      [
        "version 4",
        (copy) => copy.writeUInt32LE(4, 4),
        "malformed: disk has no sparse header of version 1 to 3 at byte 0",
      ],
      [
        "grains of 3 sectors",
        (copy) => copy.writeUInt32LE(3, 20),
        "malformed: disk has grains of 3 sectors, 512 in a table",
      ],
      [
        "tables without entries",
        (copy) => copy.writeUInt32LE(0, 44),
        "malformed: disk has grains of 128 sectors, 0 in a table",
      ],
      [
        "compressed otherwise",
        (copy) => {
          copy.writeUInt32LE(0x10001, 8);
          copy.writeUInt16LE(9, 77);
        },
        "unsupported-format: disk is compressed in a way that is not supported",
      ],
      ["no size", (copy) => copy.writeUInt32LE(0, 12), "malformed: disk has a disk of 0 bytes"],
      [
        "a description of a gigabyte",
        (copy) => copy.writeUInt32LE(2 ** 21, 36),
        "malformed: disk has a description of 1073741824 bytes",
      ],
      [
        "a directory beyond the end",
        (copy) => copy.writeUInt32LE(2 ** 31, 56),
        "malformed: disk ends at byte 131072, before its grain directory (4 bytes from 1099511627776 on)",
      ],
      [
        "a table over the directory",
        (copy) => copy.writeUInt32LE(directory(copy) / 512, directory(copy)),
        "malformed: disk has a grain table at byte 13312, where something else is already",
      ],
      [
        "a grain twice",
        (copy) => copy.copy(copy, table(copy) + 4, table(copy), table(copy) + 4),
        "malformed: disk has a grain at byte 65536, where something else is already",
      ],
    ],
  );

  test("reads a description with a megabyte of blanks in linear time", async () => {
    const text = Buffer.from(
      `# Disk DescriptorFile\na=${" ".repeat(1_000_000)}b\ncreateType="monolithicFlat"\nRW 1 FLAT "a=b" 0\n`,
    );
    expect(await verdictOn(text, "disk")).toMatch(/^refuse: disk is "monolithicFlat"/);
  });

  test("refuses a description without its data", async () => {
    const flat = (type: string) =>
      Buffer.from(`# Disk DescriptorFile\ncreateType="${type}"\nRW 1 FLAT "a-flat.vmdk" 0\n`);
    expect(await verdictOn(flat("monolithicFlat"), "disk")).toMatch(
      /^refuse: disk is "monolithicFlat", whose data/,
    );
    expect(await verdictOn(flat("monolithicSparse"), "disk")).toMatch(
      /^malformed: disk is a description only/,
    );
  });

  const stream = () => bytesOf("vm/acme-1.2.3-vmware.vmdk");
  test("reads the header at the end of a streamed file", async () => {
    const atEnd = (copy: Buffer) => {
      copy.copy(copy, copy.length - 1024, 0, 512);
      copy.fill(0xff, 56, 64);
    };
    expect(await inspected(changed(stream(), atEnd), "disk")).toMatchObject({
      verdict: "ok",
      facts: { boot: "bios" },
    });
    const other = (copy: Buffer) => {
      atEnd(copy);
      copy.writeUInt32LE(4096, copy.length - 1024 + 12);
    };
    expect(await verdictOn(changed(stream(), other), "disk")).toBe(
      "malformed: disk has a footer of another disk",
    );
    expect(
      await verdictOn(
        changed(stream(), (copy) => copy.fill(0xff, 56, 64)),
        "disk",
      ),
    ).toMatch(/^malformed: disk has no sparse header of version 1 to 3 at byte 130048/);
  });

  test("reads compressed grains, and reports damage", async () => {
    const [grain] = [stream()].map(
      (copy) => copy.readUInt32LE(copy.readUInt32LE(copy.readUInt32LE(56) * 512) * 512) * 512,
    );
    for (const [from, to] of [
      [12, 40],
      // Its length: more than the disk has.
      [8, 12],
    ] as const) {
      const damaged = changed(stream(), (copy) => copy.fill(0xff, Number(grain) + from, Number(grain) + to));
      expect((await inspected(damaged, "disk")).notes).toEqual([
        `its partition table could not be read: disk has a damaged grain at byte ${grain}`,
      ]);
    }
    const bomb = changed(stream(), (copy) => {
      const packed = deflateSync(Buffer.alloc(1 << 20));
      copy.writeUInt32LE(packed.length, Number(grain) + 8);
      copy.set(packed, Number(grain) + 12);
    });
    expect((await inspected(bomb, "disk")).facts.boot).toBe("unknown");
  });
});

/** @module-tag long */
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { xz } from "@napi-rs/lzma";
import { describe, expect, test } from "vitest";
import { bytesOf } from "../support/artifacts.ts";
import { inspected, mbrDisk, verdictOn } from "../support/images.ts";
import { type TarEntry, tarOf } from "../support/tar.ts";

const mebibyte = 2 ** 20;
const disk = mbrDisk([0x83]);

describe("a client's archive", () => {
  const hash = "AB".repeat(32);
  const files = (...entries: TarEntry[]) => gzipSync(tarOf([{ name: "agent/", type: "5" }, ...entries]));

  test("has its files, their common folder, and the hash of the self-check", async () => {
    const bytes = files(
      { name: "agent/bin", content: "hello" },
      { name: "agent/selfcheck", content: `${hash}\n` },
    );
    const { type, verdict, facts, cryptolib_post } = await inspected(bytes, "agent.tar.gz", {
      selfCheck: "agent/selfcheck",
    });
    expect({ type, verdict, facts, cryptolib_post }).toMatchObject({
      type: "tar",
      verdict: "ok",
      facts: { compression: "gzip", entries: 3, files_size: 70, top_folder: "agent" },
      cryptolib_post: { expected_hash: hash },
    });
  });

  test("has no common folder if its files are at the top", async () => {
    expect((await inspected(files({ name: "README" }), "agent.tar.gz")).facts.top_folder).toBe(null);
  });

  test("is malformed without the requested self-check", async () => {
    expect(
      await verdictOn(files({ name: "agent/bin" }), "agent.tar.gz", { selfCheck: "agent/selfcheck" }),
    ).toBe("malformed: there is no agent/selfcheck inside, expected there the self-check hash");
  });

  test.each<[string, readonly TarEntry[], string]>([
    ["a path twice", [{ name: "a" }, { name: "./a" }], "malformed: the archive has a twice"],
    [
      "a link to anywhere",
      [{ name: "a", type: "2", link: "/etc" }],
      "malformed: the link a leads out of the archive, to /etc",
    ],
    [
      "a device",
      [{ name: "a", type: "4" }],
      "refuse: the archive has the device or pipe a, expected files only",
    ],
    [
      "a path that leads out",
      [{ name: "../a" }],
      'malformed: the tar archive has the path "../a", expected one inside the archive',
    ],
    ["nothing", [], "malformed: agent.tar.xz is an archive without files"],
  ])("with %s", async (_, entries, expected) => {
    expect(await verdictOn(xz.compressSync(tarOf(entries)), "agent.tar.xz")).toBe(expected);
    expect(await verdictOn(tarOf(entries), "agent.tar.xz")).toBe(expected);
  });

  test("is refused as a bomb if it unpacks to a thousand times its size, under any limit", async () => {
    const bomb = xz.compressSync(tarOf([{ name: "a", content: Buffer.alloc(20 * mebibyte) }]));
    expect(await verdictOn(bomb, "agent.tar.xz", { limit: 2 ** 36 })).toMatch(
      /^refuse: agent.tar.xz unpacks to more than \d+ bytes/,
    );
  });

  test("is refused if it has too many paths", async () => {
    const entries = Array.from({ length: 9000 }, (_, index) => [
      { name: "././@LongLink", type: "L", content: `${index}`.padEnd(4000, "x") },
      { name: `${index}` },
    ]).flat();
    expect(await verdictOn(tarOf(entries), "agent.tar")).toMatch(
      /^refuse: the tar archive has over \d+ paths to remember/,
    );
  });
});

describe("Google's image", () => {
  const image = (...entries: TarEntry[]) => gzipSync(tarOf(entries));
  test.each<[string, Buffer, string]>([
    ["one disk", image({ name: "disk.raw", content: disk }), "ok"],
    ["a path before it", image({ name: "./disk.raw", content: disk }), "ok"],
    [
      "another name",
      image({ name: "other.raw", content: disk }),
      "refuse: the archive has other.raw, expected disk.raw and nothing else",
    ],
    [
      "a file beside it",
      image({ name: "disk.raw", content: disk }, { name: "x" }),
      "refuse: the archive has x, expected disk.raw and nothing else",
    ],
    [
      "the disk twice",
      image({ name: "disk.raw", content: disk }, { name: "disk.raw" }),
      "refuse: the archive has disk.raw, expected disk.raw and nothing else",
    ],
    ["nothing in it", image({ name: "disk.raw" }), "refuse: the archive has no disk.raw with content"],
    [
      "half a sector",
      image({ name: "disk.raw", content: "half" }),
      "malformed: disk.raw has 4 bytes, expected a multiple of 512 for a raw disk",
    ],
  ])("with %s", async (_, bytes, expected) => {
    expect(await verdictOn(bytes, "image.tar.gz")).toBe(expected);
  });
});

describe("Incus' image", () => {
  const metadata =
    "architecture: x86_64\ncreation_date: 1767225600\nproperties:\n  os: acme\n  release: '1.10'\n";
  const image = (text: string, ...entries: TarEntry[]) =>
    tarOf([{ name: "metadata.yaml", content: text }, ...entries]);

  test.each<[string, readonly TarEntry[], Record<string, unknown>]>([
    ["metadata", [], { content: "metadata" }],
    ["container", [{ name: "rootfs/", type: "5" }, { name: "rootfs/bin/sh" }], { content: "container" }],
    ["container", [{ name: "rootfs.squashfs", content: "x" }], { content: "container" }],
    [
      "virtual-machine",
      [{ name: "rootfs.img", content: bytesOf("vm/acme-1.2.3-efi.qcow2") }],
      { content: "virtual-machine", format: "qcow2", boot: "efi" },
    ],
    [
      "virtual-machine",
      [{ name: "rootfs.img", content: disk }],
      { content: "virtual-machine", format: "raw", boot: "bios" },
    ],
  ])("is recognized as %s", async (_, entries, facts) => {
    const inspection = await inspected(image(metadata, ...entries), "image.tar");
    expect(inspection).toMatchObject({
      type: "incus",
      verdict: "ok",
      facts: { ...facts, architecture: "x86_64", creation_date: 1767225600, os: "acme", release: "1.10" },
    });
  });

  test.each([
    ["architecture: x86_64\n", "malformed: metadata.yaml does not say creation_date in seconds since 1970"],
    [
      "architecture: x86_64\ncreation_date: yesterday\n",
      "malformed: metadata.yaml does not say creation_date in seconds since 1970",
    ],
    ["creation_date: 1\n", "malformed: metadata.yaml does not say the architecture"],
    ["- a\n", "malformed: metadata.yaml is not a mapping"],
  ])("is malformed with the metadata %j", async (text, expected) => {
    expect(await verdictOn(image(text), "image.tar")).toBe(expected);
  });

  test("is malformed without metadata, or with two", async () => {
    expect(await verdictOn(tarOf([{ name: "rootfs/", type: "5" }]), "image.tar")).toBe(
      "malformed: the image has no metadata.yaml, expected it next to its file system",
    );
    expect(await verdictOn(image(metadata, { name: "metadata.yaml" }), "image.tar")).toBe(
      "malformed: the image has metadata.yaml twice",
    );
  });
});

describe("XenServer's image", () => {
  const description: TarEntry = { name: "ova.xml", content: "<value><struct></struct></value>" };
  const chunk = (index: number, content: Buffer = Buffer.alloc(mebibyte), ref = 4): TarEntry => ({
    name: `Ref:${ref}/${String(index).padStart(8, "0")}`,
    content,
  });
  const sum = ({ name, content = "" }: TarEntry): TarEntry => ({
    name: `${name}.checksum`,
    content: createHash("sha1").update(content).digest("hex"),
  });
  const first = chunk(0, disk);
  const image = (...entries: TarEntry[]) => tarOf([description, ...entries]);

  test("has the size of its disks, including omitted chunks of zeros", async () => {
    const last = chunk(7, Buffer.alloc(512));
    const second = chunk(0, mbrDisk([0xef]), 9);
    const { type, verdict, facts } = await inspected(
      image(first, sum(first), last, sum(last), second),
      "image.xva",
    );
    expect({ type, verdict, facts }).toMatchObject({
      type: "xva",
      verdict: "ok",
      facts: {
        virtual_size: 8 * mebibyte + 512,
        boot: "bios",
        disks: [
          { name: "Ref:4", virtual_size: 7 * mebibyte + 512, boot: "bios" },
          { name: "Ref:9", virtual_size: mebibyte, boot: "efi" },
        ],
      },
    });
  });

  test("is ok with a note if its checksums are of an unknown kind", async () => {
    const { verdict, notes } = await inspected(
      image(first, { name: `${first.name}.xxhash`, content: "0" }),
      "image.xva",
    );
    expect([verdict, notes]).toEqual([
      "ok",
      ["its chunks have checksums of a kind that is not supported (xxhash)"],
    ]);
  });

  test.each<[string, readonly TarEntry[], string]>([
    [
      "a chunk that was changed",
      [{ ...first, content: mbrDisk([0xef]) }, sum(first)],
      "bad-digest: the XVA has chunk 0, which differs from its checksum",
    ],
    [
      "a last chunk that was changed",
      [first, sum(first), { ...chunk(1), content: disk }, sum(chunk(1))],
      "bad-digest: the XVA has chunk 1, which differs from its checksum",
    ],
    [
      "a checksum before its chunk",
      [sum(first), first],
      "malformed: the XVA has a checksum of chunk 0 that does not follow it",
    ],
    [
      "chunks out of order",
      [chunk(1), chunk(0)],
      "malformed: the XVA has Ref:4/00000000 after chunk 1, or one that is not 1 MiB before it",
    ],
    [
      "a short chunk in the middle",
      [chunk(0, Buffer.alloc(512)), chunk(1)],
      "malformed: the XVA has Ref:4/00000001 after chunk 0, or one that is not 1 MiB before it",
    ],
    [
      "a chunk that is too large",
      [chunk(0, Buffer.alloc(mebibyte + 512))],
      "malformed: the XVA has Ref:4/00000000 after chunk -1, or one that is not 1 MiB before it",
    ],
    [
      "a file of another kind",
      [{ name: "readme" }],
      "malformed: the XVA has readme, expected ova.xml and chunks of disks",
    ],
    ["no disk", [], "malformed: the XVA has no disks"],
    [
      "more disks than a machine has",
      Array.from({ length: 300 }, (_, ref) => chunk(0, Buffer.alloc(512), ref)),
      "refuse: the XVA has over 255 disks",
    ],
  ])("is refused with %s", async (_, entries, expected) => {
    expect(await verdictOn(image(...entries), "image.xva")).toBe(expected);
  });
});

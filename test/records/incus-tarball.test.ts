import { hash } from "node:crypto";
import { xz } from "@napi-rs/lzma";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { type IncusStatement, incusTarball, storedXz } from "../../pipeline/records/incus-tarball.ts";
import { inspected } from "../support/images.ts";

const statement: IncusStatement = {
  ...{ arch: "amd64", os: "acme", release: "26.08.002", variant: "qcow-efi" },
  description: "acme 26.08.002 amd64 (qcow-efi)",
};

test("the metadata tarball has the bytes that settled manifests have digests of", () => {
  const tarball = incusTarball(statement);
  expect([tarball.length, hash("sha256", tarball)]).toEqual([
    2104,
    "c3337f6e1a08c70bf507c1ffa07c2c81da9f566ad1bdbaa1a66fb27e5890b89d",
  ]);
});

test("the metadata tarball is an archive of Incus with the metadata of an image", async () => {
  const { type, verdict, facts } = await inspected(incusTarball(statement), "x.incus.tar.xz");
  expect([type, verdict]).toEqual(["incus", "ok"]);
  expect(facts).toMatchObject({
    ...{ content: "metadata", architecture: "x86_64", creation_date: Date.UTC(2026, 7) / 1000 },
    ...{ os: "acme", release: "26.08.002", variant: "qcow-efi", description: statement.description },
  });
});

const yamlIn = (tarball: Uint8Array): string => {
  const tar = xz.decompressSync(tarball);
  const size = Number.parseInt(tar.toString("latin1", 124, 135), 8);
  return tar.toString("utf8", 512, 512 + size);
};

test.each([
  ["a quote and a backslash", 'A "quoted" \\ text'],
  ["characters that YAML reads as line breaks or refuses", "a\u2028b\u2029c\ufeffd\ufffee\uffff"],
  ["characters beyond the first plane", "😀 é ש"],
  ["text that YAML would read as another type", "26.10"],
  ["more text than a block of the archive", "x".repeat(70_000)],
])("a description with %s is read as it was written", (_, description) => {
  const text = yamlIn(incusTarball({ ...statement, description }));
  expect(parse(text).properties.description).toBe(description);
  expect(text).not.toMatch(/[\u2028\u2029\ufeff\ufffe\uffff]/);
});

test.each([
  ["amd64", "x86_64"],
  ["arm64", "aarch64"],
  ["armhf", "armv7l"],
  ["i386", "i686"],
  ["ppc64el", "ppc64le"],
  ["riscv64", "riscv64"],
  ["s390x", "s390x"],
] as const)("the architecture %s has the kernel's name %s", (arch, name) => {
  const { architecture, properties } = parse(yamlIn(incusTarball({ ...statement, arch })));
  expect([architecture, properties.architecture]).toEqual([name, arch]);
});

describe("xz without compression", () => {
  test.each([0, 1, 3, 0xffff, 0x10000, 0x10001, 300_000])("contains %i bytes unchanged", (size) => {
    const content = Buffer.alloc(size, "abcdefg");
    expect(Buffer.from(xz.decompressSync(storedXz(content))).equals(content)).toBe(true);
  });
});

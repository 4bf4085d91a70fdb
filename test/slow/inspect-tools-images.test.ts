import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { execa } from "execa";
import { beforeAll, describe, expect, test } from "vitest";
import { inspectImage } from "../../inspect/images/image.ts";
import type { Inspection } from "../../inspect/inspection.ts";
import { fileSource } from "../../pipeline/system/file-source.ts";
import { artifactsOf, bytesOf, optionsWith } from "../support/artifacts.ts";
import { gptDisk, partitionTypes, unpackedArtifact } from "../support/images.ts";
import { temporaryFolder } from "../support/run.ts";

/** Needs qemu-utils, xz-utils, zstd and tar. */
const mebibyte = 2 ** 20;
let folder: string;

beforeAll(() => {
  folder = temporaryFolder();
  const disk = Buffer.concat([
    gptDisk([[partitionTypes.esp], [partitionTypes.biosBoot]]),
    // Compressible and incompressible content.
    Buffer.from(Array.from({ length: 3 * mebibyte }, (_, index) => (index * index * (index >> 9)) & 255)),
  ]);
  writeFileSync(join(folder, "disk.raw"), disk);
  truncateSync(join(folder, "disk.raw"), 40 * mebibyte);
});

async function inspect(name: string): Promise<Inspection> {
  const source = fileSource(join(folder, name));
  try {
    return await inspectImage(source, { ...optionsWith({ openpgp: [], x509: [] }), limit: 2 ** 32 });
  } finally {
    source.close();
  }
}

const run = (command: string, ...args: string[]) => execa(command, args, { cwd: folder, reject: false });
const qemu = async (...args: string[]) => {
  const { stdout, exitCode } = await run("qemu-img", ...args);
  return { code: exitCode, said: stdout.startsWith("{") ? JSON.parse(stdout) : stdout };
};

/** Format names of qemu-img. */
const drivers: Readonly<Record<string, string>> = { vhd: "vpc" };
const driverOf = (type: string) => drivers[type] ?? type;

describe("images from qemu-img", () => {
  const convert = async (format: string, name: string, ...options: string[]) => {
    const { code } = await qemu("convert", "-f", "raw", "-O", format, ...options, "disk.raw", name);
    expect(code).toBe(0);
    return name;
  };

  test.each<[string, string, string[]]>([
    ["qcow2", "version 3, zlib", []],
    ["qcow2", "version 2, zlib", ["-o", "compat=0.10"]],
    ["qcow2", "version 3, zlib", ["-c"]],
    ["qcow2", "version 3, zstd", ["-c", "-o", "compression_type=zstd"]],
    ["qcow2", "version 3, zlib", ["-o", "cluster_size=512"]],
    ["qcow2", "version 3, zlib", ["-o", "cluster_size=2M,preallocation=full"]],
    ["qcow2", "version 3, zlib", ["-o", "extended_l2=on,cluster_size=128k"]],
    ["qcow2", "version 3, zlib", ["-o", "lazy_refcounts=on,refcount_bits=1"]],
    ["vmdk", "monolithicSparse", []],
    ["vmdk", "monolithicSparse", ["-o", "zeroed_grain=on"]],
    ["vmdk", "streamOptimized", ["-o", "subformat=streamOptimized"]],
    ["vpc", "dynamic", []],
    ["vpc", "dynamic", ["-o", "force_size=on"]],
    ["vpc", "fixed", ["-o", "subformat=fixed,force_size=on"]],
    ["vhdx", "dynamic", []],
    ["vhdx", "dynamic", ["-o", "block_size=1M"]],
    ["vhdx", "fixed", ["-o", "subformat=fixed"]],
    ["vdi", "dynamic", []],
    ["vdi", "fixed", ["-o", "static=on"]],
  ])("%s (%s) with %j are ok, with their size and boot type", async (format, variant, options) => {
    const name = await convert(
      format,
      `made-${createHash("md5")
        .update([format, ...options].join())
        .digest("hex")}`,
      ...options,
    );
    const { type, verdict, facts, notes } = await inspect(name);
    expect([driverOf(type), verdict, facts.variant, facts.boot, notes]).toEqual([
      format,
      "ok",
      variant,
      "both",
      [],
    ]);
    const { said } = await qemu("info", "--output=json", "-f", format, name);
    expect(facts.virtual_size).toBe(said["virtual-size"]);
  });

  test.each([
    [
      "a backing file",
      ["create", "-f", "qcow2", "-b", "disk.raw", "-F", "raw"],
      "refuse",
      /needs the backing file "disk.raw"/,
    ],
    [
      "its data elsewhere",
      ["create", "-f", "qcow2", "-o", "data_file=data.raw"],
      "refuse",
      /keeps its data in another file/,
    ],
    [
      "encrypted",
      [
        "create",
        "-f",
        "qcow2",
        "--object",
        "secret,id=s,data=abc",
        "-o",
        // qemu-img would benchmark LUKS first, which can fail with a coarse CPU clock.
        "encrypt.format=aes,encrypt.key-secret=s",
      ],
      "refuse",
      /is encrypted/,
    ],
    [
      "several extents",
      ["create", "-f", "vmdk", "-o", "subformat=twoGbMaxExtentSparse"],
      "refuse",
      /"twoGbMaxExtentSparse", whose data/,
    ],
    [
      "an extent apart",
      ["create", "-f", "vmdk", "-o", "subformat=monolithicFlat"],
      "refuse",
      /"monolithicFlat", whose data/,
    ],
    [
      "a parent",
      ["create", "-f", "vmdk", "-b", "parent.vmdk", "-F", "vmdk"],
      "refuse",
      /is a difference to a parent disk/,
    ],
    ["another format", ["create", "-f", "qed"], "unsupported-format", /is not an image or archive/],
  ])("with %s are refused", async (what, args, verdict, reason) => {
    await qemu("create", "-f", "vmdk", "parent.vmdk", "40M");
    const name = `refused-${what.replaceAll(" ", "-")}`;
    expect((await qemu(...args, name, "40M")).code).toBe(0);
    const inspection = await inspect(name);
    expect(inspection.verdict).toBe(verdict);
    expect(inspection.reason).toMatch(reason);
  });
});

const fixtures = artifactsOf("vm-qcow2", "vm-vmdk", "vm-vpc", "vm-vhdx", "vm-vdi").map(({ file }) => file);

/** Fixtures with different verdicts of qemu-img, and the reasons. */
const differences: Readonly<Record<string, string>> = {
  "bad-backing-file.qcow2": "qemu-img opens the backing file; what is shipped must not need one",
};

test.each(fixtures)("qemu-img reads and checks %s, which inspect accepts", async (file) => {
  const name = basename(file).replace(/\.xz$/, "");
  writeFileSync(join(folder, name), file.endsWith(".xz") ? unpackedArtifact(file) : bytesOf(file));
  const { type, verdict, facts } = await inspect(name);
  const info = await qemu("info", "--output=json", "-f", driverOf(type), name);
  const check = await qemu("check", "--output=json", "-f", driverOf(type), name);
  // 63: the format has no check. 3: leaked clusters.
  const isGood = info.code === 0 && [0, 3, 63].includes(check.code ?? -1);
  expect(verdict === "ok").toBe(isGood && !differences[name]);
  if (verdict === "ok") expect(facts.virtual_size).toBe(info.said["virtual-size"]);
});

/** Changes of a valid qcow2, and whether qemu-img check reports them; relcat reports all. */
test.each<[string, (copy: Buffer) => unknown]>([
  ["its first table beyond the end", (copy) => copy.writeBigUInt64BE(2n ** 40n, 40)],
  [
    "a cluster that two entries use",
    (copy) => {
      const table = Number(copy.readBigUInt64BE(Number(copy.readBigUInt64BE(40))) & 0xfffffffffffe00n);
      copy.writeBigUInt64BE(copy.readBigUInt64BE(table), table + 8);
    },
  ],
])("qemu-img check and inspect both find a qcow2 with %s", async (what, change) => {
  const copy = bytesOf("vm/acme-1.2.3.qcow2");
  change(copy);
  const name = `damaged-${what.replaceAll(" ", "-")}`;
  writeFileSync(join(folder, name), copy);
  expect((await inspect(name)).verdict).toBe("malformed");
  expect((await qemu("check", "-f", "qcow2", name)).code).not.toBe(0);
});

describe("archives from tar and its compressors", () => {
  beforeAll(() => {
    mkdirSync(join(folder, "client/bin"), { recursive: true });
    writeFileSync(join(folder, "client/bin/agent"), readFileSync(process.execPath).subarray(0, 2 * mebibyte));
    writeFileSync(join(folder, `client/${"n".repeat(120)}`), "long");
    writeFileSync(join(folder, "client/hole"), "x");
    truncateSync(join(folder, "client/hole"), 3 * mebibyte);
    execFileSync("ln", ["-s", "bin/agent", join(folder, "client/link")]);
    execFileSync("ln", [join(folder, "client/bin/agent"), join(folder, "client/hard")]);
  });

  test.each([
    ["gnu", ["-S"]],
    ["gnu", []],
    ["oldgnu", ["-S"]],
    ["posix", []],
    ["ustar", ["--exclude=n*"]],
    ["v7", ["--exclude=n*"]],
  ])("are read in the form %s, %j", async (format, options) => {
    const name = `client-${format}${options.length}.tar`;
    expect((await run("tar", `--format=${format}`, ...options, "-cf", name, "client")).exitCode).toBe(0);
    const listed = (await run("tar", "-tf", name)).stdout.split("\n").length;
    expect(await inspect(name)).toMatchObject({
      type: "tar",
      verdict: "ok",
      facts: { entries: listed, top_folder: "client" },
    });
  });

  test.each([
    ["xz", ["-9e"]],
    ["xz", ["-T2", "--block-size=1MiB"]],
    ["xz", ["--check=sha256"]],
    ["xz", ["--check=none"]],
    ["xz", ["--x86", "--lzma2=preset=6"]],
    ["xz", ["--arm64", "--lzma2=preset=6"]],
    ["xz", ["--delta=dist=4", "--x86", "--lzma2=preset=1"]],
    ["zstd", ["-q", "-19"]],
    ["zstd", ["-q", "--long=26", "--no-check"]],
    ["gzip", ["-9"]],
  ])("from %s %j have the digest of their unpacked content", async (command, options) => {
    await run("tar", "-cf", "client.tar", "client");
    const { stdout } = await execa(command, [...options, "-c", "client.tar"], {
      cwd: folder,
      encoding: "buffer",
      stripFinalNewline: false,
    });
    writeFileSync(join(folder, "client.tar.packed"), stdout);
    const inner = createHash("sha256")
      .update(readFileSync(join(folder, "client.tar")))
      .digest("hex");
    expect(await inspect("client.tar.packed")).toMatchObject({
      verdict: "ok",
      facts: { inner_sha256: inner },
    });
  });

  test.each([
    ["xz", ["--lzma2=dict=128MiB"]],
    ["zstd", ["-q", "--long=27"]],
  ])("from %s %j need too much memory", async (command, options) => {
    // A window no larger than the content is never written.
    await run(
      "sh",
      "-c",
      `head -c 140000000 /dev/zero | ${command} ${options.join(" ")} -c > large.raw.packed`,
    );
    const { verdict, reason } = await inspect("large.raw.packed");
    expect([verdict, reason]).toEqual([
      "refuse",
      "large.raw.packed needs a dictionary of more than 67108864 bytes to unpack; pack it with a smaller one",
    ]);
  });

  test("include a disk for Google that is made by Google's instructions", async () => {
    await run("sh", "-c", "tar --format=oldgnu -Sczf gce.tar.gz disk.raw");
    expect(await inspect("gce.tar.gz")).toMatchObject({
      type: "gce",
      verdict: "ok",
      facts: { boot: "both", virtual_size: 40 * mebibyte },
    });
  });
});

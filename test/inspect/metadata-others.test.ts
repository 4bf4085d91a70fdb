import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { architectureInName } from "../../inspect/architecture.ts";
import { bytesSource } from "../../inspect/bytes/byte-source.ts";
import { readMetadata } from "../../inspect/metadata.ts";
import type { Kind } from "../../shared/package-types.ts";
import { bytesOf } from "../support/artifacts.ts";
import { mbrDisk, unpackedArtifact } from "../support/images.ts";
import { msi, tables } from "../support/msi.ts";
import { tar } from "../support/tar.ts";
import { installer, xar } from "../support/xar.ts";

const read = (bytes: Uint8Array, name: string, kind: Kind = "client") =>
  readMetadata(bytesSource(bytes, name), { kind, filelists: false });

describe("a chart", () => {
  const chart = (text: string) =>
    read(gzipSync(tar({ "agent/Chart.yaml": text })), "agent-1.10.tgz", "chart");
  const head = "name: agent\nversion: 1.10\n";

  test("keeps texts as they are written, and has flags where Helm has them", async () => {
    const text = `${head}apiVersion: v2\nappVersion: 1.20\ndeprecated: yes\nicon:
keywords: [on, 1]\nannotations: { "a/b": 0x10 }
dependencies:\n  - { name: db, version: 1.0, enabled: False, tags: [x] }\n  - { name: other }\n`;
    expect(await chart(text)).toEqual({
      type: "helm",
      chart: {
        ...{
          name: "agent",
          version: "1.10",
          apiVersion: "v2",
          appVersion: "1.20",
          deprecated: true,
          icon: "",
        },
        ...{ keywords: ["on", "1"], annotations: { "a/b": "0x10" } },
        dependencies: [{ name: "db", version: "1.0", enabled: false, tags: ["x"] }, { name: "other" }],
      },
    });
  });

  const withRequirements = (text: string, requirements: string) =>
    read(
      gzipSync(tar({ "agent/requirements.yaml": requirements, "agent/Chart.yaml": text })),
      "agent-1.10.tgz",
      "chart",
    );

  test.each([
    [
      "v1",
      "dependencies:\n- { name: db, version: 1.0, enabled: yes }\n",
      [{ name: "db", version: "1.0", enabled: true }],
    ],
    ["v2", "dependencies: [{ name: db }]\n", [{ name: "db" }]],
    ["v1", "# none\n", [{ name: "own" }]],
    ["v1", "dependencies:\n", [{ name: "own" }]],
  ])(
    "has apiVersion %s and the dependencies of requirements.yaml: %j",
    async (version, text, dependencies) => {
      const own = `${head}apiVersion: ${version}\ndependencies: [{ name: own }]\n`;
      expect(await withRequirements(own, text)).toMatchObject({ chart: { dependencies } });
      expect(await withRequirements(`${head}apiVersion: ${version}\n`, "# none\n")).not.toHaveProperty(
        "chart.dependencies",
      );
    },
  );

  test("is refused with requirements that cannot be read", async () => {
    await expect(withRequirements(head, "- db\n")).rejects.toThrow("requirements.yaml is not a mapping");
  });

  test.each([
    ["without a version", "name: agent\n", "Chart.yaml does not say name and version of the chart"],
    ["with two lines in its name", 'name: "a\\nb"\nversion: 1\n', "its chart.name is not one line of text"],
    ["with a flag that is none", `${head}deprecated: maybe\n`, 'Chart.yaml has "maybe" for deprecated'],
    ["with half a character", `${head}description: "\\ud83d"\n`, "has half of a surrogate pair"],
    ["with a key of JavaScript", `${head}annotations: { __proto__: { x: y } }\n`, "has the key __proto__"],
    ["that is nested too deep", `${head}a: ${"[".repeat(40)}${"]".repeat(40)}\n`, "more than 16 levels deep"],
    ["that is too large", `${head}description: ${"x".repeat(300_000)}\n`, "expected 262144 at most"],
    [
      "with a key twice",
      `${head}name: other\n`,
      /^Chart\.yaml cannot be read: Map keys must be unique at line 3, column 1$/,
    ],
    ["that expands", `${head}a: &a [x,x,x,x,x,x,x,x,x]\n${bomb()}`, "Chart.yaml cannot be read"],
  ])("is refused %s", async (_, text, reason) => {
    await expect(chart(text)).rejects.toThrow(reason);
  });
});

/** Each list has the one before nine times. */
const bomb = () =>
  [..."bcdefghij"].map((key, index) => `${key}: &${key} [${`*${"abcdefghi"[index]},`.repeat(9)}]`).join("\n");

describe("a Windows installer", () => {
  const property = { name: "Property", columns: { Property: "text", Value: "text" } } as const;
  const usual = {
    ...{ ProductName: "Acme", ProductVersion: "1.2.3", Manufacturer: "Example" },
    ProductCode: "{0}",
  };
  const made = (properties: Record<string, string>, content = summary("x64;1033", 2)) =>
    read(
      msi([
        ...tables([{ ...property, rows: Object.entries(properties) }]),
        { name: "\u0005SummaryInformation", content },
      ]),
      "acme.msi",
    );

  test.each<[Record<string, string>, number, "machine" | "user"]>([
    [{ ALLUSERS: "1" }, 2, "machine"],
    [{ ALLUSERS: "2" }, 2, "machine"],
    [{ ALLUSERS: "2", MSIINSTALLPERUSER: "1" }, 2, "user"],
    [{ ALLUSERS: "2" }, 10, "user"],
    [{}, 2, "user"],
  ])("with %j and the word count %i is for the %s", async (more, words, scope) => {
    expect(await made({ ...usual, ...more }, summary("x64;1033", words))).toMatchObject({ scope });
  });

  test.each([
    ["Intel;1033", "i386"],
    [";1033", "i386"],
    ["x64;1033,1031", "amd64"],
    ["Arm64;0", "arm64"],
  ])("for %s has the architecture %s", async (template, arch) => {
    expect(await made(usual, summary(template, 2))).toMatchObject({ arch });
  });

  test.each<[string, Record<string, string>, Buffer | undefined, string]>([
    ["without a manufacturer", { ...usual, Manufacturer: "" }, undefined, "it has no property Manufacturer"],
    [
      "with two lines in its name",
      { ...usual, ProductName: "a\nb" },
      undefined,
      "its product_name is not one line",
    ],
    ["for Itanium", usual, summary("Intel64;1033", 2), 'its architecture is "Intel64"'],
    ["with a summary that ends", usual, summary("x64;1033", 2).subarray(0, 60), "ends at byte 60"],
    ["with a summary that leads out", usual, patched(summary("x64;1033", 2)), "expected a number at"],
    ["with a large summary", usual, Buffer.alloc(100_000), "it has no summary information, or too much"],
  ])("is refused %s", async (_, properties, content, reason) => {
    await expect(made(properties, content)).rejects.toThrow(reason);
  });
});

/** A property set with Template and Word Count (MS-OLEPS). */
function summary(template: string, wordCount: number): Buffer {
  const header = Buffer.alloc(48);
  header.writeUInt16LE(0xfffe, 0);
  header.writeUInt32LE(1, 24);
  header.writeUInt32LE(48, 44);
  const text = Buffer.from(`${template}\0`);
  const numbers = [40 + text.length, 2, 7, 24, 15, 32 + text.length, 30, text.length];
  const section = Buffer.alloc(32);
  for (const [index, value] of numbers.entries()) section.writeUInt32LE(value, index * 4);
  const count = Buffer.alloc(8);
  count.writeUInt32LE(3, 0);
  count.writeUInt32LE(wordCount, 4);
  return Buffer.concat([header, section, text, count]);
}

function patched(bytes: Buffer): Buffer {
  bytes.writeUInt32LE(0xffffff00, 44);
  return bytes;
}

describe("a macOS installer", () => {
  const made = (distribution: string, info = "") => {
    const [, ...others] = installer([{ path: "./bin/agent", content: Buffer.from("x") }]);
    const first = { path: "Distribution", content: Buffer.from(distribution), isPacked: true };
    const components = others.map((file) =>
      file.path.endsWith("PackageInfo") && info !== "" ? { ...file, content: Buffer.from(info) } : file,
    );
    return read(xar([first, ...components]), "acme.pkg");
  };
  const script = (inner: string) => `<installer-gui-script><title>A</title>${inner}</installer-gui-script>`;

  test("says the lowest macOS and, if it is for one only, the architecture", async () => {
    const os = '<allowed-os-versions><os-version min="12.3"/></allowed-os-versions>';
    const base = { type: "pkg", identifier: "com.example.acme", version: "26.8.1" };
    expect(await made(script(os))).toEqual({ ...base, min_os: "12.3" });
    expect(await made(script(`<volume-check>${os}</volume-check>`))).toEqual({ ...base, min_os: "12.3" });
    expect(await made(script('<options hostArchitectures="arm64"/>'))).toEqual({ ...base, arch: "arm64" });
    expect(await made(script('<options hostArchitectures="arm64,x86_64"/>'))).toEqual(base);
    const info = '<pkg-info identifier="com.example.acme" version="26.8.1" minimumSystemVersion="13.0"/>';
    expect(await made(script(""), info)).toEqual({ ...base, min_os: "13.0" });
  });

  test.each([
    ["without an identifier", script(""), '<pkg-info version="1"/>', "does not say one identifier"],
    ["for an unknown machine", script('<options hostArchitectures="vax"/>'), "", 'its architecture is "vax"'],
    ["with a document type", `<!DOCTYPE x>${script("")}`, "", "has a document type, expected none"],
  ])("is refused %s", async (_, distribution, info, reason) => {
    await expect(made(distribution, info)).rejects.toThrow(reason);
  });
});

describe("an image", () => {
  const image = (file: string) => read(bytesOf(`vm/${file}`), file, "image");
  test("says format, size and firmware, and what it is without compression", async () => {
    expect(await image("acme-1.2.3-efi.qcow2")).toEqual({
      ...{ type: "image", format: "qcow2", virtual_size: 1 << 20, boot: "uefi" },
    });
    const inner = createHash("sha256").update(unpackedArtifact("vm/acme-1.2.3-azure.vhd.xz")).digest("hex");
    expect(await image("acme-1.2.3-azure.vhd.xz")).toMatchObject({
      ...{ type: "image", format: "vhd", compression: "xz", inner_sha256: inner },
    });
    expect(await image("acme-1.2.3-incus.tar.xz")).toMatchObject({
      type: "image",
      format: "incus",
      arch: "amd64",
    });
    expect(await image("acme-1.2.3-esxi.ova")).toMatchObject({ type: "image", format: "ova" });
  });

  test("keeps its facts if a trusted signature is all that it lacks, and has none if it is damaged", async () => {
    await expect(image("tampered-esxi.ova")).rejects.toThrow();
    await expect(image("bad-backing-file.qcow2")).rejects.toThrow("backing");
    await expect(read(Buffer.from("hello"), "x.qcow2", "image")).rejects.toThrow("in a known format");
    expect(await read(mbrDisk([0x83]), "x.img", "image")).toEqual({
      ...{ type: "image", format: "raw", virtual_size: 1 << 20, boot: "bios" },
    });
  });
});

test.each([
  ["agent_1.2.3_amd64.tar.xz", "amd64"],
  ["agent-Linux-x86_64.tar.xz", "amd64"],
  ["agent-x64.exe", "amd64"],
  ["agent.aarch64.xz", "arm64"],
  ["agent-arm64-aarch64", "arm64"],
  ["agent-armv7.xz", "armhf"],
  ["agent-i686.xz", "i386"],
  ["agent-x86.xz", "i386"],
  ["agent-noarch.xz", "all"],
  ["install-all.xz", undefined],
  ["agent-amd64-arm64.xz", undefined],
  ["arm64ish-agent.xz", undefined],
  ["agent.xz", undefined],
])("the architecture in the name %s is %s", (name, arch) => {
  expect(architectureInName(name)).toBe(arch);
});

import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { xz } from "@napi-rs/lzma";
import { describe, expect, test } from "vitest";
import { builtInRules } from "../../../pipeline/intake/ingest/built-in-rules.ts";
import { defaultPackageTypes } from "../../../shared/package-types.ts";
import { bytesOf } from "../../support/artifacts.ts";
import { project, release } from "../../support/project.ts";
import { repository } from "../../support/run.ts";
import { tar } from "../../support/tar.ts";

const config = "require: {}\n";
const types: Readonly<Record<string, string>> = {
  "harbor-1.2.3.x86_64.rpm": "rpm",
  "harbor_1.2.3_amd64.deb": "deb",
  "harbor-1.2.3.msi": "msi",
  "harbor-1.2.3.pkg": "pkg",
  "harbor-chart-1.2.3.tgz": "helm",
  "harbor-efi.qcow2.gz": "qcow-efi",
  "harbor.qcow2": "qcow",
  "harbor.vmdk": "vmware",
  "harbor.ova": "vmware",
  "harbor-esxi.ova": "esxi",
  "harbor.vhdx.xz": "hyperv",
  "harbor-aws.vhd": "amazon",
  "harbor-amazon.raw.xz": "amazon",
  "harbor-xen.vhd.gz": "xen",
  "harbor.xva.gz": "xen",
  "harbor-hyper-v.vhd": "hyperv",
  "harbor-azure.vhdx": "azure",
  "harbor-azure.vhd.xz": "azure",
  "harbor-1.2.3-linux-x86_64.tar.xz": "xz",
  "vzdump-qemu-harbor.vma.zst": "proxmox",
  "harbor.raw.tar.gz": "gce",
  "harbor-efi.raw.tar.gz": "gce-efi",
};

const built = (files: readonly string[], catalog = config) =>
  project({
    "releases/catalog.yaml": catalog,
    ...release("26.09.001", []),
    ...Object.fromEntries(files.map((name) => [`out/${name}`, `bytes of ${name}`])),
  });

const ingest = ["ingest", "--release", "26.09.001", "out"];
const ingested = async (made: ReturnType<typeof project>) => {
  const { document } = await made.json(...ingest);
  const artifacts = document.artifacts as { file: string; package_type: string }[];
  return Object.fromEntries(artifacts.map((each) => [each.file, each.package_type]));
};

test("a project without rules ingests files with well-known names, and check accepts them", async () => {
  const made = built(Object.keys(types));
  expect(await ingested(made)).toEqual(types);
  await made.succeed("check");
});

test("the built-in rules cover every package type of the default table, as docs/releases.md lists them", () => {
  const named = builtInRules.flatMap(({ packageType }) => packageType ?? []);
  expect([...new Set(named)].sort()).toEqual(Object.keys(defaultPackageTypes).sort());
  const text = readFileSync(join(repository, "docs/releases.md"), "utf8");
  const rows = text.matchAll(/^\| `([^`]+)` \| (?:`([a-z-]+)`|none)(.*) \|$/gm);
  const listed = [...rows].map(([, match, packageType, more]) => ({
    match,
    packageType,
    isIncus: more?.includes("Incus"),
  }));
  expect(listed.slice(-builtInRules.length)).toEqual(
    builtInRules.map(({ match, packageType, isIncus = false }) => ({ match, packageType, isIncus })),
  );
});

describe("a .tar.xz", () => {
  const ingestedBytes = async (files: Record<string, Uint8Array>, ...args: string[]) => {
    const made = built([]);
    mkdirSync(join(made.folder, "out"));
    for (const [name, bytes] of Object.entries(files)) writeFileSync(join(made.folder, "out", name), bytes);
    const { document } = await made.json(...ingest, ...args);
    const artifacts = document.artifacts as { file: string; package_type: string }[];
    return Object.fromEntries(artifacts.map((each) => [each.file, each.package_type]));
  };
  const packed = (files: Record<string, string>) => xz.compressSync(tar(files));
  const metadata = "architecture: x86_64\ncreation_date: 1790000000\n";

  test("is an image of Incus if it contains what Incus requires, whatever its name", async () => {
    const files = {
      "harbor.tar.xz": bytesOf("vm/acme-1.2.3-incus.tar.xz"),
      "metadata.tar.xz": bytesOf("vm/acme-1.2.3-incus-metadata.tar.xz"),
      "late.tar.xz": packed({ "./templates/a.tpl": "a", "./metadata.yaml": metadata, "./rootfs/a": "a" }),
      "client.tar.xz": bytesOf("tar/acme-client-1.2.3.tar.xz"),
      "incus-agent.tar.xz": packed({ "usr/bin/agent": "a", "metadata.yaml": metadata }),
      "other.tar.xz": packed({ "metadata.yaml": "name: something else\n" }),
      "late-client.tar.xz": packed({ "templates/a.tpl": "a" }),
    };
    expect(await ingestedBytes(files)).toEqual({
      "harbor.tar.xz": "incus",
      "metadata.tar.xz": "incus",
      "late.tar.xz": "incus",
      "client.tar.xz": "xz",
      "incus-agent.tar.xz": "xz",
      "other.tar.xz": "xz",
      "late-client.tar.xz": "xz",
    });
  });

  test("is what --set or a rule says it is, and is not opened then", async () => {
    const files = { "harbor.tar.xz": bytesOf("vm/acme-1.2.3-incus.tar.xz") };
    expect(await ingestedBytes(files, "--set", "package_type=xz")).toEqual({ "harbor.tar.xz": "xz" });
  });

  test("is known by its name if its bytes are not here", async () => {
    const made = built([]);
    const sum = "0123456789abcdef".repeat(4);
    made.write(
      "SHA256SUMS",
      ["harbor.tar.xz", "harbor-incus.tar.xz"].map((name) => `${sum}  ${name}\n`).join(""),
    );
    const { document } = await made.json("ingest", "--release", "26.09.001", "--sums", "SHA256SUMS");
    expect(document.artifacts).toMatchObject([
      { file: "harbor-incus.tar.xz", package_type: "incus" },
      { file: "harbor.tar.xz", package_type: "xz" },
    ]);
  });

  test("needs a rule if its name has another system", async () => {
    const made = built(["harbor_1.2.3_Darwin_arm64.tar.xz", "harbor-freebsd.tar.xz"]);
    const { exitCode, stderr } = await made.run(...ingest);
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringContaining('nothing says what "harbor-freebsd.tar.xz" is'),
    ]);
    expect(stderr).toContain('{ match: "*{[Dd]arwin,[Mm]ac[Oo][Ss]}*.tar.xz", package_type: macos-archive }');
  });
});

test("a project's rule overrides the usual meaning of an ending", async () => {
  const rules = `${config}ingest:\n  - { match: "*.vhd", package_type: hyperv }\n`;
  expect(await ingested(built(["a.vhd", "a.rpm"], rules))).toEqual({ "a.vhd": "hyperv", "a.rpm": "rpm" });
});

test("ignore: leaves files out and reports them", async () => {
  const made = built(["a.rpm", "build.log", "a.spdx.json"], `${config}ignore: ["*.log", "*.spdx.json"]\n`);
  const { stdout, stderr } = await made.succeed(...ingest);
  expect(stdout).toContain("with 1 artifact\n  rpm  a.rpm");
  expect(stderr).toContain(
    "Not artifacts: a.spdx.json (ignore: in catalog.yaml), build.log (ignore: in catalog.yaml).",
  );
});

describe("the report of unknown files", () => {
  const names = Array.from({ length: 20 }, (_, index) => `tool-${String(index).padStart(2, "0")}.bin`);

  test("is one problem with the count and the first three places, and --json has them all", async () => {
    const made = built([...names, "notes.flatpak"]);
    const { stderr, exitCode } = await made.run(...ingest);
    expect(exitCode).toBe(1);
    const lines = stderr.split("\n");
    expect(lines.slice(0, 4)).toEqual([
      'out/notes.flatpak error[artifact-unmatched] nothing says what "notes.flatpak" is',
      'out/tool-00.bin error[artifact-unmatched] nothing says what "tool-00.bin" is',
      'out/tool-01.bin error[artifact-unmatched] nothing says what "tool-01.bin" is',
      "  and 18 more like these, 21 in all",
    ]);
    expect(lines.at(-1)).toBe("21 errors");
    expect((await made.json(...ingest)).document.problems).toHaveLength(21);
  });

  test("ends with rules that work when they are pasted", async () => {
    const made = built([...names, "notes.flatpak"]);
    const { stderr } = await made.run(...ingest);
    const lines = stderr.split("\n").map((line) => line.replace(/^ {4}/, ""));
    const start = lines.findIndex((line) => line.startsWith("package_types:"));
    const end = lines.findIndex((line) => line.startsWith("or that they are not"));
    expect(lines.slice(start, end).filter((line) => !line.startsWith("# Package types"))).toEqual([
      "package_types: # if catalog.yaml has this key already, add the lines below it there",
      '  flatpak: { operating_system: linux, platform: 17, kind: client, description: "Flatpak" }',
      "ingest: # if catalog.yaml has this key already, add the lines below it there",
      '  - { match: "*.flatpak", package_type: flatpak }',
      "# The names of these files do not say what they are. Choose a package type for each, or leave it out with ignore:.",
      "# ingest:",
      '# - { match: "*.bin", package_type: … }',
    ]);
    const pasted = lines
      .slice(start, end)
      .join("\n")
      .replace('# - { match: "*.bin"', '  - { match: "*.bin"')
      .replace("…", "xz");
    appendFileSync(join(made.folder, "releases/catalog.yaml"), `${pasted}\n`);
    expect((await made.succeed(...ingest)).stdout).toContain("with 21 artifacts");
  });

  test("ends with a line for ignore: that works when it is pasted", async () => {
    const made = built([...names, "a.rpm"]);
    const { stderr } = await made.run(...ingest);
    const [line = ""] = /ignore: \[.*\]/.exec(stderr) ?? [];
    expect(line).toBe('ignore: ["*.bin"]');
    appendFileSync(join(made.folder, "releases/catalog.yaml"), `${line}\n`);
    expect((await made.succeed(...ingest)).stdout).toContain("with 1 artifact\n");
  });
});

describe("ingest --suggest", () => {
  test("prints lines that recognize GoReleaser's usual archives when they are pasted", async () => {
    const files = ["harbor_1.0.0_linux_amd64.tar.gz", "harbor_1.0.0_Darwin_arm64.tar.gz"];
    const made = built([...files, "harbor_1.0.0_windows_amd64.zip", "harbor.exe", "a.rpm"]);
    const { stdout, stderr } = await made.succeed("ingest", "--suggest", "out");
    expect(stderr).toBe("");
    appendFileSync(join(made.folder, "releases/catalog.yaml"), `${stdout}\n`);
    expect(await ingested(made)).toEqual({
      "harbor_1.0.0_linux_amd64.tar.gz": "linux-archive",
      "harbor_1.0.0_Darwin_arm64.tar.gz": "macos-archive",
      "harbor_1.0.0_windows_amd64.zip": "windows-archive",
      "harbor.exe": "exe",
      "a.rpm": "rpm",
    });
    await made.succeed("check");
    expect((await made.succeed("ingest", "--suggest", "out")).stdout).toBe(
      "# Every file is recognized already.",
    );
  });

  /** Ingests the files of release A with pasted lines, and then those of B without another rule. */
  async function ingestsNext(a: readonly string[], b: readonly string[], pasted: (text: string) => string) {
    const made = built(a);
    const { stdout } = await made.succeed("ingest", "--suggest", "out");
    appendFileSync(join(made.folder, "releases/catalog.yaml"), `${pasted(stdout)}\n`);
    await made.succeed(...ingest);
    made.write("releases/26.10.001/release.yaml", {
      version: "26.10.001",
      date: "2026-10-02",
      summary: "B.",
    });
    for (const file of b) made.write(`next/${file}`, `bytes of ${file}`);
    const { document } = await made.json("ingest", "--release", "26.10.001", "next");
    const artifacts = document.artifacts as { file: string; package_type: string }[];
    return Object.fromEntries(artifacts.map((each) => [each.file, each.package_type]));
  }
  const uncommented = (type: string) => (text: string) =>
    text.replace("# ingest:", "ingest:").replace(/^# - (.*)…/gm, `  - $1${type}`);

  test.each([
    [["agent-26.09.001-linux-amd64"], ["agent-26.10.001-linux-amd64"]],
    [["agent-26.09.001"], ["agent-26.10.001"]],
    [["agent_v1.2.3-rc1"], ["agent_v1.2.4"]],
    [["agent-20260901"], ["agent-20261002"]],
    [["disk-26.09.001.img.xz"], ["disk-26.10.001.img.xz"]],
    [["agent.26.09.001.xz"], ["agent.26.10.001.xz"]],
    [
      ["agent-1.2.3.bin", "agent-1.2.3.7z"],
      ["agent-1.10.0.bin", "agent-1.10.0.7z"],
    ],
  ])("suggests patterns for %j without the version, so that %j need no others", async (a, b) => {
    expect(await ingestsNext(a, b, uncommented("xz"))).toEqual(
      Object.fromEntries(b.map((file) => [file, "xz"])),
    );
  });

  test("suggests patterns for archives in which no system's name is part of another's", async () => {
    const names = (version: string) => [
      `a_${version}_windows_amd64.zip`,
      `b_${version}_darwin_arm64.zip`,
      `c_${version}_MacOS.zip`,
      `d_${version}_Linux_x86_64.zip`,
    ];
    const found = await ingestsNext(names("26.09.001"), names("26.10.001"), (text) => text);
    const systems = ["windows", "macos", "macos", "linux"].map((system) => `${system}-archive`);
    expect(found).toEqual(
      Object.fromEntries(names("26.10.001").map((name, index) => [name, systems[index]])),
    );
  });

  test("suggests patterns for debs that keep the version of the system", async () => {
    const names = (version: string) =>
      ["22.04", "24.04"].map((os) => `agent_${version}-1+ubuntu${os}_amd64.deb`);
    const made = built(names("26.09.001"));
    const { stdout } = await made.succeed("ingest", "--suggest", "out");
    expect(stdout.split("\n").slice(-2)).toEqual([
      '# - { match: "agent_*+ubuntu22.04_amd64.deb", package_type: deb, max_os_version: … }',
      '# - { match: "agent_*+ubuntu24.04_amd64.deb", package_type: deb, max_os_version: … }',
    ]);
    const same = built(["agent_1.0.1_amd64.deb", "agent_1.0.2_amd64.deb"]);
    expect((await same.succeed("ingest", "--suggest", "out")).stdout).toContain('"agent_1.0.1_amd64.deb"');
  });

  test("names the package types that the project has before new ones, its own first", async () => {
    const own =
      "package_types:\n  tarball: { operating_system: linux, platform: 17, kind: client, description: Tool }\n";
    const made = built(["a-linux.tar.gz", "a.bin"], `${config}${own}`);
    const lines = (await made.succeed("ingest", "--suggest", "out")).stdout.split("\n");
    expect(lines[0]).toBe(
      "# If one of these types fits, use it instead of a new one: xz (Linux package archive), tarball (Tool)",
    );
    expect(lines[1]).toMatch(/^package_types:/);
    expect(lines.find((line) => line.startsWith("# Package types: "))).toMatch(
      /^# Package types: tarball, helm, /,
    );
  });

  test("asks whether a .vhd is for Azure or Hyper-V, as ingest does", async () => {
    const made = built(["harbor.vhd", "harbor.vhd.xz"]);
    const { exitCode, stderr } = await made.run(...ingest);
    expect([exitCode, stderr.split("\n")[0]]).toEqual([
      1,
      'out/harbor.vhd error[artifact-unmatched] nothing says what "harbor.vhd" is: azure and hyperv have the same format',
    ]);
    const { stdout } = await made.succeed("ingest", "--suggest", "out");
    expect(stdout.split("\n").slice(2)).toEqual([
      "# ingest:",
      "# Keep one of these two lines:",
      '# - { match: "*.vhd", package_type: azure }',
      '# - { match: "*.vhd", package_type: hyperv }',
      "# Keep one of these two lines:",
      '# - { match: "*.vhd.xz", package_type: azure }',
      '# - { match: "*.vhd.xz", package_type: hyperv }',
    ]);
    const { document } = await made.json(...ingest, "--set", "package_type=hyperv");
    expect(document.artifacts).toMatchObject([{ package_type: "hyperv" }, { package_type: "hyperv" }]);
  });

  test("knows no ending that only names a member of every object", async () => {
    const made = built(["harbor.valueOf"]);
    const { stdout } = await made.succeed("ingest", "--suggest", "out");
    expect(stdout).toContain('# - { match: "*.valueOf", package_type: … }');
    expect((await made.run(...ingest)).exitCode).toBe(1);
  });

  test("never guesses OS versions", async () => {
    const made = built(["a_2004_amd64.deb", "a_2204_amd64.deb"]);
    const { stdout } = await made.succeed("ingest", "--suggest", "out");
    expect(stdout).toContain("relcat does not guess OS versions");
    expect(stdout).not.toMatch(/20\.04|22\.04/);
    expect(stdout.split("\n").filter((line) => !line.startsWith("#"))).toEqual([]);
  });
});

test("checksums, signatures and lists of components are left out with a reason, unless a rule names them", async () => {
  const side = ["a.rpm.asc", "a.rpm.sha512", "a.rpm.sig", "a.sbom.json", "a.spdx.json", "SHA512SUMS"];
  const made = built(["a.rpm", ...side]);
  const { stdout, stderr } = await made.succeed(...ingest);
  expect(stdout).toContain("with 1 artifact\n");
  expect(stderr).toContain(
    "Not artifacts: SHA512SUMS (a checksum file), a.rpm.asc (a signature), a.rpm.sha512 (a checksum file), a.rpm.sig (a signature), a.sbom.json (a list of components), a.spdx.json (a list of components).",
  );
  const rules = `${config}ingest:\n  - { match: "*.sbom.json", package_type: xz }\n`;
  expect(await ingested(built(["a.rpm", "a.sbom.json"], rules))).toEqual({
    "a.rpm": "rpm",
    "a.sbom.json": "xz",
  });
});

import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { beforeAll, describe, expect, test } from "vitest";
import { copyProject, relcat, temporaryFolder } from "../../support/run.ts";
import { attributeOf, type Element, elementsOf, sectionOf, wordsOf } from "./factory.ts";

const base = "https://downloads.example.com";
const files = `${base}/files/26.09.001`;

let dist: string;
let page: string;

beforeAll(async () => {
  const folder = copyProject(".");
  const config = join(folder, "releases/catalog.yaml");
  writeFileSync(config, readFileSync(config, "utf8").replace("helm: {}", "helm: { oci: true }"));
  const { exitCode, stderr } = await relcat(folder, ["build"]);
  expect(exitCode, stderr).toBe(0);
  dist = join(folder, "dist");
  page = readFileSync(join(dist, "releases/26.09.001/index.html"), "utf8");
});

const copyable = (within: string | Element): string[] => {
  const html = typeof within === "string" ? within : "";
  const all = typeof within === "string" ? elementsOf(html, "code") : codesIn(within);
  return all
    .filter((element) => / lines$|^lines |^sudo /.test(attributeOf(element, "data-copy") ?? ""))
    .map(wordsOf);
};

const codesIn = (element: Element): Element[] =>
  element.childNodes.flatMap((node) =>
    "tagName" in node ? [...(node.tagName === "code" ? [node] : []), ...codesIn(node)] : [],
  );

/** The lines of the artifact with that file name on the release's page. */
function linesOf(file: string): string[] {
  const document = JSON.parse(readFileSync(join(dist, "api/v1/release/26.09.001/index.json"), "utf8"));
  const [id] =
    Object.entries<{ file: string }>(document.artifacts).find(([, each]) => each.file === file) ?? [];
  return copyable(sectionOf(page, `p${id}`));
}

describe("a release's page has the lines that install", () => {
  test("a deb from its suite", () => {
    expect(linesOf("northgate-client-core_26.09.001_2204_amd64.deb")).toEqual([
      `sudo curl -fsSL ${base}/northgate-controller-jammy.sources -o /etc/apt/sources.list.d/northgate-controller-jammy.sources\n` +
        "sudo apt-get update && sudo apt-get install 'northgate-client-core=26.09.001~2204'",
    ]);
  });

  test("an rpm from its repository", () => {
    expect(linesOf("northgate-client-gui-26.09.001-1.x86_64.rpm")).toEqual([
      `sudo curl -fsSL ${base}/northgate-controller-stable.repo -o /etc/yum.repos.d/northgate-controller-stable.repo\n` +
        "sudo dnf install northgate-client-gui-26.09.001-1.x86_64",
    ]);
  });

  test("a chart from the index and from the OCI registry", () => {
    expect(linesOf("northgate-controller-chart-26.09.001.tgz")).toEqual([
      `helm repo add northgate-controller ${base}/charts\n` +
        "helm install northgate-controller northgate-controller/northgate-controller --version 26.9.1",
      "helm pull oci://downloads.example.com/charts/northgate-controller --version 26.9.1",
    ]);
  });

  test("an image from the image server", () => {
    expect(linesOf("northgate-controller-incus-26.09.001.tar.xz")).toEqual([
      `incus remote add northgate-controller ${base} --protocol simplestreams\n` +
        "incus launch northgate-controller:26.09.001/incus/amd64 northgate-controller-26-09-001",
    ]);
    const { products } = JSON.parse(readFileSync(join(dist, "streams/v1/images.json"), "utf8"));
    const aliases = Object.values<{ aliases: string }>(products).flatMap((each) => each.aliases.split(","));
    expect(aliases).toContain("26.09.001/incus");
  });
});

const name = "northgate-controller-26-09-001";

test.each([
  ["proxmox", "northgate-controller-proxmox-26.09.001.vma.zst", [["qmrestore", "FILE", "100"]]],
  [
    "xen",
    "northgate-controller-xen-26.09.001.xva.gz",
    [
      ["gunzip", "FILE"],
      ["xe", "vm-import", "filename=DISK"],
    ],
  ],
  ["esxi", "northgate-controller-esxi-26.09.001.ova", [["ovftool", `--name=${name}`, "FILE", "vi://HOST/"]]],
  [
    "amazon",
    "northgate-controller-amazon-26.09.001.vhd.gz",
    [
      ["gunzip", "FILE"],
      ["aws", "s3", "cp", "DISK", `s3://BUCKET/${name}`],
      [
        ...["aws", "ec2", "import-image", "--description", name],
        ...["--disk-containers", `Format=VHD,Url=s3://BUCKET/${name}`],
      ],
    ],
  ],
  [
    "gce-efi",
    "northgate-controller-gce-efi-26.09.001.raw.tar.gz",
    [
      ["gcloud", "storage", "cp", "FILE", `gs://BUCKET/${name}.tar.gz`],
      [
        ...["gcloud", "compute", "images", "create", name, "--source-uri", `gs://BUCKET/${name}.tar.gz`],
        ...["--guest-os-features", "UEFI_COMPATIBLE"],
      ],
    ],
  ],
])("the lines of a %s image download it, compare it and import it", async (_, file, commands) => {
  const [lines = ""] = linesOf(file);
  const disk = file.replace(/\.gz$/, "");
  const expected = commands.map((command) =>
    command.map((word) => word.replace("FILE", file).replace("DISK", disk)),
  );
  expect(await ran(lines)).toEqual([
    ["curl", "-fLo", file, `${files}/${file}`],
    ["sha256sum", "-c"],
    ...expected,
  ]);
  const sums = readFileSync(join(dist, "releases/26.09.001/SHA256SUMS"), "utf8");
  const [sum] = /echo '(.*)'/.exec(lines)?.slice(1) ?? [];
  expect(sums.split("\n")).toContain(sum);
});

test("an image with an unpacked disk for Hyper-V has lines for PowerShell", () => {
  const [lines = ""] = linesOf("northgate-controller-hyperv-26.09.001.vhdx.gz");
  expect(lines).toContain(`-Uri '${files}/northgate-controller-hyperv-26.09.001.vhdx.gz'`);
  expect(lines.split("\n").at(-1)).toBe(
    `New-VM -Name ${name} -Generation 2 -MemoryStartupBytes 4GB -VHDPath (Resolve-Path 'northgate-controller-hyperv-26.09.001.vhdx')`,
  );
});

test("home, platform pages and the page of feeds have one block a repository, without the lines that import", () => {
  const source = (suite: string) =>
    `sudo curl -fsSL ${base}/northgate-controller-${suite}.sources -o /etc/apt/sources.list.d/northgate-controller-${suite}.sources`;
  const install = (name: string) => `sudo apt-get update && sudo apt-get install northgate-client-${name}`;
  const apt = ["focal", "jammy"].flatMap((suite) => [`${source(suite)}\n${install("core")}`, install("gui")]);
  const repo = "northgate-controller-stable.repo";
  const yum = [
    `sudo curl -fsSL ${base}/${repo} -o /etc/yum.repos.d/${repo}\nsudo dnf install northgate-client-core`,
    "sudo dnf install northgate-client-gui",
    `sudo zypper addrepo ${base}/${repo}\nsudo zypper install northgate-client-core`,
    "sudo zypper install northgate-client-gui",
  ];
  const others = [
    ...linesOf("northgate-controller-chart-26.09.001.tgz"),
    ...linesOf("northgate-controller-incus-26.09.001.tar.xz"),
  ];
  const linesIn = (path: string) => copyable(readFileSync(join(dist, path), "utf8"));
  expect(linesIn("index.html")).toEqual([...apt, ...yum, ...others]);
  expect(linesIn("feeds/index.html")).toEqual([...apt, ...yum, ...others]);
  expect(linesIn("platforms/Debian-and-Ubuntu/index.html")).toEqual(apt);
  expect(linesOf("northgate-controller-proxmox-26.09.001.vma.zst")).toHaveLength(1);
  expect(copyable(readFileSync(join(dist, "platforms/Proxmox/index.html"), "utf8"))).toEqual([]);
});

test("a record that no feed lists and no platform imports has no lines", () => {
  expect(linesOf("northgate-client-26.09.001.pkg")).toEqual([]);
});

/** Runs lines with programs that only note their arguments. */
async function ran(lines: string): Promise<string[][]> {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "bin"));
  for (const program of ["curl", "sha256sum", "gunzip", "aws", "gcloud", "ovftool", "qmrestore", "xe"]) {
    const path = join(folder, "bin", program);
    writeFileSync(path, `#!/bin/sh\nprintf '%s\\0' ${program} "$@" >>"$CALLS"\nprintf '\\n' >>"$CALLS"\n`);
    chmodSync(path, 0o755);
  }
  const calls = join(folder, "calls");
  await execa("sh", ["-ec", lines], {
    cwd: folder,
    env: { PATH: `${join(folder, "bin")}:/usr/bin:/bin`, CALLS: calls },
  });
  return readFileSync(calls, "utf8")
    .trimEnd()
    .split("\n")
    .map((call) => call.split("\0").slice(0, -1));
}

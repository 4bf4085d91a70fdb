import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { project, release } from "../../support/project.ts";

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
  "harbor.vhd": "azure",
  "harbor-aws.vhd": "amazon",
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

test("a project's rule overrides the usual meaning of an ending", async () => {
  const rules = `${config}ingest:\n  - { match: "*.vhd", package_type: hyperv }\n`;
  expect(await ingested(built(["a.vhd", "a.rpm"], rules))).toEqual({ "a.vhd": "hyperv", "a.rpm": "rpm" });
});

test("ignore: leaves files out and reports them", async () => {
  const made = built(["a.rpm", "build.log", "a.spdx.json"], `${config}ignore: ["*.log", "*.spdx.json"]\n`);
  const { stdout, stderr } = await made.succeed(...ingest);
  expect(stdout).toContain("with 1 artifact\n  rpm  a.rpm");
  expect(stderr).toContain(
    "Left out: a.spdx.json (ignore: in catalog.yaml), build.log (ignore: in catalog.yaml).",
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
    const start = lines.indexOf("ingest:");
    const rules = lines.slice(start, start + 3);
    expect(rules).toEqual([
      "ingest:",
      '  - { match: "*.flatpak", package_type: … }',
      '  - { match: "*.bin", package_type: … }',
    ]);
    const catalog = join(made.folder, "releases/catalog.yaml");
    appendFileSync(catalog, `${rules.join("\n").replaceAll("…", "xz")}\n`);
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

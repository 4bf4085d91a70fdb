import { existsSync, globSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import { offeredFiles, runExample } from "../support/examples.ts";
import { repository } from "../support/run.ts";

const folder = join(repository, "examples");
const examples = ["goreleaser", "linux-agent", "nix"];

test("the Nix example is built, signed, published and verified by its README", {
  tags: ["long"],
}, async () => {
  const example = await runExample("nix");
  expect(offeredFiles(example)).toEqual([
    "gce amd64 appliance-gce-26.11.001.tar.gz",
    "qcow-efi amd64 appliance-qcow-efi-26.11.001.qcow2",
  ]);
  expect(example.stdout).toMatch(/^Verified site: 1 release, 2 packages, \d+ files are what was signed\.$/m);
  const records = JSON.parse(example.live("api/v1/package.json"));
  const [disk] = records.filter(({ package_type }: { package_type: string }) => package_type === "qcow-efi");
  expect(disk.data.store.path).toMatch(/^\/nix\/store\/[0-9a-z]{32}-appliance-qcow-efi$/);
  expect(disk.data.vendor).toMatchObject({
    rev: "ea9d15af6eabdcec745e0c929c8b6e0a87999ba6",
    image: { drv: expect.stringMatching(/^\/nix\/store\/[0-9a-z]{32}-appliance-qcow-efi\.drv$/) },
  });
});

test("each example has a README whose links and files exist, a catalog and an open release", () => {
  expect(readdirSync(folder).sort()).toEqual(examples);
  for (const name of examples) {
    const readme = readFileSync(join(folder, name, "README.md"), "utf8");
    for (const [, link = ""] of readme.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g))
      expect(existsSync(join(folder, name, link)), `${name}: ${link}`).toBe(true);
    const [table = ""] = /(?:^\|.*\n)+/m.exec(readme) ?? [];
    const named = [...table.matchAll(/^\| (.+?) \|/gm)].flatMap(([, cell = ""]) =>
      [...cell.matchAll(/`([^`]+)`/g)].map(([, path = ""]) => path),
    );
    expect(named).toEqual(expect.arrayContaining(["releases/catalog.yaml", "releases/26.11.001/"]));
    for (const path of named) expect(existsSync(join(folder, name, path)), `${name}: ${path}`).toBe(true);
    expect(existsSync(join(folder, name, "releases/next/notes/.gitkeep"))).toBe(true);
  }
});

test("the examples are small texts, and their shell scripts are valid", async () => {
  const files = globSync("**/*", { cwd: folder }).filter((file) => statSync(join(folder, file)).isFile());
  for (const file of files) expect(statSync(join(folder, file)).size, file).toBeLessThan(4096);
  const scripts = files.filter((file) => file.endsWith(".sh"));
  expect(scripts.map((file) => dirname(file)).sort()).toEqual(examples);
  for (const script of scripts) await execa("sh", ["-n", join(folder, script)]);
});

import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { relcat, repository, temporaryFolder } from "../../support/run.ts";
import { fixtures, image, revision, selfCheck } from "./ingesting.ts";

const fixture = (path: string) => join(repository, fixtures, path);

/** A build repository with a strict configuration and the output of two jobs. */
function buildFolder(): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "releases/26.08.002"), { recursive: true });
  mkdirSync(join(folder, "dist"));
  writeFileSync(join(folder, "releases/26.08.002/release.yaml"), "version: 26.08.002\ndate: 2026-08-19\n");
  copyFileSync(fixture("catalog.yaml"), join(folder, "releases/catalog.yaml"));
  for (const variant of ["2004_core", "2004_gui", "2204_core", "2204_gui"]) {
    copyFileSync(
      fixture(`plain/client_${variant}_amd64.deb`),
      join(folder, `dist/client_${variant}_amd64.deb`),
    );
  }
  copyFileSync(fixture("plain/client-x86_64.rpm"), join(folder, "chart-26.8.2.tgz"));
  const hash = `attestation: { cryptolib_post: { expected_hash: ${selfCheck} } }\n`;
  writeFileSync(join(folder, "controller-qcow-efi.qcow2.gz.relcat.yaml"), hash);
  copyFileSync(fixture(image.file), join(folder, "controller-qcow-efi.qcow2.gz"));
  return folder;
}

test("debs for two OS ranges, core and graphical, a chart, and an image pass every check unedited", async () => {
  const folder = buildFolder();
  const run = async (...args: string[]) => {
    const { exitCode, stderr, stdout } = await relcat(folder, args);
    expect(exitCode, `${args.join(" ")}\n${stdout}\n${stderr}`).toBe(0);
    return stdout;
  };
  const release = ["--release", "26.08.002"];
  await run("ingest", ...release, "--job", "clients", "dist", "chart-26.8.2.tgz");
  const nix = ["nix-build/array.json", "nix-path-info/version-3.json", "nix-derivation/wrapped-4.json"].map(
    fixture,
  );
  await run("ingest", ...release, "--job", "kvm", "--rev", revision, ...nix, "controller-qcow-efi.qcow2.gz");

  expect(await run("check")).toBe("no problems in 1 release, 6 artifacts, 0 notes for the next release");
  await run("cut", "26.08.002", "--now", "2026-08-19T10:00:00Z");
  await run("build", "--released", "--out", "site");
  const records = JSON.parse(readFileSync(join(folder, "site/api/v1/package/index.json"), "utf8"));
  expect(records.map(rowOf)).toEqual([
    ["qcow-efi", null, null, false, false],
    ["helm", null, null, false, false],
    ["deb", "22.04", null, false, true],
    ["deb", null, "20.04", false, true],
    ["deb", "22.04", null, true, false],
    ["deb", null, "20.04", true, false],
  ]);
  expect(records[0].data).toEqual({
    store: { path: image.path, size: image.size },
    vendor: { rev: revision, image: { drv: image.drv, derivation: image.derivation } },
    attestation: { cryptolib_post: { expected_hash: selfCheck } },
  });
  expect(records[2].data).toEqual({ attestation: { sha256: records[2].checksum } });
});

const rowOf = ({
  package_type,
  min_os_version,
  max_os_version,
  gui_only,
  headless,
}: Record<string, unknown>) => [package_type, min_os_version, max_os_version, gui_only, headless];

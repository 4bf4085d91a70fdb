import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../support/run.ts";
import { file, image, ingest, ingestImage, problemsOf, revision } from "./ingesting.ts";

const artifacts = [
  ["deb", "client_core_26.08.002_amd64.deb", 33],
  ["rpm", "client-26.08.002.x86_64.rpm", 39],
];

test.each([
  ["the folder", ["goreleaser/output"]],
  ["artifacts.json", ["goreleaser/output/artifacts.json"]],
  [
    "artifacts.json and metadata.json",
    ["goreleaser/output/metadata.json", "goreleaser/output/artifacts.json"],
  ],
])("%s: packages are measured, and by-products left out", async (_, inputs) => {
  const { manifest, leftOut } = await ingest(inputs, { revision: undefined });
  expect(manifest.artifacts.map(({ package_type, name, size }) => [package_type, name, size])).toEqual(
    artifacts,
  );
  expect(manifest.artifacts.every(({ attestation, sha256 }) => attestation?.sha256 === sha256)).toBe(true);
  expect(manifest.artifacts.some(({ vendor }) => vendor)).toBe(false);
  expect(leftOut).toEqual([
    "checksums.txt (Checksum)",
    "client (Binary)",
    "ghcr.io/example/client:26.8.2 (Published Docker Image)",
  ]);
});

test("a folder whose artifacts are all by-products is not read file by file", async () => {
  const dist = join(temporaryFolder(), "dist");
  mkdirSync(dist);
  writeFileSync(
    join(dist, "artifacts.json"),
    '[{ "name": "tool", "path": "dist/tool_linux_amd64_v1/tool", "type": "Binary" }]',
  );
  writeFileSync(join(dist, "config.yaml"), "project_name: tool\n");
  expect(await problemsOf([dist])).toMatchInlineSnapshot(`
    [
      "input-empty: no input names a file for download; left out: tool (Binary)
    → Give the files, an output folder, or a checksum file with --sums.",
    ]
  `);
});

test("another document that is called artifacts.json hides no file of its folder", async () => {
  const folder = temporaryFolder();
  cpSync(file("nix-path-info/map.json"), join(folder, "artifacts.json"));
  writeFileSync(join(folder, "tool.tar.xz"), "xz");
  const { manifest } = await ingest([folder]);
  expect(manifest.artifacts.map(({ name }) => name)).toEqual(["tool.tar.xz"]);
});

test("a binary that is released without an archive is an artifact with the name of its download", async () => {
  const folder = temporaryFolder();
  const path = "dist/tool_linux_amd64_v1/tool";
  mkdirSync(join(folder, dirname(path)), { recursive: true });
  writeFileSync(join(folder, path), "\x7fELF");
  const built = { name: "tool", path, type: "Binary", extra: { Binary: "tool", Ext: "", ID: "tool" } };
  const released = {
    ...built,
    name: "tool_26.08.002_linux_amd64",
    extra: { Format: "binary", Binary: "tool" },
  };
  writeFileSync(join(folder, "dist/artifacts.json"), JSON.stringify([built, released]));
  const config = join(folder, "catalog.yaml");
  writeFileSync(config, 'ingest: [{ match: "tool_*_linux_amd64", package_type: xz }]\n');
  const { manifest, leftOut } = await ingest([join(folder, "dist")], { config });
  expect(manifest.artifacts).toMatchObject([{ name: released.name, package_type: "xz", size: 4 }]);
  expect(leftOut).toEqual(["tool (Binary)"]);
});

test("metadata.json states the revision of images of the same job", async () => {
  const inputs = ["goreleaser/output/metadata.json", "nix-build/array.json", image.file];
  const { manifest } = await ingestImage(inputs, { revision: undefined });
  expect(manifest.artifacts[0]?.vendor?.rev).toBe(revision);
});

test("a package that changed after GoReleaser measured it is refused before it is read", async () => {
  expect(await problemsOf(["goreleaser/stale"])).toMatchInlineSnapshot(`
    [
      "goreleaser/stale/artifacts.json:2:3 ingest-conflict: the size of client_core_26.08.002_amd64.deb is 33 here, but 49 in goreleaser/stale/client_core_26.08.002_amd64.deb
    → Either the file changed after it was described, or two files have one name: ingest those apart, one with --set file=….",
    ]
  `);
});

test("the format gives the package type without a rule, and two debs for one machine still need their OS range", async () => {
  const config = file("empty.yaml");
  const { manifest } = await ingest(["goreleaser/output"], { config });
  expect(manifest.artifacts).toContainEqual(
    expect.objectContaining({ name: "client_core_26.08.002_amd64.deb", package_type: "deb" }),
  );
  const debs = ["plain/client_2204_core_amd64.deb", "plain/client_2004_core_amd64.deb"];
  expect(await problemsOf(debs, { config })).toEqual(
    debs
      .toSorted()
      .map(
        (deb) =>
          `${deb}:1:1 deb-os-range: a deb has neither min_os_version nor max_os_version, and another one is of the same release, variant and architecture\n` +
          "→ Let rules in ingest: of catalog.yaml say by the file names which systems they are for: max_os_version on the build for the older, min_os_version on the one for the newer.",
      ),
  );
});

import { expect, test } from "vitest";
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
])("%s: packages are measured, by-products left out", async (_, inputs) => {
  const { manifest, leftOut } = await ingest(inputs, { revision: undefined });
  expect(manifest.artifacts.map(({ package_type, name, size }) => [package_type, name, size])).toEqual(
    artifacts,
  );
  expect(manifest.artifacts.every(({ attestation, sha256 }) => attestation?.sha256 === sha256)).toBe(true);
  expect(manifest.artifacts.some(({ vendor }) => vendor)).toBe(false);
  expect(leftOut).toEqual(["checksums.txt (Checksum)", "client (Binary)"]);
});

test("metadata.json states the revision that images of the same job were built from", async () => {
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

test("without a rule the format says the package type, and a deb still needs its OS range", async () => {
  expect(await problemsOf(["goreleaser/output"], { config: file("empty.yaml") })).toMatchInlineSnapshot(`
    [
      "goreleaser/output/artifacts.json:37:3 deb-os-range: client_core_26.08.002_amd64.deb: a deb has neither min_os_version nor max_os_version, expected exactly one
    → Let a rule in ingest: of catalog.yaml say it by the file name, or give --set min_os_version=22.04 (the newer OS) or --set max_os_version=20.04 (the older).",
    ]
  `);
});

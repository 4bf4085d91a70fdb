import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../support/run.ts";
import {
  artifactOf,
  file as fixture,
  image,
  ingestImage,
  problemsOf,
  revision,
  selfCheck,
} from "./ingesting.ts";

const { file, path, size, drv, derivation } = image;
const attestation = { cryptolib_post: { expected_hash: selfCheck } };

test("build, path-info and derivation give store, vendor, recipe and derivation", async () => {
  const inputs = ["nix-build/array.json", "nix-path-info/map.json", "nix-derivation/full-path.json", file];
  expect(await artifactOf(inputs)).toEqual({
    name: "controller-qcow-efi.qcow2.gz",
    package_type: "qcow-efi",
    description: "Controller image, UEFI",
    sha256: "bfc1f3bca246441cc75e2e0fd54d8199e363b23b58432eb4afefe7461ac4e65b",
    size: 47,
    store: { path, size },
    vendor: { rev: revision, image: { drv, derivation } },
    attestation,
  });
});

test.each(["array", "with-stats"])("nix build --json, %s, gives recipe and output", async (variant) => {
  const { store, vendor } = await artifactOf([`nix-build/${variant}.json`, file]);
  expect({ store, vendor }).toEqual({
    store: { path },
    vendor: { rev: revision, image: { drv, derivation } },
  });
});

test.each(["bare-strings", "opaque-objects"])(
  "nix build --json, %s, gives an output without a recipe",
  async (variant) => {
    const { store, vendor } = await artifactOf([`nix-build/${variant}.json`, file]);
    expect({ store, vendor }).toEqual({ store: { path }, vendor: { rev: revision, image: { derivation } } });
  },
);

test("nix build --json without outputs is refused", async () => {
  expect(await problemsOf(["nix-build/null-outputs.json", file])).toMatchInlineSnapshot(`
    [
      "nix-build/null-outputs.json:2:3 build-failed: /nix/store/g9x36nk71c2vac1zw6zxc1zj9rxp0p0g-controller-qcow-efi.drv has no outputs
    → nix build --dry-run builds nothing; run it without --dry-run.",
    ]
  `);
});

test("a malformed build has a location", async () => {
  expect(await problemsOf(["nix-build/malformed.json", file])).toMatchInlineSnapshot(`
    [
      "nix-build/malformed.json:5:14 path-format: [0].outputs.out is "result", expected a store path such as /nix/store/<32 characters>-<name>",
    ]
  `);
});

test.each(["list", "list-without-valid", "map", "version-1", "version-2", "version-3", "binary-cache"])(
  "nix path-info --json, %s, has the store's size in narSize, and not the download's",
  async (variant) => {
    const artifact = await artifactOf([`nix-path-info/${variant}.json`, file]);
    expect(artifact).toMatchObject({
      size: 47,
      store: { path, size },
      vendor: { image: { drv, derivation } },
    });
    expect(JSON.stringify(artifact)).not.toMatch(/registration|ultimate|1787140611|1801000000/i);
  },
);

test.each([
  ["list-invalid", "17:3", "/nix/store/ij1vkjxsia6fbxhvyxgqwy5pfibb7is2-controller-qcow"],
  ["list-only-path", "17:3", "/nix/store/ij1vkjxsia6fbxhvyxgqwy5pfibb7is2-controller-qcow"],
  ["map-null", "16:66", "/nix/store/ij1vkjxsia6fbxhvyxgqwy5pfibb7is2-controller-qcow"],
  ["version-2-null", "5:61", path],
])("nix path-info --json, %s, refuses a path that is not in it", async (variant, place, missing) => {
  const message = `${missing} is not in the store that was asked`;
  expect(await problemsOf([`nix-path-info/${variant}.json`, file])).toEqual([
    `nix-path-info/${variant}.json:${place} store-path-invalid: ${message}\n→ Build it, or copy it there, and ask again.`,
  ]);
});

test("a malformed path-info has a location", async () => {
  expect(await problemsOf(["nix-path-info/malformed.json", file])).toMatchInlineSnapshot(`
    [
      "nix-path-info/malformed.json:6:16 size-range: "/nix/store/asxd5d93x5rxmj6c9w970l1k36dj2rqq-controller-qcow-efi".narSize is "4371958628", expected a whole number of bytes",
    ]
  `);
});

test.each(["full-path", "basename", "wrapped-4"])(
  "nix derivation show, %s, gives the recipe of an output",
  async (variant) => {
    const artifact = await artifactOf([
      `nix-derivation/${variant}.json`,
      "nix-build/bare-strings.json",
      file,
    ]);
    expect(artifact.vendor?.image).toEqual({ drv, derivation });
  },
);

test("nix derivation show of a content-addressed output gives no path", async () => {
  const artifact = await artifactOf([
    "nix-derivation/content-addressed.json",
    "nix-build/bare-strings.json",
    file,
  ]);
  expect(artifact.vendor?.image).toEqual({ derivation });
});

test.each(["unsigned", "unknown-deriver"])("a narinfo, %s, is read as path-info", async (variant) => {
  const artifact = await artifactOf([`narinfo/${variant}.narinfo`, "nix-path-info/map.json", file]);
  expect(artifact.store).toEqual({ path, size });
});

test("a malformed narinfo has a location", async () => {
  expect(await problemsOf(["narinfo/malformed.narinfo", file])).toMatchInlineSnapshot(`
    [
      "narinfo/malformed.narinfo:7:1 wrong-type: NarSize is "large", expected a whole number of bytes
    → Fetch it again from the binary cache.",
    ]
  `);
});

test("contradicting inputs are refused, with both places", async () => {
  expect(
    await problemsOf(["nix-path-info/map.json", "nix-path-info/other-size.json", file]),
  ).toMatchInlineSnapshot(`
    [
      "nix-path-info/other-size.json:2:70 ingest-conflict: narSize of asxd5d93x5rxmj6c9w970l1k36dj2rqq-controller-qcow-efi is 1 here, but 4371958628 in nix-path-info/map.json:2
    → The inputs of one run must come from one build.",
    ]
  `);
  expect(
    await problemsOf(["nix-build/array.json", "nix-derivation/other.json", file]),
  ).toMatchInlineSnapshot(`
    [
      "nix-derivation/other.json:2:70 ingest-conflict: the derivation of asxd5d93x5rxmj6c9w970l1k36dj2rqq-controller-qcow-efi is pb66a6lfgd0db6vjqmd07k81rmprxhx5-controller-qcow.drv here, but g9x36nk71c2vac1zw6zxc1zj9rxp0p0g-controller-qcow-efi.drv in nix-build/array.json:2
    → The inputs of one run must come from one build.",
    ]
  `);
});

test("a file outside the store is ambiguous among several builds", async () => {
  expect(await problemsOf(["nix-build/several.json", file])).toMatchInlineSnapshot(`
    [
      "images/controller-qcow-efi.qcow2.gz:1:1 store-ambiguous: controller-qcow-efi.qcow2.gz may be of any of 2 store paths: /nix/store/asxd5d93x5rxmj6c9w970l1k36dj2rqq-controller-qcow-efi, /nix/store/ij1vkjxsia6fbxhvyxgqwy5pfibb7is2-controller-qcow
    → Give it by its path in the store, ingest each build by itself, or write store: { path: … } into controller-qcow-efi.qcow2.gz.relcat.yaml.",
    ]
  `);
});

test("a sidecar or a store path assigns a file to its build", async () => {
  const { manifest } = await ingestImage(["nix-build/several.json", file], {
    settings: [`store.path=${path}`, `attestation.cryptolib_post.expected_hash=${selfCheck}`],
  });
  expect(manifest.artifacts[0]?.vendor?.image).toEqual({ drv, derivation });
});

test("a build without any of its files is an error", async () => {
  const folder = `hydra-products/nix/store/${path.slice("/nix/store/".length)}`;
  expect(await problemsOf(["nix-build/several.json", folder])).toMatchInlineSnapshot(`
    [
      "nix-build/several.json:8:3 build-unused: no file for download is known of /nix/store/ij1vkjxsia6fbxhvyxgqwy5pfibb7is2-controller-qcow
    → Give its output folder or file too, or leave this build out of the inputs.",
    ]
  `);
});

/** An output that contains links to other store paths, one of which is a file and has another name. */
function folderOfLinks() {
  const store = join(temporaryFolder(), "nix/store");
  const output = join(store, basename(path));
  mkdirSync(output, { recursive: true });
  const disks = [
    ["controller-qcow.qcow2.gz", "g9x36nk71c2vac1zw6zxc1zj9rxp0p0g-disk.qcow2.gz"],
    ["controller-qcow-efi.qcow2.gz", "1z0k8yb2xkxdr1ic5xyi0v1g1bi8hkzv-disk.qcow2.gz"],
  ] as const;
  for (const [name, target] of disks) {
    cpSync(fixture(`images/${name}`), join(store, target));
    symlinkSync(`../${target}`, join(output, name));
  }
  const expected = disks.map(([name, target]) => [name, `/nix/store/${target}`]);
  return { output, expected };
}

test.each(["the folder", "its files", "a link to the folder"])(
  "links in an output have names of their own and the store paths of their files, and the build is used: %s",
  async (way) => {
    const { output, expected } = folderOfLinks();
    const link = join(temporaryFolder(), "result");
    symlinkSync(output, link);
    const given = { "the folder": [output], "a link to the folder": [link] }[way];
    const files = expected.map(([name = ""]) => join(link, name));
    const { manifest } = await ingestImage(["nix-build/array.json", ...(given ?? files)]);
    expect(manifest.artifacts.map(({ name, store }) => [name, store?.path])).toEqual(expected);
  },
);

test("recipes of a closure may have one output, such as a source that two of them fetch", async () => {
  const closure = join(temporaryFolder(), "closure.json");
  const fetched = { outputs: { out: { path: "/nix/store/ij1vkjxsia6fbxhvyxgqwy5pfibb7is2-source.tar.gz" } } };
  const recipes = ["1z0k8yb2xkxdr1ic5xyi0v1g1bi8hkzv", "pb66a6lfgd0db6vjqmd07k81rmprxhx5"].map((hash) => [
    `/nix/store/${hash}-source.tar.gz.drv`,
    fetched,
  ]);
  writeFileSync(closure, JSON.stringify(Object.fromEntries(recipes)));
  const artifact = await artifactOf([closure, "nix-build/array.json", file]);
  expect(artifact.vendor?.image).toEqual({ drv, derivation });
});

test("the revision comes from the metadata of a flake", async () => {
  const artifact = await artifactOf(["nix-flake/clean.json", "nix-build/array.json", file], {
    revision: undefined,
  });
  expect(artifact.vendor?.rev).toBe(revision);
  expect(
    await problemsOf(["nix-flake/dirty.json", "nix-build/array.json", file], { revision: undefined }),
  ).toMatchInlineSnapshot(`
    [
      "nix-flake/dirty.json:2:20 revision-missing: the flake had changes that were not committed (ea9d15af6eabdcec745e0c929c8b6e0a87999ba6-dirty)
    → Commit them and build again.",
    ]
  `);
  expect(
    await problemsOf(["nix-flake/clean.json", "nix-build/array.json", file], { revision: "0".repeat(40) }),
  ).toMatchInlineSnapshot(`
    [
      "nix-flake/clean.json:24:15 ingest-conflict: the revision is ea9d15af6eabdcec745e0c929c8b6e0a87999ba6 here, but 0000000000000000000000000000000000000000 in --rev
    → Give only inputs that belong together.",
    ]
  `);
});

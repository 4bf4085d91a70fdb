import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../support/run.ts";
import { artifactOf, file, image, ingestImage, problemsOf, revision } from "./ingesting.ts";

const { path, drv, derivation, size } = image;
const inStore = `hydra-products/nix/store/${basename(path)}`;

test("an output folder in a store has its products and its store path", async () => {
  const { name, package_type, store, vendor } = await artifactOf([inStore]);
  expect({ name, package_type, store, vendor }).toEqual({
    name: "controller-qcow-efi.qcow2.gz",
    package_type: "qcow-efi",
    store: { path },
    vendor: { rev: revision, image: { derivation } },
  });
});

test("path-info and derivation add fields that the folder lacks", async () => {
  const artifact = await artifactOf([
    inStore,
    "nix-path-info/version-2.json",
    "nix-derivation/wrapped-4.json",
  ]);
  expect(artifact).toMatchObject({ store: { path, size }, vendor: { image: { drv, derivation } } });
});

test("several products have quotes and a default, and documents are left out", async () => {
  const { manifest, leftOut } = await ingestImage(["hydra-products/several"]);
  expect(
    manifest.artifacts.map(({ name, package_type, store }) => [name, package_type, store?.path]),
  ).toEqual([
    ["vzdump-qemu-controller 26.08.002.vma.zst", "proxmox", path],
    ["controller-qcow-efi.qcow2.gz", "qcow-efi", path],
  ]);
  expect(leftOut).toEqual([
    "coverage report (a product of type report coverage)",
    "doc (a product of type doc manual)",
  ]);
});

/** A product outside its build's output: a store path that is a file. */
const elsewhere = "/nix/store/1z0k8yb2xkxdr1ic5xyi0v1g1bi8hkzv-controller.qcow2.gz";

test("a product in another store path has its own name and store path, in JSON and in a list", async () => {
  const store = join(temporaryFolder(), "nix/store");
  const output = join(store, basename(path));
  mkdirSync(join(output, "nix-support"), { recursive: true });
  cpSync(file(image.file), join(store, basename(elsewhere)));
  const product = join(store, basename(elsewhere));
  writeFileSync(join(output, "nix-support/hydra-build-products"), `file qcow2 ${product}\n`);
  const document = join(store, "hydra.json");
  const text = readFileSync(file("hydra-run-command/succeeded.json"), "utf8");
  writeFileSync(document, text.replace(/"path": "[^"]*image\.qcow2\.gz"/, `"path": "${elsewhere}"`));
  const found = [];
  for (const inputs of [["nix-build/array.json", output], [document], [document, output]]) {
    const { name, store: object, vendor } = await artifactOf(inputs);
    found.push([name, object, vendor?.image]);
  }
  const expected = [
    "controller.qcow2.gz",
    { path: elsewhere },
    { derivation: basename(elsewhere).slice(0, 32) },
  ];
  expect(found).toEqual([expected, expected, expected]);
});

test("a subtype that is the name of a member of every object says nothing", async () => {
  const folder = join(temporaryFolder(), basename(path));
  cpSync(file(inStore), folder, { recursive: true });
  const list = join(folder, "nix-support/hydra-build-products");
  writeFileSync(list, `file constructor ${path}/controller-qcow-efi.qcow2.gz\n`);
  expect((await artifactOf([folder])).package_type).toBe("qcow-efi");
});

test("an output without a product for download is refused with what was left out", async () => {
  const folder = join(temporaryFolder(), basename(path));
  cpSync(file(inStore), folder, { recursive: true });
  writeFileSync(join(folder, "nix-support/hydra-build-products"), `doc manual ${path}/share/doc\n`);
  expect(await problemsOf(["nix-build/array.json", folder])).toEqual([
    "input-empty: no input names a file for download; left out: doc (a product of type doc manual)\n→ Give the files, an output folder, or a checksum file with --sums.",
  ]);
});

test("a failed build is refused, with any content", async () => {
  expect(await problemsOf(["hydra-products/failed"])).toMatchInlineSnapshot(`
    [
      "hydra-products/failed/nix-support/failed:1:1 build-failed: hydra-products/failed is the output of a build that failed (nix-support/failed)
    → Only a build that succeeded can be released.",
    ]
  `);
});

test("a missing product and a folder as product are errors", async () => {
  expect(await problemsOf(["hydra-products/missing-file"])).toMatchInlineSnapshot(`
    [
      "hydra-products/missing-file/nix-support/hydra-build-products:1:1 product-missing: controller-qcow-efi.qcow2.gz is not there: looked for hydra-products/missing-file/controller-qcow-efi.qcow2.gz and /nix/store/asxd5d93x5rxmj6c9w970l1k36dj2rqq-controller-qcow-efi/controller-qcow-efi.qcow2.gz
    → Build it again, give the folder it was copied to, or its checksum file with --sums.",
    ]
  `);
  expect(await problemsOf(["hydra-products/folder-as-file"])).toMatchInlineSnapshot(`
    [
      "hydra-products/folder-as-file/nix-support/hydra-build-products:1:1 product-missing: hydra-products/folder-as-file/controller-qcow-efi.qcow2 is a folder, expected a file people can download
    → Name the file inside, or pack it.",
    ]
  `);
});

test("lines that Hydra would skip are errors", async () => {
  expect(await problemsOf(["hydra-products/malformed"])).toMatchInlineSnapshot(`
    [
      "hydra-products/malformed/nix-support/hydra-build-products:1:1 product-line: the line names no product, expected <type> <subtype> <absolute path, in quotes where it has spaces> [default]
    → Correct the build that writes it.",
      "hydra-products/malformed/nix-support/hydra-build-products:2:1 product-line: the line names no product, expected <type> <subtype> <absolute path, in quotes where it has spaces> [default]
    → Correct the build that writes it.",
      "hydra-products/malformed/nix-support/hydra-build-products:3:1 product-line: the line names no product, expected <type> <subtype> <absolute path, in quotes where it has spaces> [default]
    → Correct the build that writes it.",
    ]
  `);
});

test("image-info.json names the image, and its numbers are not sizes of the download", async () => {
  const artifact = await artifactOf(["image-info/output"]);
  expect(artifact).toMatchObject({
    name: "controller.vhd",
    package_type: "amazon",
    size: 30,
    store: { path },
  });
  expect(JSON.stringify(artifact)).not.toContain("5368709120");
});

test("image-info.json of two disks names two files", async () => {
  const { manifest } = await ingestImage(["image-info/two-disks"]);
  expect(manifest.artifacts.map(({ name }) => name)).toEqual(["boot.vhd", "root.vhd"]);
});

test("image-info.json with an invalid number has the location of the number", async () => {
  expect(await problemsOf(["image-info/malformed.json"])).toMatchInlineSnapshot(`
    [
      "image-info/malformed.json:4:20 size-range: logical_bytes is "5 GB", expected a whole number, 0 or more",
    ]
  `);
});

test.each(["succeeded", "numbers-as-text"])(
  "RunCommand JSON, %s, has digest and size without the bytes",
  async (variant) => {
    const artifact = await artifactOf([`hydra-run-command/${variant}.json`, "nix-path-info/map.json"]);
    expect(artifact).toMatchObject({
      name: "image.qcow2.gz",
      package_type: "qcow-efi",
      sha256: "bfc1f3bca246441cc75e2e0fd54d8199e363b23b58432eb4afefe7461ac4e65b",
      size: 47,
      store: { path, size },
      vendor: { rev: revision, image: { drv, derivation } },
    });
  },
);

const rest = "hydra-run-command/rest.json";

/** The REST answer with changes, and its problems without their place. */
async function problemsOfRest(...changes: [RegExp, string][]): Promise<string[]> {
  const document = join(temporaryFolder(), "build.json");
  const text = readFileSync(file(rest), "utf8");
  writeFileSync(
    document,
    changes.reduce((before, [from, to]) => before.replace(from, to), text),
  );
  return (await problemsOf([document])).map((problem) => problem.replace(document, "build.json"));
}

test("the answer of Hydra's REST API says the same as RunCommand JSON of the same build", async () => {
  const command = "hydra-run-command/succeeded.json";
  const expected = await ingestImage([command]);
  const found = await ingestImage([rest]);
  expect([found.manifest, found.leftOut]).toEqual([
    expected.manifest,
    ["doc (a product of type doc manual)"],
  ]);
  expect((await ingestImage([rest, command])).manifest).toEqual(expected.manifest);
});

test("a REST answer may lack the recipe and the path of a product, as Hydra's older versions write it", async () => {
  const document = join(temporaryFolder(), "build.json");
  const text = readFileSync(file(rest), "utf8");
  writeFileSync(
    document,
    text.replace(/ +"drvpath": .*\n/, "").replace(/ +"path": .*image\.qcow2\.gz",\n/, ""),
  );
  expect(await artifactOf([document])).toMatchObject({
    name: "image.qcow2.gz",
    package_type: "qcow-efi",
    sha256: "bfc1f3bca246441cc75e2e0fd54d8199e363b23b58432eb4afefe7461ac4e65b",
    size: 47,
  });
});

test("a REST answer of a build without success is refused, and wrong fields have their place", async () => {
  expect(await problemsOfRest([/"buildstatus": 0/, '"buildstatus": 1'])).toEqual([
    `build.json:28:18 build-failed: the build of ${drv} failed with status 1\n→ Only a build with status 0 can be released.`,
  ]);
  expect(await problemsOfRest([/"buildstatus": 0/, '"buildstatus": null'])).toEqual([
    `build.json:28:18 build-failed: the build of ${drv} has not finished\n→ Only a build with status 0 can be released.`,
  ]);
  expect(await problemsOfRest([/"filesize": 47/, '"filesize": -1'])).toEqual([
    "build.json:11:19 size-range: buildproducts.1.filesize is -1, expected a whole number, 0 or more",
  ]);
});

test("an unmeasured product must be readable", async () => {
  const document = join(temporaryFolder(), "hydra.json");
  const text = readFileSync(file("hydra-run-command/succeeded.json"), "utf8");
  writeFileSync(document, text.replace(/"sha256hash": "[0-9a-f]{64}"/, '"sha256hash": null'));
  const [problem = ""] = await problemsOf([document]);
  expect(problem.slice(problem.indexOf(" ") + 1)).toMatchInlineSnapshot(`
    "product-missing: image.qcow2.gz is not there: looked for /nix/store/asxd5d93x5rxmj6c9w970l1k36dj2rqq-controller-qcow-efi/image.qcow2.gz
    → Build it again, give the folder it was copied to, or its checksum file with --sums."
  `);
});

test("RunCommand JSON of a build without success is refused", async () => {
  const problems = [];
  for (const variant of ["failed", "failed-with-output", "unfinished"]) {
    problems.push(...(await problemsOf([`hydra-run-command/${variant}.json`])));
  }
  expect(problems).toMatchInlineSnapshot(`
    [
      "hydra-run-command/failed.json:12:18 build-failed: the build of /nix/store/g9x36nk71c2vac1zw6zxc1zj9rxp0p0g-controller-qcow-efi.drv failed with status 1
    → Only a build with status 0 can be released.",
      "hydra-run-command/failed-with-output.json:12:18 build-failed: the build of /nix/store/g9x36nk71c2vac1zw6zxc1zj9rxp0p0g-controller-qcow-efi.drv failed with status 6, although it left an output
    → Only a build with status 0 can be released.",
      "hydra-run-command/unfinished.json:12:18 build-failed: the build of /nix/store/g9x36nk71c2vac1zw6zxc1zj9rxp0p0g-controller-qcow-efi.drv has not finished
    → Only a build with status 0 can be released.",
    ]
  `);
});

test("bytes of an input must be equal to Hydra's measurement", async () => {
  const folder = temporaryFolder();
  cpSync(file("images/controller-qcow.qcow2.gz"), join(folder, "image.qcow2.gz"));
  const problems = await problemsOf(["hydra-run-command/succeeded.json", join(folder, "image.qcow2.gz")]);
  expect(problems.map((problem) => problem.replaceAll(folder, ""))).toMatchInlineSnapshot(`
    [
      "hydra-run-command/succeeded.json:25:5 ingest-conflict: the size of image.qcow2.gz is 47 here, but 42 in /image.qcow2.gz
    → Either the file changed after it was described, or two files have one name: ingest those apart, one with --set file=….",
    ]
  `);
});

test("outputs are read from the Nix store if no input names a file", async () => {
  const store = join(temporaryFolder(), "nix/store");
  const output = join(store, basename(path));
  cpSync(file(inStore), output, { recursive: true });
  const build = join(store, "build.json");
  writeFileSync(
    build,
    JSON.stringify([{ drvPath: drv.replace("/nix/store", store), outputs: { out: output } }]),
  );
  const artifact = await artifactOf([build]);
  expect(artifact).toMatchObject({
    name: "controller-qcow-efi.qcow2.gz",
    store: { path: output },
    vendor: { image: { drv: drv.replace("/nix/store", store), derivation } },
  });
});

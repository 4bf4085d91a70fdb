import { createHash, hash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { hashedAlong } from "../../../pipeline/intake/ingest/incus-reading.ts";
import { incusTarball } from "../../../pipeline/records/incus-tarball.ts";
import { fileSource } from "../../../pipeline/system/file-source.ts";
import type { ImageMetadata, IncusImage } from "../../../shared/package-metadata.ts";
import { bytesOf } from "../../support/artifacts.ts";
import { type Project, project } from "../../support/project.ts";
import { temporaryFolder } from "../../support/run.ts";

const version = "26.11.001";
const disk = bytesOf("vm/acme-1.2.3.qcow2");

const catalog = (feeds: object) => ({
  ...{ product: "Acme Controller", require: {}, feeds },
  ingest: [{ match: "*.incus.tar.xz", package_type: "incus" }],
});

/** @param files files in out/ */
function made(
  files: Readonly<Record<string, Uint8Array>>,
  feeds: object = { incus: { os: "acme" } },
): Project {
  const found = project({
    "releases/catalog.yaml": catalog(feeds),
    [`releases/${version}/release.yaml`]: { version, date: "2026-11-21" },
  });
  mkdirSync(join(found.folder, "out"));
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(found.folder, "out", name), bytes);
  return found;
}

const manifest = `releases/${version}/manifests/build.json`;

async function ingest(project: Project, ...args: string[]): Promise<ImageMetadata> {
  await project.succeed("ingest", "--release", version, "--out", manifest, ...args);
  return written(project).artifacts[0].package;
}

// biome-ignore lint/suspicious/noExplicitAny: tests change manifests
const written = ({ folder }: Project): any => JSON.parse(readFileSync(join(folder, manifest), "utf8"));

const combined = (image: ImageMetadata, bytes: Uint8Array) => {
  const { arch = "all", incus = {} as IncusImage } = image;
  return createHash("sha256")
    .update(incusTarball({ ...incus, arch }))
    .update(bytes)
    .digest("hex");
};

describe("a disk for Incus", () => {
  test("has the text of its metadata tarball in the manifest, and the digests that clients compare", async () => {
    const image = await ingest(made({ "vm-amd64.qcow2": disk }), "out");
    const tarball = incusTarball({ ...(image.incus as IncusImage), arch: "amd64" });
    expect(image).toMatchObject({ type: "image", arch: "amd64", format: "qcow2" });
    expect(image.incus).toEqual({
      ...{ os: "acme", release: version, variant: "qcow", description: `acme ${version} amd64 (qcow)` },
      metadata_sha256: hash("sha256", tarball),
      metadata_size: tarball.length,
      combined_sha256: hash("sha256", Buffer.concat([tarball, disk])),
    });
  });

  test("is called as the product if catalog.yaml names no system", async () => {
    const image = await ingest(made({ "vm-amd64.qcow2": disk }, { incus: {} }), "out");
    expect(image.incus?.os).toBe("Acme Controller");
  });

  test("takes its architecture from --set", async () => {
    const image = await ingest(made({ "vm.qcow2": disk }), "--set", "arch=arm64", "out");
    expect([image.arch, image.incus?.combined_sha256]).toEqual(["arm64", combined(image, disk)]);
  });

  test.each([
    ["the feed is off", { "vm-amd64.qcow2": disk }, {}],
    ["nothing says its architecture", { "vm.qcow2": disk }, { incus: {} }],
    ["it is compressed", { "vm-amd64.qcow2.gz": gzipSync(disk) }, { incus: {} }],
    [
      "its package type is that of another platform",
      { "vm-amd64.vmdk": bytesOf("vm/acme-1.2.3-sparse.vmdk") },
      { incus: {} },
    ],
    [
      "it is an archive that has its own metadata",
      { "vm.incus.tar.xz": bytesOf("vm/acme-1.2.3-incus.tar.xz") },
      { incus: {} },
    ],
  ])("has no digests if %s", async (_, files, feeds) => {
    expect(await ingest(made(files as Record<string, Uint8Array>, feeds), "out")).not.toHaveProperty("incus");
  });

  test("keeps its digests if catalog.yaml changes, also if the feed is switched off", async () => {
    const found = made({ "vm-amd64.qcow2": disk });
    const before = await ingest(found, "out");
    for (const feeds of [{ incus: { os: "other" } }, {}]) {
      found.write("releases/catalog.yaml", catalog(feeds));
      expect(await ingest(found, manifest, "--artifacts", "out")).toEqual(before);
      expect(await ingest(found, manifest)).toEqual(before);
      await found.succeed("check");
    }
  });

  test("gets its digests when it is ingested again with the feed", async () => {
    const found = made({ "vm-amd64.qcow2": disk }, {});
    const before = await ingest(found, "out");
    found.write("releases/catalog.yaml", catalog({ incus: { os: "acme" } }));
    const after = await ingest(found, manifest, "--artifacts", "out");
    expect(after).toEqual({ ...before, incus: after.incus });
    expect(after.incus?.combined_sha256).toBe(combined(after, disk));
  });

  test("cannot have the digests of another disk", async () => {
    const found = made({ "vm-amd64.qcow2": disk });
    await ingest(found, "out");
    const document = written(found);
    document.artifacts[0].package.incus.combined_sha256 = "a".repeat(64);
    found.write(manifest, document);
    expect((await found.run("check")).exitCode).toBe(0);
    const checked = await found.run("check", "--artifacts", "out");
    expect([checked.exitCode, checked.stdout]).toEqual([
      1,
      expect.stringContaining(
        `error[package-metadata] out/vm-amd64.qcow2: package.incus.combined_sha256 in its manifest is ${"a".repeat(64)}, expected `,
      ),
    ]);
    const again = await found.run("ingest", "--release", version, "--out", "-", manifest, "out");
    expect([again.exitCode, again.stderr]).toEqual([
      1,
      expect.stringContaining(
        "package of vm-amd64.qcow2 is stated differently than in its bytes: incus.combined_sha256 aaaa… ↔ ",
      ),
    ]);
  });

  test.each<[string, { arch?: string | undefined; incus?: object }, string]>([
    [
      "another text",
      { incus: { os: "other" } },
      "package.incus is not what its metadata_sha256 and metadata_size were computed from",
    ],
    [
      "another size",
      { incus: { metadata_size: 1 } },
      "package.incus is not what its metadata_sha256 and metadata_size were computed from",
    ],
    [
      "another architecture",
      { arch: "arm64" },
      "package.incus is not what its metadata_sha256 and metadata_size were computed from",
    ],
    ["no architecture", { arch: undefined }, "package has incus but no arch, expected both"],
    [
      "another version",
      { incus: { release: "26.11.002" } },
      `package.incus.release is 26.11.002, expected ${version}`,
    ],
  ])("is an error in check if its manifest has %s", async (_, change, message) => {
    const found = made({ "vm-amd64.qcow2": disk });
    await ingest(found, "out");
    const document = written(found);
    const image = document.artifacts[0].package;
    Object.assign(image, change, { incus: { ...image.incus, ...change.incus } });
    found.write(manifest, document);
    const { exitCode, stdout } = await found.run("check");
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining(`error[package-metadata] ${message}`)]);
  });
});

test("an archive of Incus has its content in the manifest", async () => {
  const machine = await ingest(made({ "vm.incus.tar.xz": bytesOf("vm/acme-1.2.3-incus.tar.xz") }), "out");
  expect(machine).toMatchObject({ format: "incus", arch: "amd64", content: "virtual-machine" });
  const metadata = bytesOf("vm/acme-1.2.3-incus-metadata.tar.xz");
  expect(await ingest(made({ "vm.incus.tar.xz": metadata }), "out")).toMatchObject({ content: "metadata" });
});

test("a disk that cannot be read is left out of the feed with a warning", async () => {
  const { exitCode, stderr } = await made({ "vm-amd64.qcow2": bytesOf("vm/bad-backing-file.qcow2") }).run(
    ...["ingest", "--release", version, "out"],
  );
  expect([exitCode, stderr]).toEqual([0, expect.stringContaining("so that incus can list it")]);
});

describe("a digest along with that of a file", () => {
  const opened = (bytes: Uint8Array) => {
    const path = join(temporaryFolder(), "file");
    writeFileSync(path, bytes);
    const file = fileSource(path);
    let passes = 0;
    const each: typeof file.each = (take) => {
      passes++;
      return file.each(take);
    };
    return {
      ...hashedAlong({ ...file, each }, Buffer.from("before")),
      count: () => passes,
      close: file.close,
    };
  };
  const expected = hash("sha256", Buffer.concat([Buffer.from("before"), disk]));

  test("needs one pass for both", async () => {
    const { file, digest, count, close } = opened(disk);
    expect([await digest(), await file.sha256(), count()]).toEqual([expected, hash("sha256", disk), 1]);
    close();
  });

  test("uses the first pass of a reader, and a pass that a reader gave up does not count", async () => {
    const { file, digest, count, close } = opened(disk);
    const gaveUp = file.each(() => {
      throw new Error("enough");
    });
    await expect(gaveUp).rejects.toThrow("enough");
    await file.each(() => {});
    expect([await digest(), count()]).toEqual([expected, 2]);
    close();
  });
});

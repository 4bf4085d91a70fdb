import { hash } from "node:crypto";
import { describe, expect, test } from "vitest";
import type {
  PublishedPackage,
  PublishedRelease,
  SiteConfig,
} from "../../../pipeline/documents/published.ts";
import { incusTarball } from "../../../pipeline/records/incus-tarball.ts";
import { feedContents, feedGroups, feedParts } from "../../../pipeline/site/feeds/feeds.ts";
import type { ImageMetadata } from "../../../shared/package-metadata.ts";
import { configOf, packageOf, releaseOf, retractedOf } from "../pages/factory.ts";

interface ImageOptions {
  type?: string;
  arch?: ImageMetadata["arch"];
  file?: string;
  url?: string;
  size?: number | null;
  release?: string;
  created?: string;
  /** More members of `package`. */
  metadata?: Partial<ImageMetadata>;
}

const base = "https://downloads.example.com/base";

function recordOf(id: number, options: ImageOptions): PublishedPackage {
  const { type = "qcow", release = "26.08.002", file = `vm-${id}.img`, size = 1000 + id } = options;
  const url = options.url ?? `${base}/files/${release}/${encodeURIComponent(file)}`;
  const created = options.created ?? "2026-08-19T10:22:31.123456Z";
  return packageOf(id, { name: file, package_type: type, size, url, created_date: created });
}

/** A disk with digests, and its metadata tarball. */
function diskOf(id: number, options: ImageOptions = {}): PublishedPackage {
  const { arch = "amd64", type: variant = "qcow", release = "26.08.002", metadata } = options;
  const statement = { arch, os: "acme", release, variant, description: "A disk" };
  const tarball = incusTarball(statement);
  const { arch: _, ...text } = statement;
  const digests = { metadata_sha256: hash("sha256", tarball), metadata_size: tarball.length };
  const incus = { ...text, ...digests, combined_sha256: id.toString(16).padStart(64, "c") };
  return {
    ...recordOf(id, options),
    metadata: { type: "image", arch, format: "qcow2", incus, ...metadata },
  };
}

/** An archive of Incus. */
const archiveOf = (id: number, options: ImageOptions = {}): PublishedPackage => ({
  ...recordOf(id, { type: "incus", ...options }),
  metadata: { type: "image", arch: "amd64", format: "incus", content: "container", ...options.metadata },
});

const config = (changes: Partial<SiteConfig> = {}) =>
  configOf({ feeds: { incus: { os: "acme" } }, ...changes });

/** @param releases newest first */
function groupsOf(releases: readonly PublishedRelease[], site = config()) {
  const slices = releases.map((release) => {
    const rows = JSON.parse(JSON.stringify(feedParts(release, site)));
    return { slices: { feeds: () => rows } };
  });
  return [...feedGroups(slices, site, false)];
}

function serverOf(releases: readonly PublishedRelease[], site = config()) {
  const files = new Map(
    groupsOf(releases, site).flatMap((group) =>
      [...group.files].map(({ path, chunks }) => [path, Buffer.concat([...chunks])] as const),
    ),
  );
  const json = (path: string) => JSON.parse(String(files.get(path)));
  const [content] = feedContents(releases, site);
  const { indexes = [], omitted = [], replaced = [] } = content ?? {};
  return {
    files,
    index: json("streams/v1/index.json"),
    images: json("streams/v1/images.json"),
    listed: indexes.flatMap((index) => index.listed.map(({ id }) => ({ index: index.name, id }))),
    omitted: [...omitted, ...replaced],
  };
}

const one = (...packages: PublishedPackage[]) => [releaseOf("26.08.002", { packages })];

test("a disk is an item with its metadata for Incus, one for LXD, and the artifact itself", () => {
  const disk = diskOf(7, { file: "vm a.qcow2" });
  const { images, index, files } = serverOf(one(disk));
  const tarball = incusTarball({
    ...{ arch: "amd64", os: "acme", release: "26.08.002", variant: "qcow", description: "A disk" },
  });
  const sha256 = hash("sha256", tarball);
  const path = `streams/${sha256}.incus.tar.xz`;
  const metadata = {
    ...{ path, sha256, size: tarball.length },
    "combined_disk-kvm-img_sha256": `${"c".repeat(63)}7`,
  };
  const head = {
    ...{ datatype: "image-downloads", format: "products:1.0", updated: "Thu, 20 Aug 2026 11:00:00 +0000" },
  };
  expect(images).toEqual({
    content_id: "images",
    ...head,
    products: {
      "acme:26.08.002:amd64:qcow": {
        aliases: "latest,26.08.002,latest/qcow,26.08.002/qcow",
        ...{ arch: "amd64", os: "acme", variant: "qcow" },
        ...{ release: "26.08.002", release_title: "26.08.002", version: "26.08.002" },
        versions: {
          "20260819_26.08.002": {
            items: {
              "incus.tar.xz": { ftype: "incus.tar.xz", ...metadata },
              "lxd.tar.xz": { ftype: "lxd.tar.xz", ...metadata },
              "disk-kvm.img": {
                ...{ ftype: "disk-kvm.img", path: "files/26.08.002/vm a.qcow2" },
                ...{ sha256: disk.record.checksum, size: 1007 },
              },
            },
          },
        },
      },
    },
  });
  expect(index).toEqual({
    format: "index:1.0",
    updated: "Thu, 20 Aug 2026 11:00:00 +0000",
    index: {
      images: { ...head, path: "streams/v1/images.json", products: ["acme:26.08.002:amd64:qcow"] },
    },
  });
  expect(files.get(path)?.equals(tarball)).toBe(true);
});

test.each([
  ["container", ["incus_combined.tar.gz", "lxd_combined.tar.gz"]],
  ["virtual-machine", ["incus_combined.tar.gz"]],
] as const)("an archive with a %s is an item for %j", (content, types) => {
  const archive = archiveOf(7, { file: "vm.tar.xz", metadata: { content } });
  const { images, files } = serverOf(one(archive));
  const { items } = images.products["acme:26.08.002:amd64:incus"].versions["20260819_26.08.002"];
  expect(Object.keys(items)).toEqual(types);
  expect(items["incus_combined.tar.gz"]).toEqual({
    ...{ ftype: "incus_combined.tar.gz", path: "files/26.08.002/vm.tar.xz", size: 1007 },
    ...{ sha256: archive.record.checksum, combined_sha256: archive.record.checksum, combined_type: content },
  });
  expect([...files.keys()].filter((path) => path.endsWith(".xz"))).toEqual([]);
});

test("a server without images has both files", () => {
  const { images, index } = serverOf([]);
  expect(images).toEqual({
    ...{ content_id: "images", datatype: "image-downloads", format: "products:1.0", products: {} },
  });
  expect(index.index.images.products).toEqual([]);
});

/** Aliases by architecture and package type. */
const aliasesIn = ({ images }: ReturnType<typeof serverOf>) =>
  Object.fromEntries(
    Object.entries(images.products as Record<string, { aliases: string }>).map(([product, { aliases }]) => [
      product.replace("acme:", ""),
      aliases,
    ]),
  );

describe("names of images", () => {
  test("are the version and latest, which mean a disk with UEFI before others", () => {
    const server = serverOf(
      one(archiveOf(1), diskOf(2), diskOf(3, { type: "qcow-efi" }), diskOf(4, { arch: "arm64" })),
    );
    expect(aliasesIn(server)).toEqual({
      "26.08.002:amd64:incus": "latest/incus,26.08.002/incus",
      "26.08.002:amd64:qcow": "latest/qcow,26.08.002/qcow",
      "26.08.002:amd64:qcow-efi": "latest,26.08.002,latest/qcow-efi,26.08.002/qcow-efi",
      "26.08.002:arm64:qcow": "latest,26.08.002,latest/qcow,26.08.002/qcow",
    });
  });

  test("mean the highest version before the preferred package type", () => {
    const newest = releaseOf("26.08.002", { packages: [diskOf(1)] });
    const efi = diskOf(2, { release: "26.07.009", type: "qcow-efi" });
    expect(aliasesIn(serverOf([newest, releaseOf("26.07.009", { packages: [efi] })]))).toEqual({
      "26.07.009:amd64:qcow-efi": "26.07.009,latest/qcow-efi,26.07.009/qcow-efi",
      "26.08.002:amd64:qcow": "latest,26.08.002,latest/qcow,26.08.002/qcow",
    });
  });

  test("follow versions, also if an older version has a newer date", () => {
    const newest = releaseOf("26.08.002", { packages: [diskOf(1)] });
    const older = { release: "26.07.009", created: "2026-09-19T10:22:31.123456Z" };
    const late = releaseOf("26.07.009", { packages: [diskOf(2, older)] });
    expect(aliasesIn(serverOf([newest, late]))).toEqual({
      "26.07.009:amd64:qcow": "26.07.009,26.07.009/qcow",
      "26.08.002:amd64:qcow": "latest,26.08.002,latest/qcow,26.08.002/qcow",
    });
  });

  test("move to the images that are left when the newest release is withdrawn", () => {
    const withdrawn = releaseOf("26.08.002", { retracted: [retractedOf(1)] });
    const older = releaseOf("26.07.009", { packages: [diskOf(2, { release: "26.07.009" })] });
    const server = serverOf([withdrawn, older]);
    expect(aliasesIn(server)).toEqual({
      "26.07.009:amd64:qcow": "latest,26.07.009,latest/qcow,26.07.009/qcow",
    });
    expect(server.images.updated).toBe("Tue, 01 Sep 2026 08:00:00 +0000");
  });
});

const undigested = "its manifest does not contain the digests that Incus compares";

test.each<[string, PublishedPackage]>([
  ["its manifest does not contain the metadata of the package", recordOf(1, {})],
  [undigested, diskOf(1, { metadata: { incus: undefined } })],
  [undigested, archiveOf(1, { metadata: { content: undefined } })],
  [
    "nothing says which architecture it is for",
    diskOf(1, { metadata: { arch: undefined, incus: undefined } }),
  ],
  ["nothing says which architecture it is for", diskOf(1, { metadata: { arch: "all", incus: undefined } })],
  ["Incus starts no disk that is compressed with gzip", diskOf(1, { metadata: { compression: "gzip" } })],
  ["Incus starts no disk of the format raw", diskOf(1, { metadata: { format: "raw" } })],
  [
    "it contains the metadata of an image without its file system",
    archiveOf(1, { metadata: { content: "metadata" } }),
  ],
  ["its file is not below the site", diskOf(1, { url: "https://elsewhere.example.com/vm.img" })],
  ["its manifest has no size", diskOf(1, { size: null })],
  ["its file name has %, ? or #, which clients encode differently", diskOf(1, { file: "vm 100%.img" })],
])("an image is left out and named, because %s", (reason, entry) => {
  const { omitted, listed, images } = serverOf(one(entry, diskOf(2, { arch: "arm64" })));
  expect(omitted).toEqual([{ id: 1, file: entry.file, reason }]);
  expect(listed).toEqual([{ index: "", id: 2 }]);
  expect(Object.keys(images.products)).toEqual(["acme:26.08.002:arm64:qcow"]);
});

test("images of other platforms are neither listed nor named", () => {
  const vmware = { ...recordOf(1, { type: "vmware" }), metadata: diskOf(1).metadata as ImageMetadata };
  expect(serverOf(one(vmware))).toMatchObject({ listed: [], omitted: [], images: { products: {} } });
});

test("the server lists the highest id of images with one version, architecture and package type", () => {
  const { omitted, listed, files } = serverOf(one(diskOf(4, { file: "a.img" }), diskOf(9)));
  expect(listed).toEqual([{ index: "", id: 9 }]);
  expect(omitted).toEqual([
    {
      ...{ id: 4, file: "a.img" },
      reason: "the image server lists acme:26.08.002:amd64:qcow as the file with the id 9",
    },
  ]);
  expect([...files.keys()].filter((path) => path.endsWith(".xz"))).toHaveLength(1);
});

test("a new release does not change the files of the others", () => {
  const first = releaseOf("26.08.002", { packages: [diskOf(1), archiveOf(3)] });
  const second = releaseOf("26.09.001", { packages: [diskOf(2, { release: "26.09.001" })] });
  const keys = (releases: readonly PublishedRelease[]) =>
    new Map(groupsOf(releases).map(({ name, key }) => [name, key]));
  const [before, after] = [keys([first]), keys([second, first])];
  expect([...after.keys()]).toEqual(["incus 26.09.001", "incus 26.08.002", "incus", "feeds"]);
  expect(after.get("incus 26.08.002")).toBe(before.get("incus 26.08.002"));
  expect(after.get("incus")).not.toBe(before.get("incus"));
});

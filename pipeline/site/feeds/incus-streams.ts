import type { Architecture, IncusImage } from "../../../shared/package-metadata.ts";
import { incusTarballPath } from "../../documents/feeds/paths.ts";
import type { OutputFile } from "../../documents/published.ts";
import { incusTarball } from "../../records/incus-tarball.ts";
import { jsonFile } from "../output.ts";
import type { FeedLocation } from "./feed.ts";

/** An image as the index lists it. */
export interface ListedImage {
  id: number;
  file: string;
  os: string;
  release: string;
  /** The package type. */
  variant: string;
  arch: Architecture;
  /** Names the four above. */
  product: string;
  /** Begins with a date, because clients ignore others. */
  serial: string;
  /** The artifact. Its path is decoded, because LXD encodes it. */
  item: FeedLocation;
  /** A disk with a metadata tarball; null: an archive that contains its metadata. */
  disk: { arch: Architecture; incus: IncusImage } | null;
  type: "container" | "virtual-machine";
}

export const tarballFile = ({ arch, incus }: NonNullable<ListedImage["disk"]>): OutputFile => ({
  path: incusTarballPath(incus.metadata_sha256),
  chunks: [incusTarball({ ...incus, arch })],
});

const contentId = "images";
const imagesPath = "streams/v1/images.json";

/** @param images newest release first @param changed time of the newest change; "" if there is none */
export function* streamFiles(images: readonly ListedImage[], changed: string): Generator<OutputFile> {
  const updated = changed === "" ? {} : { updated: new Date(changed).toUTCString().replace("GMT", "+0000") };
  const head = { datatype: "image-downloads", format: "products:1.0", ...updated };
  const names = aliasesOf(images);
  const sorted = images.toSorted((a, b) => (a.product < b.product ? -1 : 1));
  const products = sorted.map((image) => [image.product, productOf(image, names.get(image) ?? [])] as const);
  yield jsonFile(imagesPath, { content_id: contentId, ...head, products: Object.fromEntries(products) });
  yield jsonFile("streams/v1/index.json", {
    format: "index:1.0",
    ...updated,
    index: { [contentId]: { ...head, path: imagesPath, products: products.map(([product]) => product) } },
  });
}

/** Each version is a product of its own, so that its number is an alias and stays one. */
const productOf = (image: ListedImage, aliases: readonly string[]) => ({
  aliases: aliases.join(","),
  arch: image.arch,
  os: image.os,
  release: image.release,
  release_title: image.release,
  variant: image.variant,
  version: image.release,
  versions: { [image.serial]: { items: itemsOf(image) } },
});

/** Incus and LXD look for different types of the same items. */
function itemsOf({ item, disk, type }: ListedImage): Record<string, object> {
  if (!disk) {
    const archive = { ...item, combined_sha256: item.sha256 };
    // LXD takes every such archive for a container.
    const lxd = type === "container" && { "lxd_combined.tar.gz": typed("lxd_combined.tar.gz", archive) };
    return {
      "incus_combined.tar.gz": typed("incus_combined.tar.gz", { ...archive, combined_type: type }),
      ...lxd,
    };
  }
  const { metadata_sha256: sha256, metadata_size: size, combined_sha256: combined } = disk.incus;
  const path = incusTarballPath(sha256);
  const metadata = { path, sha256, size, "combined_disk-kvm-img_sha256": combined };
  return {
    "incus.tar.xz": typed("incus.tar.xz", metadata),
    "lxd.tar.xz": typed("lxd.tar.xz", metadata),
    "disk-kvm.img": typed("disk-kvm.img", item),
  };
}

const typed = (ftype: string, item: object) => ({ ftype, ...item });

/**
 * The image that a version's number means, if it has several: Incus starts virtual machines with UEFI, and LXD lists no
 * archives of virtual machines.
 */
const preferred = ["qcow-efi", "qcow", "incus"];

/**
 * Names of images: the version and `latest`, both alone and with the variant. Versions decide which image is the latest,
 * because the image of an older version may have a newer date.
 */
function aliasesOf(images: readonly ListedImage[]): ReadonlyMap<ListedImage, string[]> {
  const names = new Map<ListedImage, string[]>();
  const usedNames = new Set<string>();
  const ordered = images.toSorted(
    (a, b) =>
      (a.release === b.release ? 0 : a.release > b.release ? -1 : 1) ||
      preferred.indexOf(a.variant) - preferred.indexOf(b.variant),
  );
  for (const image of ordered) {
    const { release, variant, arch } = image;
    const wanted = ["latest", release, `latest/${variant}`, `${release}/${variant}`];
    const own = wanted.filter((name) => !usedNames.has(`${arch} ${name}`));
    for (const name of own) usedNames.add(`${arch} ${name}`);
    names.set(image, own);
  }
  return names;
}

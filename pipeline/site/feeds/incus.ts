import type { Architecture, ImageMetadata, IncusImage } from "../../../shared/package-metadata.ts";
import { incusTarballPath } from "../../documents/feeds/paths.ts";
import { feedOf } from "../../documents/feeds/settings.ts";
import type { FeedConfig, OutputFile, PublishedPackage } from "../../documents/published.ts";
import { digestOf } from "../../journal/digest.ts";
import { incusTarball } from "../../records/incus-tarball.ts";
import { isOffered } from "../../selection/channels.ts";
import { jsonFile } from "../output.ts";
import {
  type Feed,
  type FeedLocation,
  feedLocation,
  indexOf,
  partOf,
  unknownMachine,
  unread,
} from "./feed.ts";

/** A release's part of the image server. */
export interface IncusRow {
  images: ListedImage[];
  /** Times of the newest ledger lines of its images, withdrawn ones too. */
  changed: string[];
}

/** An image server for Incus and LXD (simplestreams). */
export const incusFeed: Feed<IncusRow> = {
  name: "incus",
  /** The rows of a release are none or one. */
  part(release, config) {
    const isListed = isOffered(release, config.channels[0]);
    const { rows, omitted } = partOf(release.packages, (entry) => {
      const image = imageOf(entry, config);
      return image instanceof Object ? { image, changed: entry.record.modified_date } : image;
    });
    const moved = rows.length > 0 ? (release.channels ?? []).flatMap(({ changed }) => changed ?? []) : [];
    const withdrawn = release.retracted.filter(({ package_type: type }) => isForIncus(type));
    const changed = [...rows.map((row) => row.changed), ...moved, ...withdrawn.map(({ at }) => at)];
    const images = isListed ? rows.map(({ image }) => image) : [];
    return { rows: changed.length > 0 ? [{ images, changed }] : [], omitted };
  },
  indexes: (rows) => [imageIndex(rows)],
  *groups(rows) {
    const { listed } = imageIndex(rows);
    for (const [release, images] of Map.groupBy(listed, (image) => image.release)) {
      const tarballs = images.flatMap(({ disk }) => disk ?? []);
      // They do not change with the images of other releases.
      if (tarballs.length > 0)
        yield {
          name: `incus ${release}`,
          key: digestOf(tarballs),
          files: { [Symbol.iterator]: () => tarballFiles(tarballs) },
        };
    }
    const updated = rows.flatMap(({ changed }) => changed).reduce((a, b) => (a > b ? a : b), "");
    yield {
      name: "incus",
      key: digestOf({ listed, updated }),
      files: { [Symbol.iterator]: () => streamFiles(listed, updated) },
    };
  },
};

/** The name under which clients find an image. @returns undefined if the feed does not list it */
export function imageName(
  entry: PublishedPackage,
  config: FeedConfig,
): { image: string; isMachine: boolean } | undefined {
  const image = config.feeds.incus && imageOf(entry, config);
  if (!(image instanceof Object)) return undefined;
  const { release, variant, arch, type } = image;
  return { image: `${release}/${variant}/${arch}`, isMachine: type === "virtual-machine" };
}

const isForIncus = (packageType: string): boolean => feedOf("image", packageType) === "incus";

/** @returns a reason for an image that Incus cannot use; undefined for packages of other types */
function imageOf(entry: PublishedPackage, { baseUrl, feeds }: FeedConfig): ListedImage | string | undefined {
  const { metadata, record, file } = entry;
  if (!isForIncus(record.package_type)) return undefined;
  if (metadata?.type !== "image") return unread;
  const location = feedLocation(entry, baseUrl);
  if (typeof location === "string") return location;
  if (/[%?#]/.test(location.path)) return "its file name has %, ? or #, which clients encode differently";
  const { arch, content, incus } = metadata;
  const unfit = reasonAgainst(metadata);
  if (unfit !== undefined) return unfit;
  if (arch === undefined || arch === "all") return unknownMachine;
  if (!content && !incus) return undigested;
  const { id, version: release, package_type: variant, created_date: created } = record;
  const os = incus?.os ?? feeds.incus?.os ?? "";
  return {
    id,
    file,
    ...{ os, release, variant, arch },
    product: [os, release, arch, variant].join(":"),
    serial: `${created.slice(0, 10).replaceAll("-", "")}_${release}`,
    item: location,
    disk: incus ? { arch, incus } : null,
    type: content === "container" ? content : "virtual-machine",
  };
}

/** The reason for a disk whose manifest was written while the feed was off. */
export const undigested = "its manifest does not contain the digests that Incus compares";

function reasonAgainst({ format, compression, content }: ImageMetadata): string | undefined {
  if (format === "incus" && content === "metadata")
    return "it contains the metadata of an image without its file system";
  if (format === "incus") return undefined;
  if (format !== "qcow2") return `Incus starts no disk of the format ${format}`;
  return compression && `Incus starts no disk that is compressed with ${compression}`;
}

const imageIndex = (rows: readonly IncusRow[]) =>
  indexOf(
    "",
    rows.flatMap(({ images }) => images),
    ({ product }) => product,
    (product, id) => `the image server lists ${product} as the file with the id ${id}`,
  );

/** An image as the index lists it. */
interface ListedImage {
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

function* tarballFiles(disks: readonly NonNullable<ListedImage["disk"]>[]): Generator<OutputFile> {
  for (const { arch, incus } of disks)
    yield { path: incusTarballPath(incus.metadata_sha256), chunks: [incusTarball({ ...incus, arch })] };
}

const contentId = "images";
const imagesPath = "streams/v1/images.json";

/** @param images newest release first @param changed time of the newest change; "" if there is none */
function* streamFiles(images: readonly ListedImage[], changed: string): Generator<OutputFile> {
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
function itemsOf({ item, disk, type }: ListedImage): object {
  if (!disk) {
    const archive = { ...item, combined_sha256: item.sha256 };
    // LXD takes every such archive for a container.
    const lxd = type === "container" && { "lxd_combined.tar.gz": archive };
    return typed({ "incus_combined.tar.gz": { ...archive, combined_type: type }, ...lxd });
  }
  const { metadata_sha256: sha256, metadata_size: size, combined_sha256: combined } = disk.incus;
  const path = incusTarballPath(sha256);
  const metadata = { path, sha256, size, "combined_disk-kvm-img_sha256": combined };
  return typed({ "incus.tar.xz": metadata, "lxd.tar.xz": metadata, "disk-kvm.img": item });
}

const typed = (items: Readonly<Record<string, object>>) =>
  Object.fromEntries(Object.entries(items).map(([ftype, item]) => [ftype, { ftype, ...item }]));

/** Images take the name of a version in this order: Incus starts machines with UEFI, and LXD lists no archives of them. */
const preferred = ["qcow-efi", "qcow", "incus"];

/**
 * The version and `latest`, both alone and with the variant. Versions decide which image is the latest, because the image
 * of an older version may have a newer date.
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

import type { Architecture, ImageMetadata } from "../../../shared/package-metadata.ts";
import { feedOf } from "../../documents/feeds/settings.ts";
import type {
  FeedConfig,
  OutputGroup,
  PublishedPackage,
  PublishedRelease,
} from "../../documents/published.ts";
import { digestOf } from "../../journal/digest.ts";
import { type Feed, type FeedPart, feedLocation, unknownMachine, unread } from "./feed.ts";
import { type ListedImage, streamFiles, tarballFile } from "./incus-streams.ts";

/** A release's part of the image server. */
export interface IncusRow {
  images: ListedImage[];
  /** Times of the newest ledger lines of its images, withdrawn ones too. */
  changed: string[];
}

/** An image server for Incus and LXD (simplestreams). */
export const incusFeed: Feed<IncusRow> = {
  name: "incus",
  part: incusPart,
  listed: (rows) => listedIn(rows).map(({ id }) => ({ index: "", id })),
  omitted(rows) {
    const highest = highestIds(rows);
    return imagesIn(rows).flatMap((image) => {
      const id = highest.get(image.product);
      const reason = `the image server lists ${image.product} as the file with the id ${id}`;
      return id === image.id ? [] : [{ id: image.id, file: image.file, reason }];
    });
  },
  *groups(rows) {
    const listed = listedIn(rows);
    for (const [release, images] of Map.groupBy(listed, (image) => image.release)) {
      const tarballs = images.flatMap(({ disk }) => disk ?? []);
      if (tarballs.length > 0) yield tarballGroup(release, tarballs);
    }
    const updated = rows.flatMap(({ changed }) => changed).reduce((a, b) => (a > b ? a : b), "");
    yield {
      name: "incus",
      key: digestOf({ listed, updated }),
      files: { [Symbol.iterator]: () => streamFiles(listed, updated) },
    };
  },
};

/** Tarballs do not change with the images of other releases. */
const tarballGroup = (release: string, disks: readonly NonNullable<ListedImage["disk"]>[]): OutputGroup => ({
  name: `incus ${release}`,
  key: digestOf(disks),
  files: {
    *[Symbol.iterator]() {
      for (const disk of disks) yield tarballFile(disk);
    },
  },
});

/** The rows of a release, which are none or one. */
function incusPart(release: PublishedRelease, config: FeedConfig): FeedPart<IncusRow> {
  const part: FeedPart<IncusRow> = { rows: [], omitted: [] };
  const row: IncusRow = {
    images: [],
    changed: release.retracted.filter(({ package_type: type }) => isForIncus(type)).map(({ at }) => at),
  };
  for (const entry of release.packages) {
    const { record, file } = entry;
    if (!isForIncus(record.package_type)) continue;
    const image = imageOf(entry, config);
    if (typeof image === "string") part.omitted.push({ id: record.id, file, reason: image });
    else {
      row.images.push(image);
      row.changed.push(record.modified_date);
    }
  }
  if (row.images.length > 0 || row.changed.length > 0) part.rows.push(row);
  return part;
}

/** The name under which clients find an image. @returns undefined if the feed does not list it */
export function imageName(
  entry: PublishedPackage,
  config: FeedConfig,
): { image: string; isMachine: boolean } | undefined {
  if (!config.feeds.incus || !isForIncus(entry.record.package_type)) return undefined;
  const image = imageOf(entry, config);
  if (typeof image === "string") return undefined;
  const { release, variant, arch, type } = image;
  return { image: `${release}/${variant}/${arch}`, isMachine: type === "virtual-machine" };
}

const isForIncus = (packageType: string): boolean => feedOf("image", packageType) === "incus";

/** @returns a reason for an image that Incus cannot use */
function imageOf(entry: PublishedPackage, { baseUrl, feeds }: FeedConfig): ListedImage | string {
  const { metadata, record, file } = entry;
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
    product: productOf({ os, release, variant, arch }),
    serial: `${created.slice(0, 10).replaceAll("-", "")}_${release}`,
    item: location,
    disk: incus ? { arch, incus } : null,
    type: content === "container" ? content : "virtual-machine",
  };
}

/** The reason for a disk whose manifest was written while the feed was off. */
export const undigested = "its manifest does not contain the digests that Incus compares";

function reasonAgainst({ format, compression, content }: ImageMetadata): string | undefined {
  if (format === "incus")
    return content === "metadata"
      ? "it contains the metadata of an image without its file system"
      : undefined;
  if (format !== "qcow2") return `Incus starts no disk of the format ${format}`;
  return compression === undefined
    ? undefined
    : `Incus starts no disk that is compressed with ${compression}`;
}

const productOf = (image: { os: string; release: string; variant: string; arch: Architecture }): string =>
  [image.os, image.release, image.arch, image.variant].join(":");

const imagesIn = (rows: readonly IncusRow[]): ListedImage[] => rows.flatMap(({ images }) => images);

/** Clients cannot distinguish images of one product and serial, so only the newest record is listed. */
function highestIds(rows: readonly IncusRow[]): ReadonlyMap<string, number> {
  const highest = new Map<string, number>();
  for (const { product, id } of imagesIn(rows)) highest.set(product, Math.max(id, highest.get(product) ?? 0));
  return highest;
}

function listedIn(rows: readonly IncusRow[]): ListedImage[] {
  const highest = highestIds(rows);
  return imagesIn(rows).filter(({ product, id }) => highest.get(product) === id);
}

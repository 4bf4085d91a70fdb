import type { TarEntry } from "../archives/tar.ts";
import { Fault } from "../inspection.ts";
import { type Boot, bootOf } from "./boot.ts";
import type { Told } from "./content.ts";
import type { Bytes } from "./disks/fields.ts";
import { type DiskFormat, formatOf, raw } from "./disks/formats.ts";
import { passing } from "./disks/passing.ts";

/** What is told of a disk. */
export type DiskFacts = {
  format: string;
  variant: string;
  virtual_size: number;
  boot: Boot;
};

/** @param told gets the notes @throws Fault */
function readDiskFacts(source: Bytes, format: DiskFormat, told: Told): DiskFacts {
  const disk = format.read(source);
  const { boot, notes } = bootOf(disk);
  told.notes.push(...disk.notes, ...notes);
  return { format: format.name, variant: disk.variant, virtual_size: disk.virtualSize, boot };
}

/** Of a file that is a disk. @throws Fault; unsupported-format: it is none that is known */
export function tellDisk(source: Bytes, told: Told): void {
  const format = formatOf(source) ?? rawDisk(source);
  told.type = format.name;
  Object.assign(told.facts, readDiskFacts(source, format, told));
}

/** Nothing tells a raw disk but its name, or a boot sector's last two bytes. */
function rawDisk(source: Bytes): DiskFormat {
  const hasBootSector = source.size >= 512 && Buffer.from(source.read(510, 2)).toString("hex") === "55aa";
  if (hasBootSector || /\.(?:raw|img|bin|dd)(?:\.\w+)?$/i.test(source.name)) return raw;
  throw new Fault(
    "unsupported-format",
    `${source.name} is no image or archive in a format that is known here`,
  );
}

/**
 * Looks into a file of an archive, as soon as all of it passed by.
 * @param onDisk called when it is a disk
 * @param otherwise what it is where no format is recognised; undefined: no disk
 * @throws Fault
 */
export function passingDisk(
  entry: TarEntry,
  told: Told,
  onDisk: (facts: DiskFacts) => void,
  otherwise?: DiskFormat,
): (chunk: Uint8Array) => void {
  // Let go of at its end: whoever keeps what takes the content would keep its beginning in memory.
  let passed: ReturnType<typeof passing> | undefined = passing(entry.path);
  let left = entry.size;
  return (chunk) => {
    passed?.write(chunk);
    left -= chunk.length;
    if (left > 0 || !passed) return;
    const bytes = passed.end();
    passed = undefined;
    const format = formatOf(bytes) ?? otherwise;
    if (format) onDisk(readDiskFacts(bytes, format, told));
  };
}

/** More than a machine has. */
export const mostDisks = 255;

/** Of an image with several disks: their sizes together, and what the first of them that says so boots with. */
export function tellDisks(disks: readonly (DiskFacts & { name: string })[], told: Told): void {
  told.facts.virtual_size = disks.reduce((sum, disk) => sum + disk.virtual_size, 0);
  told.facts.boot = disks.find(({ boot }) => boot !== "unknown")?.boot ?? "unknown";
  told.facts.disks = disks;
}

import type { TarEntry } from "../archives/tar.ts";
import type { ByteSource } from "../bytes/byte-source.ts";
import type { Fact, InspectOptions } from "../inspection.ts";
import type { SelfCheckFinder } from "../self-check.ts";
import { unsupported } from "../verdict.ts";
import { type Boot, bootOf } from "./boot.ts";
import { type Bytes, headAndTail } from "./disks/fields.ts";
import { type DiskFormat, formatOf, raw } from "./disks/formats.ts";

export type DiskFacts = {
  format: string;
  variant: string;
  virtual_size: number;
  boot: Boot;
};

function readDiskFacts(source: Bytes, format: DiskFormat, findings: ImageFindings): DiskFacts {
  const disk = format.read(source);
  const { boot, notes } = bootOf(disk);
  findings.notes.push(...disk.notes, ...notes);
  return { format: format.name, variant: disk.variant, virtual_size: disk.virtualSize, boot };
}

/** @throws Fault; unsupported-format, if the disk format is not known */
export function recordDisk(source: Bytes, findings: ImageFindings): void {
  const format = formatOf(source) ?? rawDisk(source);
  findings.type = format.name;
  Object.assign(findings.facts, readDiskFacts(source, format, findings));
}

/** A raw disk is recognized only by its name or by the boot sector's last two bytes. */
function rawDisk(source: Bytes): DiskFormat {
  const hasBootSector = source.size >= 512 && Buffer.from(source.read(510, 2)).toString("hex") === "55aa";
  if (hasBootSector || /\.(?:raw|img|bin|dd)(?:\.\w+)?$/i.test(source.name)) return raw;
  throw unsupported(`${source.name} is not an image or archive in a known format`);
}

/** Inspects an archive member after it has streamed past. @param otherwise format of unrecognized disks @throws Fault */
export function passingDisk(
  entry: TarEntry,
  findings: ImageFindings,
  onDisk: (facts: DiskFacts) => void,
  otherwise?: DiskFormat,
): (chunk: Uint8Array) => void {
  // Released at the end: the consumer's closure would otherwise keep the buffered beginning in memory.
  let passed: ReturnType<typeof headAndTail> | undefined = headAndTail(entry.path);
  let left = entry.size;
  return (chunk) => {
    passed?.write(chunk);
    left -= chunk.length;
    if (left > 0 || !passed) return;
    const bytes = passed.end();
    passed = undefined;
    const format = formatOf(bytes) ?? otherwise;
    if (format) onDisk(readDiskFacts(bytes, format, findings));
  };
}

/** More disks than a virtual machine has. */
export const maxDisks = 255;

/** Images with several disks report the total size, and the first known boot type. */
export function recordDisks(disks: readonly (DiskFacts & { name: string })[], findings: ImageFindings): void {
  findings.facts.virtual_size = disks.reduce((sum, disk) => sum + disk.virtual_size, 0);
  findings.facts.boot = disks.find(({ boot }) => boot !== "unknown")?.boot ?? "unknown";
  findings.facts.disks = disks;
}

export interface ImageFindings {
  type: string;
  facts: Record<string, Fact>;
  notes: string[];
  /** Set if a client's files were searched. */
  finder?: SelfCheckFinder;
}

/** Receives content in one pass; it cannot be read again. */
export interface Content {
  write(chunk: Uint8Array): void;
  end(): void | Promise<void>;
}

export type OpenContent = (findings: ImageFindings, options: InspectOptions, source: ByteSource) => Content;

/** Reader for one kind of tar archive, chosen by its first entry. */
export interface TarContents {
  entry(entry: TarEntry): ((chunk: Uint8Array) => void) | undefined;
  end(): void | Promise<void>;
}

export type OpenTar = (findings: ImageFindings, options: InspectOptions) => TarContents;

import { Fault, malformed } from "../../verdict.ts";
import type { Disk } from "./disk.ts";
import { refuseSize } from "./disk.ts";
import { type Bytes, type Fields, readFields } from "./fields.ts";
import { whereKept } from "./passing.ts";
import { checkTables, guestReader, type Layout } from "./qcow2-tables.ts";

/**
 * QEMU's copy-on-write images, versions 2 and 3 (docs/interop/qcow2.txt). @throws Fault malformed, refuse,
 * unsupported-format
 */
export function readQcow2(source: Bytes): Disk {
  const header = readFields(source, 0, 112, "big");
  const version = header.u32(4);
  if (version !== 2 && version !== 3)
    throw new Fault("unsupported-format", `${source.name} is qcow version ${version}, expected 2 or 3`);
  const features = featuresOf(header, version, source.name);
  refuseForeign(source, header, features);
  const layout = layoutOf(source, header, version, features);
  refuseSize(source.name, layout.virtualSize);
  readExtensions(source, version === 2 ? 72 : header.u32(100), layout.clusterSize);
  const notes = whereKept(() => checkTables(source, layout));
  if (header.u32(60) > 0)
    notes.push(`it holds ${header.u32(60)} snapshots, with the contents of the disk at that time`);
  return {
    variant: `version ${version}, ${layout.compression}`,
    virtualSize: layout.virtualSize,
    read: guestReader(source, layout),
    notes,
  };
}

/** Bits of the incompatible features. */
const dirty = 1;
const corrupt = 2;
const externalData = 4;
const otherCompression = 8;
const extendedL2 = 16;

function featuresOf(header: Fields, version: number, name: string): number {
  if (version === 2) return 0;
  if (header.u32(100) < 104) throw malformed(`${name} has a header that is too short`);
  const features = header.u64(72);
  if (features > 31) throw new Fault("unsupported-format", `${name} has features that are not supported`);
  return features;
}

/** Rejects images that depend on other files, or are not in a clean state. */
function refuseForeign(source: Bytes, header: Fields, features: number): void {
  const refuse = (reason: string) => new Fault("refuse", `${source.name} ${reason}`);
  const backing = header.u64(8);
  if (backing !== 0) {
    const length = Math.min(header.u32(16), 1023);
    const file = Buffer.from(source.read(backing, length)).toString("utf8");
    throw refuse(`needs the backing file ${JSON.stringify(file)}, expected an image of its own`);
  }
  if (header.u32(32) !== 0) throw refuse("is encrypted, expected one that every machine can read");
  if (features & externalData) throw refuse("keeps its data in another file, expected one file");
  if (features & corrupt) throw refuse("is marked corrupt; build it again");
  if (features & dirty) throw refuse("was not closed: qemu-img check -r all repairs it");
}

function layoutOf(source: Bytes, header: Fields, version: number, features: number): Layout {
  const clusterBits = header.u32(20);
  if (clusterBits < 9 || clusterBits > 21)
    throw malformed(`${source.name} has clusters of 2^${clusterBits} bytes, expected 2^9 to 2^21`);
  if (version === 3 && header.u32(96) > 6)
    throw malformed(`${source.name} has reference counts of too many bits`);
  const isZstd = features & otherCompression ? header.u32(100) > 104 && header.u8(104) === 1 : false;
  if (features & otherCompression && !isZstd)
    throw new Fault("unsupported-format", `${source.name} is compressed in a way that is not supported`);
  return {
    version,
    clusterBits,
    clusterSize: 2 ** clusterBits,
    virtualSize: header.u64(24),
    compression: isZstd ? "zstd" : "zlib",
    l1: { from: header.u64(40), count: header.u32(36) },
    refcounts: { from: header.u64(48), clusters: header.u32(56) },
    entrySize: features & extendedL2 ? 16 : 8,
  };
}

const externalDataName = 0x44415441;

/** Header extensions: type, length, data, padded to a multiple of 8. */
function readExtensions(source: Bytes, from: number, clusterSize: number): void {
  const end = Math.min(clusterSize, source.size);
  for (let at = from; ; ) {
    if (at % 8 !== 0 || at + 8 > end) throw malformed(`${source.name} has header extensions that do not end`);
    const extension = readFields(source, at, 8, "big");
    const [type, length] = [extension.u32(0), extension.u32(4)];
    if (type === 0) return;
    if (type === externalDataName)
      throw new Fault("refuse", `${source.name} names a file with its data, expected one file`);
    at += 8 + length + (-length & 7);
  }
}

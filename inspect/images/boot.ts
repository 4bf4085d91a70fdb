import { crc32 } from "node:zlib";
import { Fault } from "../verdict.ts";
import type { Disk } from "./disks/disk.ts";
import { type Fields, fieldsOf, OutsideWindow } from "./disks/fields.ts";

/** Firmware types that find a boot loader on the disk. */
export type Boot = "bios" | "efi" | "both" | "unknown";

const efiSystem = "C12A7328-F81F-11D2-BA4B-00A0C93EC93B";
const biosBoot = "21686148-6449-6E6F-744E-656564454649";

const mbrProtective = 0xee;
const mbrEfiSystem = 0xef;

/** The usual size is 16 KiB; larger tables are not read. */
const maxTableBytes = 1 << 16;

/** Reads the partition table: MBR, or GPT behind a protective MBR (UEFI 2.10, section 5). */
export function bootOf(disk: Pick<Disk, "read" | "virtualSize">): { boot: Boot; notes: string[] } {
  try {
    return bootFrom(disk);
  } catch (error) {
    if (error instanceof OutsideWindow)
      return { boot: "unknown", notes: ["its partition table was not kept while it was read"] };
    if (!(error instanceof Fault)) throw error;
    return { boot: "unknown", notes: [`its partition table could not be read: ${error.message}`] };
  }
}

function bootFrom(disk: Pick<Disk, "read" | "virtualSize">): { boot: Boot; notes: string[] } {
  if (disk.virtualSize < 1024) return { boot: "unknown", notes: [] };
  const mbr = fieldsOf(disk.read(0, 512), "little", "its boot sector");
  if (mbr.u16(510) !== 0xaa55) return { boot: "unknown", notes: [] };
  const types = [446, 462, 478, 494].map((at) => mbr.u8(at + 4)).filter((type) => type !== 0);
  const isBios = types.some((type) => type !== mbrProtective && type !== mbrEfiSystem);
  if (!types.includes(mbrProtective))
    return { boot: bootName(isBios, types.includes(mbrEfiSystem)), notes: [] };
  const ids = [512, 4096].map((sector) => gptTypes(disk, sector)).find((found) => found !== undefined);
  if (!ids) return { boot: bootName(isBios, false), notes: ["its GPT is damaged"] };
  const hasBios = isBios || ids.some(({ id, isLegacyBootable }) => id === biosBoot || isLegacyBootable);
  const hasEfi = ids.some(({ id }) => id === efiSystem);
  return { boot: bootName(hasBios, hasEfi), notes: [] };
}

const bootName = (isBios: boolean, isEfi: boolean): Boot =>
  isBios && isEfi ? "both" : isBios ? "bios" : isEfi ? "efi" : "unknown";

function gptTypes({ read, virtualSize }: Pick<Disk, "read" | "virtualSize">, sector: number) {
  if (virtualSize < 2 * sector) return undefined;
  const header = fieldsOf(read(sector, 512), "little", "its GPT");
  if (header.text(0, 8) !== "EFI PART" || !isHeaderSound(header)) return undefined;
  const [from, count, width] = [header.u64(72) * sector, header.u32(80), header.u32(84)];
  const size = count * width;
  if (width < 128 || size > maxTableBytes || from + size > virtualSize) return undefined;
  const table = fieldsOf(read(from, size), "little", "its GPT");
  if (crc32(table.bytes) !== header.u32(88)) return undefined;
  return Array.from({ length: count }, (_, index) => ({
    id: table.guid(index * width),
    isLegacyBootable: (table.u8(index * width + 48) & 4) !== 0,
  }));
}

function isHeaderSound(header: Fields): boolean {
  const size = header.u32(12);
  if (size < 92 || size > 512) return false;
  const bytes = Uint8Array.from(header.bytes.subarray(0, size));
  bytes.fill(0, 16, 20);
  return crc32(bytes) === header.u32(16);
}

import type { Inspection } from "../inspection.ts";
import type { Boot } from "./boot.ts";

/** Requirements of the platform that a package type is for. */
interface Requirements {
  /** Accepted inspection types. */
  types: readonly string[];
  boot?: readonly Boot[];
  /** Further requirement; returns a warning if it is not met. */
  also?: (inspection: Inspection) => string | undefined;
}

const mebibyte = 2 ** 20;
const gibibyte = 2 ** 30;

const efi: readonly Boot[] = ["efi", "both"];
/** An image without a partition table may boot from its first sector. */
const bios: readonly Boot[] = ["bios", "both", "unknown"];

const requirements: Readonly<Record<string, Requirements>> = {
  xz: { types: ["tar"], also: xz },
  qcow: { types: ["qcow2"], boot: bios },
  "qcow-efi": { types: ["qcow2"], boot: efi },
  esxi: { types: ["ova", "vmdk"] },
  vmware: { types: ["vmdk", "ova"] },
  xen: { types: ["xva", "vhd", "qcow2", "raw"] },
  // https://learn.microsoft.com/azure/virtual-machines/linux/create-upload-generic
  azure: { types: ["vhd"], also: azure },
  hyperv: { types: ["vhdx", "vhd"] },
  // https://docs.aws.amazon.com/vm-import/latest/userguide/vmimport-image-import.html
  amazon: { types: ["raw", "vhd", "vhdx", "vmdk", "ova"] },
  proxmox: { types: ["vma", "qcow2", "raw"] },
  // https://cloud.google.com/compute/docs/import/import-existing-image
  gce: { types: ["gce"], boot: [...bios, "efi"], also: google },
  "gce-efi": { types: ["gce"], boot: efi, also: google },
  incus: { types: ["incus", "qcow2"] },
};

/** Warnings, one sentence each, if the platform may refuse an image. Types that are not in the table give none. */
export function fitsPackageType(inspection: Inspection, packageType: string): string[] {
  const wanted = Object.hasOwn(requirements, packageType) ? requirements[packageType] : undefined;
  if (!wanted) return [];
  const { types, boot, also } = wanted;
  if (!types.includes(inspection.type))
    return [`it is ${inspection.type}, expected ${types.join(" or ")} for ${packageType}`];
  const found = inspection.facts.boot ?? "unknown";
  const boots = !boot || boot.some((name) => name === found) ? undefined : misfit(boot, found, packageType);
  return [boots, also?.(inspection)].filter((warning) => warning !== undefined);
}

const misfit = (boot: readonly Boot[], found: unknown, packageType: string): string =>
  boot === efi
    ? `it has no EFI system partition (boot: ${found}), expected one for ${packageType}`
    : `it boots with ${found} only, expected BIOS for ${packageType}`;

function xz({ facts: { compression } }: Inspection): string | undefined {
  return compression === "xz" ? undefined : `it is compressed with ${compression ?? "nothing"}, expected xz`;
}

function azure({ facts: { variant, virtual_size: size } }: Inspection): string | undefined {
  if (variant !== "fixed") return `it is a ${variant} VHD, Azure takes fixed ones only`;
  if (Number(size) % mebibyte === 0) return undefined;
  return `its disk has ${size} bytes, Azure takes whole mebibytes only`;
}

function google({ facts: { compression, virtual_size: size } }: Inspection): string | undefined {
  if (compression !== "gzip")
    return `it is compressed with ${compression ?? "nothing"}, Google takes gzip only`;
  if (Number(size) % gibibyte === 0) return undefined;
  return `its disk has ${size} bytes, Google takes whole gibibytes only`;
}

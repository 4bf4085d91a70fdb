import { expect, test } from "vitest";
import { fitsPackageType } from "../../inspect/images/platform-requirements.ts";
import { type Fact, inspection } from "../../inspect/inspection.ts";
import { defaultPackageTypes } from "../../shared/package-types.ts";
import { bytesOf } from "../support/artifacts.ts";
import { inspected } from "../support/images.ts";

const gibibyte = 2 ** 30;
const disk = (type: string, facts: Readonly<Record<string, Fact>>) => inspection(type, "ok", { facts });

test.each<[string, string, Readonly<Record<string, Fact>>, string[]]>([
  ["qcow", "qcow2", { boot: "bios" }, []],
  ["qcow", "qcow2", { boot: "unknown" }, []],
  ["qcow", "qcow2", { boot: "efi" }, ["it boots with efi only, expected BIOS for qcow"]],
  ["qcow", "raw", {}, ["it is raw, expected qcow2 for qcow"]],
  ["qcow-efi", "qcow2", { boot: "efi" }, []],
  ["qcow-efi", "qcow2", { boot: "both" }, []],
  [
    "qcow-efi",
    "qcow2",
    { boot: "bios" },
    ["it has no EFI system partition (boot: bios), expected one for qcow-efi"],
  ],
  ["qcow-efi", "qcow2", {}, ["it has no EFI system partition (boot: unknown), expected one for qcow-efi"]],
  ["azure", "vhd", { variant: "fixed", virtual_size: 5 * 2 ** 20 }, []],
  [
    "azure",
    "vhd",
    { variant: "fixed", virtual_size: 5 * 2 ** 20 + 512 },
    ["its disk has 5243392 bytes, Azure takes whole mebibytes only"],
  ],
  [
    "azure",
    "vhd",
    { variant: "dynamic", virtual_size: 2 ** 20 },
    ["it is a dynamic VHD, Azure takes fixed ones only"],
  ],
  ["azure", "vhdx", {}, ["it is vhdx, expected vhd for azure"]],
  ["gce", "gce", { compression: "gzip", virtual_size: gibibyte }, []],
  [
    "gce",
    "gce",
    { compression: "gzip", virtual_size: gibibyte + 512 },
    ["its disk has 1073742336 bytes, Google takes whole gibibytes only"],
  ],
  [
    "gce",
    "gce",
    { compression: "xz", virtual_size: gibibyte },
    ["it is compressed with xz, Google takes gzip only"],
  ],
  ["gce", "raw", {}, ["it is raw, expected gce for gce"]],
  ["gce-efi", "gce", { compression: "gzip", virtual_size: gibibyte, boot: "efi" }, []],
  [
    "gce-efi",
    "gce",
    { virtual_size: 1 },
    [
      "it has no EFI system partition (boot: unknown), expected one for gce-efi",
      "it is compressed with nothing, Google takes gzip only",
    ],
  ],
  ["hyperv", "vhdx", {}, []],
  ["esxi", "ova", {}, []],
  ["vmware", "vmdk", {}, []],
  ["xen", "xva", {}, []],
  ["proxmox", "vma", {}, []],
  ["incus", "incus", {}, []],
  ["amazon", "raw", {}, []],
  ["amazon", "qcow2", {}, ["it is qcow2, expected raw or vhd or vhdx or vmdk or ova for amazon"]],
  ["xz", "tar", { compression: "xz" }, []],
  ["xz", "tar", { compression: "gzip" }, ["it is compressed with gzip, expected xz"]],
  ["a-type-of-its-own", "qcow2", {}, []],
  ["constructor", "qcow2", {}, []],
])("%s with %s, %j", (packageType, type, facts, warnings) => {
  expect(fitsPackageType(disk(type, facts), packageType)).toEqual(warnings);
});

test("every type of image has a requirement", () => {
  const images = Object.entries(defaultPackageTypes).filter(([, { kind }]) => kind === "image");
  for (const [packageType] of images) expect(fitsPackageType(disk("deb", {}), packageType)).toHaveLength(1);
});

test("the images of the fixtures fit their names", async () => {
  const inspection = await inspected(bytesOf("vm/acme-1.2.3-efi.qcow2"));
  expect(fitsPackageType(inspection, "qcow-efi")).toEqual([]);
  expect(fitsPackageType(inspection, "qcow")).toHaveLength(1);
});

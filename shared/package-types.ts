/** Kinds of artifacts; images, clients and charts have different rules. */
export const kinds = ["client", "image", "chart"] as const;
export type Kind = (typeof kinds)[number];

export interface PackageType {
  operating_system: string;
  platform: number;
  kind: Kind;
  description: string;
}

const row = (operating_system: string, platform: number, kind: Kind, description: string): PackageType => ({
  operating_system,
  platform,
  kind,
  description,
});

/**
 * The built-in table. Operating systems keep their case: `linux` for packages, `Linux` for images. Changes
 * affect published content, so they need a major version.
 */
export const defaultPackageTypes: Readonly<Record<string, PackageType>> = {
  helm: row("kubernetes", 8, "chart", "Kubernetes chart"),
  rpm: row("linux", 14, "client", "Linux package (RPM)"),
  deb: row("linux", 7, "client", "Linux package (Debian, Ubuntu)"),
  xz: row("linux", 17, "client", "Linux package archive"),
  pkg: row("macos", 5, "client", "macOS installer"),
  msi: row("windows", 4, "client", "Windows installer"),
  qcow: row("Linux", 11, "image", "Controller image for KVM"),
  "qcow-efi": row("Linux", 11, "image", "Controller image for KVM, UEFI"),
  esxi: row("Linux", 12, "image", "Controller image for VMware ESXi"),
  vmware: row("Linux", 12, "image", "Controller image for VMware"),
  xen: row("Linux", 13, "image", "Controller image for Xen"),
  azure: row("Linux", 6, "image", "Controller image for Azure"),
  hyperv: row("Linux", 9, "image", "Controller image for Hyper-V"),
  amazon: row("Linux", 3, "image", "Controller image for AWS"),
  proxmox: row("Linux", 10, "image", "Controller image for Proxmox"),
  gce: row("Linux", 2, "image", "Controller image for GCP"),
  "gce-efi": row("Linux", 2, "image", "Controller image for GCP, UEFI"),
  incus: row("Linux", 15, "image", "Controller image for Incus"),
};

/** Names of image formats in nixpkgs that differ from ours; build outputs and `ingest:` rules may use them. */
const nixpkgsNames: Readonly<Record<string, string>> = {
  qemu: "qcow",
  "qemu-efi": "qcow-efi",
  "google-compute": "gce",
  "google-compute-efi": "gce-efi",
  lxc: "incus",
};

/** Translates a name of nixpkgs to ours, unless the table has a type with that name. */
export function resolveAlias(type: string, table: ReadonlyMap<string, unknown>): string {
  const ours = Object.hasOwn(nixpkgsNames, type) ? nixpkgsNames[type] : undefined;
  return table.has(type) || ours === undefined ? type : ours;
}

/** Names of the platform numbers; the configuration may change and extend them. */
export const defaultPlatforms: Readonly<Record<string, string>> = {
  "2": "GCP",
  "3": "AWS",
  "4": "Windows",
  "5": "macOS",
  "6": "Azure",
  "7": "Debian and Ubuntu",
  "8": "Kubernetes",
  "9": "Hyper-V",
  "10": "Proxmox",
  "11": "KVM",
  "12": "VMware",
  "13": "Xen",
  "14": "RPM Linux",
  "15": "Incus",
  "17": "Linux",
};

/** Clients first, then the chart, then images for hosts of one's own, then those for clouds. */
export const defaultPlatformOrder: readonly number[] = [7, 14, 17, 5, 4, 8, 11, 10, 12, 9, 13, 15, 3, 6, 2];

/** Folder of a platform's page: characters outside A-Za-z0-9.- become dashes. A name of dots is refused. */
export const platformFolder = (name: string) => name.replace(/[^A-Za-z0-9.-]/g, "-");

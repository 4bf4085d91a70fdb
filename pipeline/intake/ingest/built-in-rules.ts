/** A disk image may be compressed. */
const disk = (name: string) => new RegExp(`${name}(\\.(gz|xz|zst|bz2))?$`);

/**
 * What files with these names almost always are; the first match wins. A project's `ingest:` rules and what a build
 * says of a file count before them.
 */
const rules: readonly [name: RegExp, packageType: string][] = [
  [/\.rpm$/, "rpm"],
  [/\.deb$/, "deb"],
  [/\.msi$/, "msi"],
  [/\.pkg$/, "pkg"],
  // As `helm package` names charts; other .tgz files may be anything.
  [/.-\d+\.\d+\.\d+[^/]*\.tgz$/, "helm"],
  [disk("efi.*\\.qcow2"), "qcow-efi"],
  [disk("\\.qcow2"), "qcow"],
  [disk("esxi.*\\.(ova|vmdk)"), "esxi"],
  [disk("\\.(ova|vmdk)"), "vmware"],
  [disk("(amazon|aws).*\\.vhd"), "amazon"],
  [disk("xen.*\\.vhd"), "xen"],
  [disk("hyper-?v.*\\.vhd"), "hyperv"],
  [disk("azure.*\\.vhdx"), "azure"],
  [disk("\\.vhdx"), "hyperv"],
  [disk("\\.vhd"), "azure"],
  [disk("\\.xva"), "xen"],
];

/** The package type that a name's ending stands for, where neither the project nor the build says one. */
export const usualType = (file: string): string | undefined => rules.find(([name]) => name.test(file))?.[1];

/** A disk image may be compressed. */
const disk = (name: string) => new RegExp(`${name}(\\.(gz|xz|zst|bz2))?$`);

/**
 * Package types by file name; the first match wins. A project's `ingest:` rules and the build's own
 * information take precedence.
 */
const rules: readonly [name: RegExp, packageType: string][] = [
  [/\.rpm$/, "rpm"],
  [/\.deb$/, "deb"],
  [/\.msi$/, "msi"],
  [/\.pkg$/, "pkg"],
  // Names written by `helm package`; other .tgz files may be anything.
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

/** Package type by file name ending, if neither the project nor the build gives one. */
export const usualType = (file: string): string | undefined => rules.find(([name]) => name.test(file))?.[1];

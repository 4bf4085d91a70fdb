const disk = "it needs no other file; its tables are inside the file and do not overlap; it has no signature";

/** The checks behind `ok`, by file type; docs/inspection.md has the same text. */
export const checks: Readonly<Record<string, string>> = {
  rpm: "every signature that relcat can read, digests of header and payload, signatures of the files inside",
  deb: "every signature, over exactly debian-binary, control and data; both archives unpack",
  msi: "signature over all streams, chain to an allowed certificate, timestamp; signatures of the executables inside",
  pe: "Authenticode signature over the file, page hashes, chain to an allowed certificate, timestamp",
  pkg: "signatures over the table of contents, chain to an allowed certificate, digest of every file; code signatures inside",
  macho: "code signature of each architecture: hash of every page, chain to an allowed certificate",
  helm: "signature of the provenance file next to it, which contains the name and digest of this file and the name and version of the chart",
  "helm-prov": "signature; file name, digest, name and version of the chart next to it",
  openpgp: "signature of the file next to it, or of a list of checksums and of the listed files next to it",
  tar: "its checksums; every path and link stays inside; it has no signature",
  qcow2: disk,
  vmdk: disk,
  vhd: `checksums of footer and header; ${disk}`,
  vhdx: `checksums of headers and tables; ${disk}`,
  vdi: disk,
  raw: "size and partition table; it has no signature",
  ova: "order of its files, digests in its manifest, certificate if there is one; its disks as files of their own type",
  gce: "contains one disk.raw and nothing else; it has no signature",
  incus: "metadata.yaml; it has no signature",
  xva: "description, order and checksums of the chunks; it has no signature",
  vma: "checksums of header and extents; every cluster belongs to a disk; it has no signature",
};

export const checksOf = (type: string): string => checks[type] ?? "its format; it has no signature";

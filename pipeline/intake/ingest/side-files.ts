/** Files that builds write next to what people download, with the reason for leaving them out. */
const sideFiles: readonly [name: RegExp, reason: string][] = [
  [/(^|[._-])sha256sums?(\.txt)?$/i, "a checksum file; --sums reads it"],
  [/\.sha256(sum)?$/i, "a checksum file; --sums reads it"],
  [/(^|[._-])(sha(1|224|384|512)|md5|b2)sums?(\.txt)?$/i, "a checksum file"],
  [/\.(md5|sha1|sha224|sha384|sha512|b2|b3)(sum)?$/i, "a checksum file"],
  [/\.(asc|sig|minisig|sign|p7s)$/i, "a signature"],
  [/\.(sigstore|sigstore\.json|bundle\.sigstore|intoto\.jsonl)$/i, "a signed statement"],
  [/\.(sbom|spdx|cdx|cyclonedx)(\.(json|xml|ya?ml|rdf|tv))?$/i, "a list of components"],
];

/** Reason why a file is not for download, by its usual name; undefined: it may be. */
export const sideFileReason = (name: string): string | undefined =>
  sideFiles.find(([pattern]) => pattern.test(name))?.[1];

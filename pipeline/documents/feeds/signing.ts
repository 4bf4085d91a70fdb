/**
 * Whether `sign` signs the feeds. If not, `build` writes complete files that switch the check off: `Trusted: yes` for apt, `repo_gpgcheck=0` for yum.
 * @param isProvisional whether anything in the build is not permanent
 */
export const areFeedsSigned = (
  { trust, feedKeys }: { trust: { profile: string }; feedKeys: readonly { state: string }[] },
  isProvisional: boolean,
): boolean => trust.profile !== "none" && !isProvisional && feedKeys.some(({ state }) => state === "signing");

/**
 * Release file as `build` writes it, without Date and Valid-Until, which `sign` puts before the line `SHA256:`.
 * In a signed build `sign` owns Release itself, next to InRelease and Release.gpg.
 */
export const releaseBody = (suite: string, isSigned: boolean): string =>
  `dists/${suite}/${isSigned ? "Release.undated" : "Release"}`;

/**
 * Index of a yum repository as `build` writes it. `sign` adds repomd.xml.asc next to it, and copies it with every file
 * that its folder has into `yumFolder`. It dates the signature by `<revision>`, in seconds since 1970.
 */
export const repomdPath = (repo: string): string => `yum/${repo}/repodata/repomd.xml`;

/** Names the repository's current folder; written by `build` only if the build is not signed. */
export const mirrorlistPath = (repo: string): string => `yum/${repo}.mirrorlist`;

/** The folder has the indexes. The site's root is for zypper, which looks for a package below each line in order. */
export const mirrorlistText = (baseUrl: string, folder: string): string =>
  `${baseUrl}/${folder}/\n${baseUrl}/\n`;

/** All certificates that are not retired. */
export const keysPath = (product: string): string => `keys/${feedSlug(product)}.asc`;

export const certificatePath = (fingerprint: string): string => `keys/${fingerprint}.asc`;

/** A product's name in the names of its `.sources`, `.repo` and key files. */
export const feedSlug = (product: string): string =>
  product
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "") || "repository";

/**
 * `build` leaves out the identity of the signer, and in the list dates and digests, which `sign` adds in the signed file.
 * @param version undefined: the list of releases
 */
export function packslipPath(version: string | undefined, kind: "unsigned" | "sigstore"): string {
  if (version !== undefined) return `releases/${version}/packslip.${kind}.json`;
  return kind === "sigstore" ? ".well-known/packslip.json" : ".well-known/packslip.unsigned.json";
}

/** Public half of the key of packslip, as minisign writes it. */
export const packslipKeyPath = "keys/packslip.pub";

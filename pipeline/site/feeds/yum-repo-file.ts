import { feedSlug, mirrorlistPath } from "../../documents/feeds/signing.ts";
import type { SiteConfig } from "../../documents/published.ts";

/** How clients check a repository. */
export interface RepoSettings {
  repo: string;
  /** Whether repomd.xml is signed. */
  isSigned: boolean;
  /** Whether each rpm is signed under a certificate that `keys` has. */
  arePackagesSigned: boolean;
  /** Paths of certificates, below the site's root. */
  keys: readonly string[];
}

/** Path of a repository's settings, which clients copy into /etc/yum.repos.d or /etc/zypp/repos.d. */
export const repoFilePath = (repo: string, product: string): string => `${feedSlug(product)}-${repo}.repo`;

/** It names the mirrorlist: the folder that it leads to never changes, so that no client reads half a publish. */
export function repoFile(
  { repo, isSigned, arePackagesSigned, keys }: RepoSettings,
  { product, baseUrl }: Pick<SiteConfig, "product" | "baseUrl">,
): string {
  const lines = [
    `[${feedSlug(product)}-${repo}]`,
    `name=${product} (${repo})`,
    `mirrorlist=${baseUrl}/${mirrorlistPath(repo)}`,
    "enabled=1",
    "autorefresh=1",
    `repo_gpgcheck=${Number(isSigned)}`,
    `gpgcheck=${Number(arePackagesSigned)}`,
    ...(keys.length > 0 ? [`gpgkey=${keys.map((path) => `${baseUrl}/${path}`).join("\n       ")}`] : []),
  ];
  return `${lines.join("\n")}\n`;
}

import { feedSlug } from "../../documents/feeds/signing.ts";
import type { SiteConfig } from "../../documents/published.ts";
import type { YumPackage } from "./yum-rows.ts";

/** Certificates that clients need to check the rpms themselves. */
export interface RpmSigners {
  /** Whether each rpm was signed under one of them. */
  areAll: boolean;
  certificates: { path: string; armored: string }[];
}

/** Clients check either all rpms of a repository or none. */
export function rpmSignersOf(
  packages: readonly YumPackage[],
  { product, rpmSigners }: Pick<SiteConfig, "product" | "rpmSigners">,
): RpmSigners {
  const used = new Set(packages.map(({ keyId }) => keyId));
  const signers = rpmSigners.filter(({ keyIds }) => keyIds.some((id) => used.has(id)));
  const known = new Set(signers.flatMap(({ keyIds }) => keyIds));
  const areAll = used.size > 0 && [...used].every((id) => id !== null && known.has(id));
  const certificates = signers.map(({ keyIds: [id = ""], armored }) => ({
    path: `keys/${feedSlug(product)}-rpm-${id}.asc`,
    armored,
  }));
  return { areAll, certificates: areAll ? certificates : [] };
}

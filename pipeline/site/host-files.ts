import { packslipPath } from "../documents/feeds/signing.ts";
import type { SiteConfig } from "../documents/published.ts";
import { securityPath } from "../documents/site.ts";
import { packslipProject } from "./feeds/packslip.ts";
import { securityAddress } from "./security-contact.ts";

/** Files that clients look for at the root of a host, if the site has them elsewhere. */
export function hostFiles(config: SiteConfig) {
  const { security, feeds, baseUrl } = config;
  const list = packslipPath(undefined, "sigstore");
  const files = [
    ...(security ? [{ path: securityPath, address: securityAddress(baseUrl) }] : []),
    ...(feeds.packslip ? [{ path: list, address: `https://${packslipProject(config)}/${list}` }] : []),
  ];
  return files.filter(({ path, address }) => address !== `${baseUrl}/${path}`);
}

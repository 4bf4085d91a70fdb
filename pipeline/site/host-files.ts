import { packslipPath } from "../documents/feeds/signing.ts";
import type { OutputFile, SiteConfig } from "../documents/published.ts";
import { securityPath, undatedSecurityPath } from "../documents/site.ts";
import { packslipProject } from "./feeds/packslip.ts";
import { textFile } from "./output.ts";

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

/** security.txt (RFC 9116) without its end, if the configuration has a contact. */
export function securityFiles({ security, baseUrl }: Pick<SiteConfig, "security" | "baseUrl">): OutputFile[] {
  if (!security) return [];
  const { contact, policy, languages = [] } = security;
  const lines = [
    ...contact.map((address) => `Contact: ${address}`),
    ...(policy === undefined ? [] : [`Policy: ${policy}`]),
    ...(languages.length > 0 ? [`Preferred-Languages: ${languages.join(", ")}`] : []),
    `Canonical: ${securityAddress(baseUrl)}`,
  ];
  return [textFile(undatedSecurityPath, lines.map((line) => `${line}\n`).join(""))];
}

/** Readers look for the file at the root of the host. */
const securityAddress = (baseUrl: string): string => new URL(`/${securityPath}`, baseUrl).href;

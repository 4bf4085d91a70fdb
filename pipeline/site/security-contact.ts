import type { OutputFile, SiteConfig } from "../documents/published.ts";
import { securityPath, undatedSecurityPath } from "../documents/site.ts";
import { textFile } from "./output.ts";

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
export const securityAddress = (baseUrl: string): string => new URL(`/${securityPath}`, baseUrl).href;

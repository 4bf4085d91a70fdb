import { feedKeyring } from "../../documents/feeds/keys.ts";
import type { AptSuite } from "../../documents/feeds/settings.ts";
import { feedSlug, keysPath } from "../../documents/feeds/signing.ts";
import type { OutputFile, SiteConfig } from "../../documents/published.ts";
import { compareOsVersions, isUbuntu } from "../../selection/feed-indexes.ts";
import { textFile } from "../output.ts";

type Site = Pick<SiteConfig, "product" | "baseUrl" | "feedKeys">;

export const sourcesName = (suite: string, product: string): string =>
  `${feedSlug(product)}-${suite}.sources`;

/** `{product}-{suite}.sources` has all that a machine needs to know of the repository (sources.list(5)). */
export function sourcesFile(
  suite: AptSuite,
  architectures: readonly string[],
  site: Site,
  isSigned: boolean,
): OutputFile {
  const { product, baseUrl } = site;
  const file = sourcesName(suite.name, product);
  const hasKeyFile = isSigned && needsKeyFile(suite);
  const lines = [
    `# ${product} for ${suite.name}. To use this repository:`,
    ...(hasKeyFile
      ? [
          "#   install -d -m 0755 /etc/apt/keyrings",
          `#   curl -fsSL ${baseUrl}/${keysPath(product)} -o ${keyFile(product)}`,
        ]
      : []),
    `#   curl -fsSL ${baseUrl}/${file} -o /etc/apt/sources.list.d/${file}`,
    "Types: deb",
    `URIs: ${baseUrl}/`,
    `Suites: ${suite.name}`,
    "Components: main",
    `Architectures: ${architectures.join(" ")}`,
    ...(isSigned ? signedBy(hasKeyFile, site) : ["Trusted: yes"]),
  ];
  return textFile(file, `${lines.join("\n")}\n`);
}

/** Where old versions of apt look for the certificate. */
export const keyFile = (product: string) => `/etc/apt/keyrings/${feedSlug(product)}.asc`;

function signedBy(hasKeyFile: boolean, { product, feedKeys }: Site): string[] {
  if (hasKeyFile) return [`Signed-By: ${keyFile(product)}`];
  const lines = feedKeyring(feedKeys).trimEnd().split("\n");
  return ["Signed-By:", ...lines.map((line) => ` ${line === "" ? "." : line}`)];
}

const oldNames = new Set(["trusty", "xenial", "bionic", "focal", "jessie", "stretch", "buster", "bullseye"]);

/** apt before 2.3.10 reads no key inside a .sources file: up to Ubuntu 21.10 and Debian 11. */
export const needsKeyFile = ({ name, version }: AptSuite): boolean =>
  oldNames.has(name) ||
  (version !== undefined && compareOsVersions(version, isUbuntu(version) ? "22.04" : "12") < 0);

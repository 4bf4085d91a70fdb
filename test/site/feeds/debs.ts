import type { AptSettings } from "../../../pipeline/documents/feeds/settings.ts";
import type { PublishedPackage, SiteConfig } from "../../../pipeline/documents/published.ts";
import { aptFeed } from "../../../pipeline/site/feeds/apt.ts";
import type { DebMetadata } from "../../../shared/package-metadata.ts";
import { configOf, packageOf, releaseOf } from "../pages/factory.ts";

export interface Deb {
  name?: string;
  version?: string;
  arch?: DebMetadata["arch"];
  file?: string;
  min?: string;
  max?: string;
  size?: number | null;
  url?: string;
  control?: string;
}

/** The smallest control paragraph that dpkg accepts. */
export const controlOf = (name: string, version: string, arch: string): string =>
  [
    `Package: ${name}`,
    `Version: ${version}`,
    `Architecture: ${arch}`,
    "Maintainer: Example <releases@example.com>",
    "Description: An example",
  ].join("\n");

/** A published deb below the site. */
export function debOf(id: number, deb: Deb = {}): PublishedPackage {
  const {
    name = "tool",
    version = `1.${id}`,
    arch = "amd64",
    min = null,
    max = null,
    size = 1000 + id,
  } = deb;
  const file = deb.file ?? `${name}_${version}_${arch}.deb`;
  const published = packageOf(id, {
    name: file,
    package_type: "deb",
    min_os_version: min,
    max_os_version: max,
    size,
    url: deb.url ?? `https://downloads.example.com/base/files/26.08.002/${encodeURIComponent(file)}`,
  });
  const control = deb.control ?? controlOf(name, version, arch);
  return { ...published, metadata: { type: "deb", arch, control } };
}

export const aptSettings: AptSettings = {
  suites: [{ name: "stable", version: undefined, match: undefined }],
  origin: "Example",
  label: "Example",
  architectures: ["amd64", "arm64"],
  validDays: 14,
};

export const suiteOf = (name: string, version?: string, match?: string) => ({ name, version, match });

export interface Repository {
  suites?: AptSettings["suites"];
  config?: Partial<SiteConfig>;
  isSigned?: boolean;
}

/** The feed of one release's packages. */
export function repositoryOf(
  packages: readonly PublishedPackage[],
  { suites, config, isSigned = false }: Repository = {},
) {
  const site = configOf({ feeds: { apt: { ...aptSettings, ...(suites && { suites }) } }, ...config });
  const { rows, omitted } = aptFeed.part(releaseOf("26.08.002", { packages: [...packages] }), site);
  const groups = [...aptFeed.groups(rows, site, isSigned)];
  const files = new Map(
    groups.flatMap(({ files }) =>
      [...files].map(({ path, chunks }) => [path, Buffer.concat([...chunks])] as const),
    ),
  );
  const text = (path: string) => {
    const bytes = files.get(path);
    if (!bytes) throw new Error(`${path} is not among ${[...files.keys()].join(", ")}`);
    return bytes.toString("utf8");
  };
  const stanzas = (suite: string, architecture: string) =>
    text(`dists/${suite}/main/binary-${architecture}/Packages`)
      .split("\n\n")
      .filter((stanza) => stanza !== "");
  const names = (suite: string, architecture: string) =>
    stanzas(suite, architecture).map((stanza) => /^Package: (.*)$/m.exec(stanza)?.[1]);
  const keys = new Map(groups.map(({ name, key }) => [name, key]));
  const hidden = aptFeed.indexes(rows, site).flatMap((index) => index.replaced);
  return { files, text, stanzas, names, keys, omitted, hidden };
}

import type { PublishedPackage, SiteConfig } from "../../../pipeline/documents/published.ts";
import { helmFeed } from "../../../pipeline/site/feeds/helm.ts";
import type { ChartMetadata } from "../../../shared/package-metadata.ts";
import { configOf, packageOf, releaseOf } from "../pages/factory.ts";

export interface ChartOptions {
  name?: string;
  version?: string;
  file?: string;
  url?: string;
  size?: number | null;
  /** More fields of Chart.yaml. */
  fields?: Readonly<Record<string, unknown>>;
  documents?: PublishedPackage["documents"];
}

/** A published chart below the site. */
export function chartOf(id: number, options: ChartOptions = {}): PublishedPackage {
  const { name = "agent", version = `26.8.${id}`, size = 1000 + id, fields = {}, documents } = options;
  const file = options.file ?? `${name}-${version}.tgz`;
  const url = options.url ?? `https://downloads.example.com/base/files/26.08.002/${encodeURIComponent(file)}`;
  const published = packageOf(id, { name: file, package_type: "helm", size, url });
  const chart: ChartMetadata["chart"] = { apiVersion: "v2", name, version, ...fields };
  return { ...published, metadata: { type: "helm", chart }, ...(documents && { documents }) };
}

/** The feed of one release's charts. */
export function chartRepository(packages: readonly PublishedPackage[], config: Partial<SiteConfig> = {}) {
  const site = configOf({ feeds: { helm: { oci: false, indexes: [{ folder: "" }] } }, ...config });
  const { rows, omitted } = helmFeed.part(releaseOf("26.08.002", { packages: [...packages] }), site);
  const groups = [...helmFeed.groups(rows, site, false)];
  const files = new Map(
    groups.flatMap(({ files }) =>
      [...files].map(({ path, chunks }) => [path, Buffer.concat([...chunks])] as const),
    ),
  );
  return {
    files,
    omitted,
    hidden: helmFeed.indexes(rows, site).flatMap((index) => index.replaced),
    tags: helmFeed.tags?.(rows, site),
    copies: helmFeed.copies?.(rows, site),
  };
}

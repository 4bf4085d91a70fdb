import { hash } from "node:crypto";
import type { OutputFile, PublishedPackage } from "../../documents/published.ts";
import type { BuildCopies } from "../../documents/site.ts";
import { jsonFile, textFile } from "../output.ts";
import { type FeedLocation, feedLocation } from "./feed.ts";
import type { Chart } from "./helm-chart.ts";

/** The files of a chart that a registry serves. */
export interface ChartFiles {
  archive: FeedLocation;
  provenance: FeedLocation | null;
}

/** A chart in the registry. */
export interface RegistryChart {
  chart: Chart;
  created: string;
  files: ChartFiles;
}

/** @returns a reason for a chart that the registry cannot have */
export function chartFiles(entry: PublishedPackage, chart: Chart, baseUrl: string): ChartFiles | string {
  if (!/^[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*$/.test(chart.name))
    return `${JSON.stringify(chart.name)} is not a name that an OCI registry accepts`;
  if (chart.version.length > maxTagLength) return `its version has more than ${maxTagLength} characters`;
  const archive = feedLocation(entry, baseUrl);
  if (typeof archive === "string") return archive;
  const document = entry.documents?.find(({ format }) => format === "helm-prov");
  if (!document) return { archive, provenance: null };
  const { file, size, sha256 } = document;
  return { archive, provenance: { path: archive.path + file.slice(entry.file.length), size, sha256 } };
}

const maxTagLength = 128;
const types = {
  manifest: "application/vnd.oci.image.manifest.v1+json",
  config: "application/vnd.cncf.helm.config.v1+json",
  archive: "application/vnd.cncf.helm.chart.content.v1.tar+gzip",
  provenance: "application/vnd.cncf.helm.chart.provenance.v1.prov",
};

const repositoryOf = ({ name }: Chart) => `charts/${name}`;
const blobPath = (chart: Chart, sha256: string) => `v2/${repositoryOf(chart)}/blobs/sha256:${sha256}`;
const manifestPath = (chart: Chart, reference: string) => `v2/${repositoryOf(chart)}/manifests/${reference}`;

/** Helm replaces the plus sign, which tags cannot contain. */
const tagOf = ({ version }: Chart): string => version.replaceAll("+", "_");

/** All files of the registry but the layers, which are copies. */
export function* registryFiles(charts: readonly RegistryChart[]): Generator<OutputFile> {
  yield jsonFile("v2/index.json", {});
  for (const entry of charts) {
    const { chart } = entry;
    const config = configOf(chart);
    yield textFile(blobPath(chart, digestOf(config)), config);
    const manifest = manifestOf(entry);
    const path = manifestPath(chart, `sha256:${digestOf(manifest)}`);
    yield textFile(path, manifest);
    yield { ...textFile(manifestPath(chart, tagOf(chart)), manifest), sameAs: path };
  }
  for (const [name, own] of Map.groupBy(charts, ({ chart }) => repositoryOf(chart)))
    yield jsonFile(`v2/${name}/tags/list`, { name, tags: own.map(({ chart }) => tagOf(chart)).sort() });
}

/** Digests of manifests by the paths of their tags. */
export const registryTags = (charts: readonly RegistryChart[]): ReadonlyMap<string, string> =>
  new Map(
    charts.map((entry) => [
      manifestPath(entry.chart, tagOf(entry.chart)),
      `sha256:${digestOf(manifestOf(entry))}`,
    ]),
  );

/** Layers: a build has no bytes of artifacts. */
export const registryCopies = (charts: readonly RegistryChart[]): BuildCopies =>
  Object.fromEntries(
    charts.flatMap(({ chart, files: { archive, provenance } }) =>
      [archive, provenance].flatMap((file) =>
        file
          ? [[blobPath(chart, file.sha256), { from: file.path, sha256: file.sha256, size: file.size }]]
          : [],
      ),
    ),
  );

const configOf = (chart: Chart): string => JSON.stringify(chart);

function manifestOf({ chart, created, files: { archive, provenance } }: RegistryChart): string {
  const config = configOf(chart);
  const layer = (mediaType: string, { sha256, size }: Pick<FeedLocation, "sha256" | "size">) => ({
    mediaType,
    digest: `sha256:${sha256}`,
    size,
  });
  return JSON.stringify({
    schemaVersion: 2,
    mediaType: types.manifest,
    config: layer(types.config, { sha256: digestOf(config), size: Buffer.byteLength(config) }),
    layers: [layer(types.archive, archive), ...(provenance ? [layer(types.provenance, provenance)] : [])],
    annotations: {
      "org.opencontainers.image.created": created,
      "org.opencontainers.image.title": chart.name,
      "org.opencontainers.image.version": chart.version,
    },
  });
}

const digestOf = (text: string): string => hash("sha256", text);

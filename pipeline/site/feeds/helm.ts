import { hash } from "node:crypto";
import { z } from "zod";
import type { ChartMetadata } from "../../../shared/package-metadata.ts";
import type { FeedConfig, OutputFile, OutputGroup, PublishedPackage } from "../../documents/published.ts";
import type { BuildCopies } from "../../documents/site.ts";
import { digestOf } from "../../journal/digest.ts";
import { isOffered } from "../../selection/channels.ts";
import { jsonFile, textFile } from "../output.ts";
import {
  type Feed,
  type FeedLocation,
  feedLocation,
  indexOf,
  noChecksum,
  type OmittedPackage,
  unread,
} from "./feed.ts";

interface ChartFiles {
  archive: FeedLocation;
  provenance: FeedLocation | null;
}

export interface HelmRow {
  id: number;
  file: string;
  chart: Chart;
  url: string;
  sha256: string;
  created: string;
  /** The reason for a chart that the registry cannot have; null: there is no registry. */
  files: ChartFiles | string | null;
  /** Folders of the indexes that list it. */
  folders: readonly string[];
}

type RegistryChart = Pick<HelmRow, "chart" | "created"> & { files: ChartFiles };

export const helmFeed: Feed<HelmRow> = {
  name: "helm",
  part(release, config) {
    const offering = config.feeds.helm?.indexes.filter(({ channel }) => isOffered(release, channel)) ?? [];
    const folders = offering.map(({ folder }) => folder);
    const charts = release.packages.filter(isChart).map((entry) => rowOf(entry, folders, config));
    return {
      rows: charts.flatMap((row) => ("reason" in row ? [] : row)),
      omitted: charts.flatMap((row) => {
        if ("reason" in row) return row;
        const { id, file, files } = row;
        if (typeof files !== "string") return [];
        return { id, file, reason: `the index lists it, but the OCI registry does not: ${files}` };
      }),
    };
  },
  indexes: (rows, config) => foldersOf(config).map((folder) => chartIndex(folder, rows)),
  tags: (rows, config) => registryTags(registryCharts(rows, config)),
  copies: (rows, config) => registryCopies(registryCharts(rows, config)),
  *groups(rows, config) {
    if (config.feeds.helm?.oci) {
      const charts = registryCharts(rows, config);
      const files = { [Symbol.iterator]: () => registryFiles(charts) };
      yield { name: "helm registry", key: digestOf(charts), files };
    }
    for (const folder of foldersOf(config)) yield indexGroup(folder, chartIndex(folder, rows).listed);
  },
};

const foldersOf = ({ feeds }: FeedConfig): string[] =>
  (feeds.helm?.indexes ?? []).map(({ folder }) => folder);

const isChart = ({ metadata, record }: PublishedPackage): boolean =>
  metadata ? metadata.type === "helm" : record.package_type === "helm";

/** Charts may be at any address, unlike packages of other feeds. */
function rowOf(
  entry: PublishedPackage,
  folders: readonly string[],
  { feeds, baseUrl }: FeedConfig,
): HelmRow | OmittedPackage {
  const { metadata, record, file, url } = entry;
  const { id, checksum: sha256, created_date: created } = record;
  if (metadata?.type !== "helm") return { id, file, reason: unread };
  if (!/^[0-9a-f]{64}$/.test(sha256)) return { id, file, reason: noChecksum };
  const chart = indexedChart(metadata);
  if (typeof chart === "string") return { id, file, reason: chart };
  const files = feeds.helm?.oci ? chartFiles(entry, chart, baseUrl) : null;
  return { id, file, chart, url, sha256, created, files, folders };
}

/** @returns a reason for a chart that the registry cannot have */
function chartFiles(entry: PublishedPackage, chart: Chart, baseUrl: string): ChartFiles | string {
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

/** Clients ask for a name and a version. The index of the default channel says what each index leaves out. */
function chartIndex(folder: string, rows: readonly HelmRow[]) {
  const index = indexOf(
    folder.replace("/", ""),
    rows.filter(({ folders }) => folders.includes(folder)),
    ({ chart }) => `${chart.name} ${chart.version}`,
    (identity, id) => `the index lists ${identity} as the file with the id ${id}`,
  );
  return folder === "" ? index : { ...index, replaced: [] };
}

/** A chart in the index. @returns undefined if the feed does not list it */
export function chartAddress(
  entry: PublishedPackage,
  config: FeedConfig,
): { chart: Chart; registry: string | undefined } | undefined {
  if (!config.feeds.helm || !isChart(entry)) return undefined;
  const row = rowOf(entry, [], config);
  if ("reason" in row) return undefined;
  const registry = `oci://${new URL(config.baseUrl).host}/charts/${row.chart.name}`;
  return { chart: row.chart, registry: row.files instanceof Object ? registry : undefined };
}

/** JSON is YAML, and Helm reads it faster. Helm sorts the versions of a chart itself. */
function indexGroup(folder: string, listed: readonly HelmRow[]): OutputGroup {
  const names = [...new Set(listed.map(({ chart }) => chart.name))].sort();
  const entries = names.map((name) => [
    name,
    listed
      .filter(({ chart }) => chart.name === name)
      .map(({ chart, url, sha256, created }) => ({ ...chart, urls: [url], digest: sha256, created })),
  ]);
  const index = { apiVersion: "v1", entries: Object.fromEntries(entries) };
  const files = [jsonFile(`charts/${folder}index.yaml`, index)];
  return { name: `helm ${folder}`.trim(), key: digestOf(index), files };
}

const registryCharts = (rows: readonly HelmRow[], { feeds }: FeedConfig): RegistryChart[] =>
  feeds.helm?.oci
    ? chartIndex("", rows).listed.flatMap(({ chart, created, files }) =>
        files instanceof Object ? [{ chart, created, files }] : [],
      )
    : [];

const types = {
  manifest: "application/vnd.oci.image.manifest.v1+json",
  config: "application/vnd.cncf.helm.config.v1+json",
  archive: "application/vnd.cncf.helm.chart.content.v1.tar+gzip",
  provenance: "application/vnd.cncf.helm.chart.provenance.v1.prov",
};

const blobPath = ({ name }: Chart, sha256: string) => `v2/charts/${name}/blobs/sha256:${sha256}`;
const manifestPath = ({ name }: Chart, reference: string) => `v2/charts/${name}/manifests/${reference}`;

/** Helm replaces the plus sign, which tags cannot contain. */
const tagOf = ({ version }: Chart): string => version.replaceAll("+", "_");

/** All files of the registry but the layers, which are copies. */
function* registryFiles(charts: readonly RegistryChart[]): Generator<OutputFile> {
  yield jsonFile("v2/index.json", {});
  for (const entry of charts) {
    const { chart } = entry;
    const config = JSON.stringify(chart);
    yield textFile(blobPath(chart, hash("sha256", config)), config);
    const manifest = manifestOf(entry);
    const path = manifestPath(chart, `sha256:${hash("sha256", manifest)}`);
    yield textFile(path, manifest);
    yield { ...textFile(manifestPath(chart, tagOf(chart)), manifest), sameAs: path };
  }
  for (const [name, own] of Map.groupBy(charts, ({ chart }) => `charts/${chart.name}`))
    yield jsonFile(`v2/${name}/tags/list`, { name, tags: own.map(({ chart }) => tagOf(chart)).sort() });
}

const registryTags = (charts: readonly RegistryChart[]): ReadonlyMap<string, string> =>
  new Map(
    charts.map((entry) => {
      const path = manifestPath(entry.chart, tagOf(entry.chart));
      return [path, `sha256:${hash("sha256", manifestOf(entry))}`];
    }),
  );

/** Layers: a build has no bytes of artifacts. */
const registryCopies = (charts: readonly RegistryChart[]): BuildCopies =>
  Object.fromEntries(
    charts.flatMap(({ chart, files: { archive, provenance } }) =>
      (provenance ? [archive, provenance] : [archive]).map(({ path, sha256, size }) => [
        blobPath(chart, sha256),
        { from: path, sha256, size },
      ]),
    ),
  );

function manifestOf({ chart, created, files: { archive, provenance } }: RegistryChart): string {
  const config = JSON.stringify(chart);
  const layer = (mediaType: string, { sha256, size }: Pick<FeedLocation, "sha256" | "size">) => {
    return { mediaType, digest: `sha256:${sha256}`, size };
  };
  return JSON.stringify({
    schemaVersion: 2,
    mediaType: types.manifest,
    config: layer(types.config, { sha256: hash("sha256", config), size: Buffer.byteLength(config) }),
    layers: [layer(types.archive, archive), ...(provenance ? [layer(types.provenance, provenance)] : [])],
    annotations: {
      "org.opencontainers.image.created": created,
      "org.opencontainers.image.title": chart.name,
      "org.opencontainers.image.version": chart.version,
    },
  });
}

const text = z.string();
const texts = z.array(text);

/**
 * Fields of Chart.yaml that Helm declares, with their types. Helm before 3.12 refuses a whole index with a field of
 * another name or type in it, so others are left out, and so is a chart with another type.
 */
const chartSchema = z.object({
  apiVersion: text.optional(),
  name: text.regex(/^[A-Za-z0-9._-]{1,250}$/),
  version: text.regex(
    /^v?\d+(?:\.\d+){0,2}(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/,
  ),
  kubeVersion: text.optional(),
  description: text.optional(),
  type: z.enum(["application", "library"]).optional(),
  keywords: texts.optional(),
  home: text.optional(),
  sources: texts.optional(),
  dependencies: z
    .array(
      z.object({
        name: text,
        version: text.optional(),
        repository: text.optional(),
        condition: text.optional(),
        tags: texts.optional(),
        enabled: z.boolean().optional(),
        "import-values": z.array(z.unknown()).optional(),
        alias: text.optional(),
      }),
    )
    .optional(),
  maintainers: z
    .array(z.object({ name: text.optional(), email: text.optional(), url: text.optional() }))
    .optional(),
  icon: text.optional(),
  condition: text.optional(),
  tags: text.optional(),
  appVersion: text.optional(),
  deprecated: z.boolean().optional(),
  annotations: z.record(text, text).optional(),
});

export type Chart = z.infer<typeof chartSchema>;

/** @returns the entry, or the reason why an index cannot contain the chart */
function indexedChart({ chart }: ChartMetadata): Chart | string {
  const { data, error } = chartSchema.safeParse(withoutEmpty(chart));
  if (data) return data;
  const [issue] = error.issues;
  return `${issue?.path.join(".")} of its Chart.yaml is not what Helm accepts`;
}

/** A key without a value is the same as an absent one. */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (!(value instanceof Object)) return value;
  const kept = Object.entries(value).filter(([, inner]) => inner !== "" && inner !== null);
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutEmpty(inner)]));
}

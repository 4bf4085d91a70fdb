import type { FeedConfig, OutputGroup, PublishedPackage } from "../../documents/published.ts";
import { digestOf } from "../../journal/digest.ts";
import { jsonFile } from "../output.ts";
import { type Feed, type OmittedPackage, unread } from "./feed.ts";
import { type Chart, indexedChart } from "./helm-chart.ts";
import {
  type ChartFiles,
  chartFiles,
  type RegistryChart,
  registryCopies,
  registryFiles,
  registryTags,
} from "./helm-registry.ts";

/** A chart as the index lists it. */
export interface HelmRow {
  id: number;
  file: string;
  chart: Chart;
  url: string;
  sha256: string;
  created: string;
  /** Null if it is not in the registry. */
  files: ChartFiles | null;
}

/** A repository of charts for Helm. */
export const helmFeed: Feed<HelmRow> = {
  name: "helm",
  part({ packages }, config) {
    const rows: HelmRow[] = [];
    const omitted: OmittedPackage[] = [];
    for (const entry of packages) {
      if (!isChart(entry)) continue;
      const row = rowOf(entry);
      const omit = (reason: string) => omitted.push({ id: entry.record.id, file: entry.file, reason });
      if (typeof row === "string") omit(row);
      else rows.push({ ...row, files: registryPart(entry, row.chart, config, omit) });
    }
    return { rows, omitted };
  },
  listed: (rows) => [...newestOf(rows).values()].map(({ id }) => ({ index: "", id })),
  omitted(rows) {
    const newest = newestOf(rows);
    return rows.flatMap(({ id, file, chart }) => {
      const listed = newest.get(identityOf(chart))?.id;
      return listed === id
        ? []
        : [{ id, file, reason: `the index lists ${identityOf(chart)} as the file with the id ${listed}` }];
    });
  },
  tags: (rows, config) => registryTags(registryCharts(rows, config)),
  copies: (rows, config) => registryCopies(registryCharts(rows, config)),
  *groups(rows, config) {
    if (config.feeds.helm?.oci) yield registryGroup(registryCharts(rows, config));
    yield indexGroup([...newestOf(rows).values()]);
  },
};

const isChart = ({ metadata, record }: PublishedPackage): boolean =>
  metadata ? metadata.type === "helm" : record.package_type === "helm";

/** A chart in the index. @returns undefined if the feed does not list it */
export function chartAddress(
  entry: PublishedPackage,
  config: FeedConfig,
): { chart: Chart; registry: string | undefined } | undefined {
  const row = config.feeds.helm && isChart(entry) ? rowOf(entry) : undefined;
  if (row === undefined || typeof row === "string") return undefined;
  const isInRegistry = registryPart(entry, row.chart, config, () => {}) !== null;
  const registry = `oci://${new URL(config.baseUrl).host}/charts/${row.chart.name}`;
  return { chart: row.chart, registry: isInRegistry ? registry : undefined };
}

/** Charts may be at any address, unlike packages of other feeds. */
function rowOf({ metadata, record, file, url }: PublishedPackage): Omit<HelmRow, "files"> | string {
  if (metadata?.type !== "helm") return unread;
  if (!/^[0-9a-f]{64}$/.test(record.checksum)) return "it has no checksum";
  const chart = indexedChart(metadata);
  if (typeof chart === "string") return chart;
  return { id: record.id, file, chart, url, sha256: record.checksum, created: record.created_date };
}

/** @param omit called with the reason if the registry cannot have the chart */
function registryPart(
  entry: PublishedPackage,
  chart: Chart,
  { feeds, baseUrl }: FeedConfig,
  omit: (reason: string) => void,
): ChartFiles | null {
  if (!feeds.helm?.oci) return null;
  const files = chartFiles(entry, chart, baseUrl);
  if (typeof files !== "string") return files;
  omit(`the index lists it, but the OCI registry does not: ${files}`);
  return null;
}

const registryCharts = (rows: readonly HelmRow[], { feeds }: FeedConfig): RegistryChart[] =>
  feeds.helm?.oci
    ? [...newestOf(rows).values()].flatMap(({ chart, created, files }) =>
        files ? [{ chart, created, files }] : [],
      )
    : [];

function registryGroup(charts: readonly RegistryChart[]): OutputGroup {
  return {
    name: "helm registry",
    key: digestOf(charts),
    files: { [Symbol.iterator]: () => registryFiles(charts) },
  };
}

const identityOf = ({ name, version }: Chart): string => `${name} ${version}`;

/** Clients ask for a name and a version, so the newest record is listed. */
function newestOf(rows: readonly HelmRow[]): ReadonlyMap<string, HelmRow> {
  const newest = new Map<string, HelmRow>();
  for (const row of rows) {
    const identity = identityOf(row.chart);
    const other = newest.get(identity);
    if (!other || other.id < row.id) newest.set(identity, row);
  }
  return newest;
}

/** JSON is YAML, and Helm reads it faster. Helm sorts the versions of a chart itself. */
function indexGroup(listed: readonly HelmRow[]): OutputGroup {
  const names = [...new Set(listed.map(({ chart }) => chart.name))].sort();
  const entries = names.map((name) => [
    name,
    listed
      .filter(({ chart }) => chart.name === name)
      .map(({ chart, url, sha256, created }) => ({ ...chart, urls: [url], digest: sha256, created })),
  ]);
  const index = { apiVersion: "v1", entries: Object.fromEntries(entries) };
  return { name: "helm", key: digestOf(index), files: [jsonFile("charts/index.yaml", index)] };
}

import type { OutputGroup, PublishedPackage } from "../../documents/published.ts";
import { digestOf } from "../../journal/digest.ts";
import { jsonFile } from "../output.ts";
import type { Feed, OmittedPackage } from "./feed.ts";
import { type Chart, indexedChart } from "./helm-chart.ts";

/** A chart as the index lists it. */
export interface HelmRow {
  id: number;
  file: string;
  chart: Chart;
  url: string;
  sha256: string;
  created: string;
}

/** A repository of charts for Helm. */
export const helmFeed: Feed<HelmRow> = {
  name: "helm",
  part({ packages }) {
    const rows: HelmRow[] = [];
    const omitted: OmittedPackage[] = [];
    for (const entry of packages) {
      if (!isChart(entry)) continue;
      const row = rowOf(entry);
      if (typeof row !== "string") rows.push(row);
      else omitted.push({ id: entry.record.id, file: entry.file, reason: row });
    }
    return { rows, omitted };
  },
  omitted(rows) {
    const newest = newestOf(rows);
    return rows.flatMap(({ id, file, chart }) => {
      const listed = newest.get(identityOf(chart))?.id;
      return listed === id
        ? []
        : [{ id, file, reason: `the index lists ${identityOf(chart)} as the file with the id ${listed}` }];
    });
  },
  *groups(rows) {
    yield indexGroup([...newestOf(rows).values()]);
  },
};

const isChart = ({ metadata, record }: PublishedPackage): boolean =>
  metadata ? metadata.type === "helm" : record.package_type === "helm";

/** Charts may be at any address, unlike packages of other feeds. */
function rowOf({ metadata, record, file, url }: PublishedPackage): HelmRow | string {
  if (metadata?.type !== "helm") return "its manifest does not contain Chart.yaml of the package";
  if (!/^[0-9a-f]{64}$/.test(record.checksum)) return "it has no checksum";
  const chart = indexedChart(metadata);
  if (typeof chart === "string") return chart;
  return { id: record.id, file, chart, url, sha256: record.checksum, created: record.created_date };
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

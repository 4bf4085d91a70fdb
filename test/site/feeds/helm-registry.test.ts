import { hash } from "node:crypto";
import { expect, test } from "vitest";
import { z } from "zod";
import { helmFeed } from "../../../pipeline/site/feeds/helm.ts";
import { configOf, releaseOf } from "../pages/factory.ts";
import { type ChartOptions, chartOf, chartRepository } from "./charts.ts";

const settings = {
  feeds: { helm: { oci: true, indexes: [{ folder: "" }] } },
  baseUrl: "https://downloads.example.com",
};
const below = (file: string) => `https://downloads.example.com/files/26.08.002/${file}`;

const descriptor = (mediaType: string) =>
  z.strictObject({
    mediaType: z.literal(mediaType),
    digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
    size: z.int().positive(),
  });

/** The manifest of a chart as Helm writes it. */
const manifestSchema = z.strictObject({
  schemaVersion: z.literal(2),
  mediaType: z.literal("application/vnd.oci.image.manifest.v1+json"),
  config: descriptor("application/vnd.cncf.helm.config.v1+json"),
  layers: z.tuple(
    [descriptor("application/vnd.cncf.helm.chart.content.v1.tar+gzip")],
    descriptor("application/vnd.cncf.helm.chart.provenance.v1.prov"),
  ),
  annotations: z.record(z.string(), z.string()),
});

const signed: ChartOptions = {
  version: "26.8.2+build.1",
  url: below("agent.tgz"),
  file: "agent.tgz",
  documents: [
    {
      kind: "signature",
      format: "helm-prov",
      file: "agent.tgz.prov",
      sha256: "f".repeat(64),
      size: 900,
    },
  ],
};

test("a manifest names the config, the chart and its provenance, and has its digest and its tag as paths", () => {
  const chart = chartOf(7, signed);
  const { files, copies, tags } = chartRepository([chart], settings);
  const bytes = files.get("v2/charts/agent/manifests/26.8.2_build.1") ?? Buffer.of();
  const { config, layers, annotations } = manifestSchema.parse(JSON.parse(String(bytes)));
  const digest = `sha256:${hash("sha256", bytes)}`;
  expect(files.get(`v2/charts/agent/manifests/${digest}`)).toEqual(bytes);
  expect(tags).toEqual(new Map([["v2/charts/agent/manifests/26.8.2_build.1", digest]]));
  const blob = files.get(`v2/charts/agent/blobs/${config.digest}`) ?? Buffer.of();
  expect([hash("sha256", blob), blob.length]).toEqual([config.digest.slice("sha256:".length), config.size]);
  expect(JSON.parse(String(blob))).toEqual({ apiVersion: "v2", name: "agent", version: "26.8.2+build.1" });
  expect(layers.map(({ digest }) => digest)).toEqual([
    `sha256:${chart.record.checksum}`,
    `sha256:${"f".repeat(64)}`,
  ]);
  expect(annotations["org.opencontainers.image.version"]).toBe("26.8.2+build.1");
  expect(copies).toEqual({
    [`v2/charts/agent/blobs/sha256:${chart.record.checksum}`]: {
      ...{ from: "files/26.08.002/agent.tgz", sha256: chart.record.checksum, size: 1007 },
    },
    [`v2/charts/agent/blobs/sha256:${"f".repeat(64)}`]: {
      ...{ from: "files/26.08.002/agent.tgz.prov", sha256: "f".repeat(64), size: 900 },
    },
  });
});

test("the registry has a root and a list of tags for each chart", () => {
  const charts = ["26.8.1", "26.9.1"].map((version, index) =>
    chartOf(index + 1, { version, url: below(`${version}.tgz`) }),
  );
  const { files } = chartRepository(charts, settings);
  expect(JSON.parse(String(files.get("v2/index.json")))).toEqual({});
  expect(JSON.parse(String(files.get("v2/charts/agent/tags/list")))).toEqual({
    name: "charts/agent",
    tags: ["26.8.1", "26.9.1"],
  });
});

test.each<[string, ChartOptions, string]>([
  ["elsewhere", { url: "https://elsewhere.example.com/a.tgz" }, "its file is not below the site"],
  ["without a size", { size: null, url: below("a.tgz") }, "its manifest has no size"],
  [
    "with capital letters",
    { name: "Agent", url: below("a.tgz") },
    '"Agent" is not a name that an OCI registry accepts',
  ],
  [
    "with a long version",
    { version: `1.0.0-${"a".repeat(130)}`, url: below("a.tgz") },
    "its version has more than 128 characters",
  ],
])("a chart %s is in the index only, and that is reported", (_, options, reason) => {
  const { files, omitted, copies } = chartRepository([chartOf(1, { file: "a.tgz", ...options })], settings);
  expect(omitted).toEqual([
    { id: 1, file: "a.tgz", reason: `the index lists it, but the OCI registry does not: ${reason}` },
  ]);
  expect(String(files.get("charts/index.yaml"))).toContain('"urls"');
  expect([copies, [...files.keys()]]).toEqual([{}, ["v2/index.json", "charts/index.yaml"]]);
});

test("without oci there is no registry", () => {
  const { files, copies } = chartRepository([chartOf(1, signed)]);
  expect([copies, [...files.keys()]]).toEqual([{}, ["charts/index.yaml"]]);
});

test("a chart without changes leaves the key of the registry as it is", () => {
  const config = configOf(settings);
  const keys = () => {
    const { rows } = helmFeed.part(releaseOf("26.08.002", { packages: [chartOf(7, signed)] }), config);
    return [...helmFeed.groups(JSON.parse(JSON.stringify(rows)), config, false)].map(({ key }) => key);
  };
  expect(keys()).toEqual(keys());
});

import { expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { artifact, type Files, firstCut, project, release } from "../../support/project.ts";
import { packageOf } from "../pages/factory.ts";
import { type ChartOptions, chartOf, chartRepository } from "./charts.ts";

const texts = z.array(z.string());

/** Helm's IndexFile and Metadata, as Go reads them with unknown fields refused. */
const indexFile = z.strictObject({
  apiVersion: z.literal("v1"),
  entries: z.record(
    z.string(),
    z.array(
      z.strictObject({
        apiVersion: z.enum(["v1", "v2"]),
        name: z.string(),
        version: z.string(),
        kubeVersion: z.string().optional(),
        description: z.string().optional(),
        type: z.enum(["application", "library"]).optional(),
        keywords: texts.optional(),
        home: z.string().optional(),
        sources: texts.optional(),
        dependencies: z
          .array(
            z.strictObject({
              name: z.string(),
              version: z.string().optional(),
              repository: z.string(),
              condition: z.string().optional(),
              enabled: z.boolean().optional(),
              "import-values": z.array(z.unknown()).optional(),
            }),
          )
          .optional(),
        maintainers: z.array(z.strictObject({ name: z.string(), email: z.string().optional() })).optional(),
        icon: z.string().optional(),
        appVersion: z.string().optional(),
        deprecated: z.boolean().optional(),
        annotations: z.record(z.string(), z.string()).optional(),
        urls: texts.nonempty(),
        digest: z.string().regex(/^[0-9a-f]{64}$/),
        created: z.iso.datetime(),
      }),
    ),
  ),
});

const indexOf = (repository: ReturnType<typeof chartRepository>) =>
  indexFile.parse(parse(String(repository.files.get("charts/index.yaml"))));

test("an entry is Chart.yaml with the address, the checksum and the date of the record", () => {
  const fields = {
    type: "application",
    appVersion: "26.08.002",
    kubeVersion: ">=1.28",
    keywords: ["agent", "fleet"],
    maintainers: [{ name: "Example", email: "releases@example.com" }],
    dependencies: [
      {
        name: "redis",
        version: "~20",
        repository: "https://charts.example.com",
        condition: "redis.enabled",
        enabled: true,
        "import-values": [{ child: "a", parent: "b" }],
      },
    ],
    annotations: { "example.com/tier": "1" },
    deprecated: false,
  };
  const chart = chartOf(7, { version: "26.8.2+build.1", fields });
  expect(indexOf(chartRepository([chart])).entries).toEqual({
    agent: [
      {
        apiVersion: "v2",
        name: "agent",
        version: "26.8.2+build.1",
        ...fields,
        urls: ["https://downloads.example.com/base/files/26.08.002/agent-26.8.2%2Bbuild.1.tgz"],
        digest: chart.record.checksum,
        created: "2026-08-19T10:22:31.123456Z",
      },
    ],
  });
});

test("fields that Helm does not declare, and keys without a value, are not in the index", () => {
  const fields = {
    "x-build": { job: "7" },
    keywords: "",
    icon: null,
    maintainers: [{ name: "A", url: "", phone: "1" }],
  };
  const [entry] = indexOf(chartRepository([chartOf(1, { fields })])).entries.agent ?? [];
  expect(entry).not.toHaveProperty("keywords");
  expect(entry?.maintainers).toEqual([{ name: "A" }]);
});

test.each<[string, ChartOptions]>([
  ["keywords.0", { fields: { keywords: [{ a: "b" }] } }],
  ["annotations", { fields: { annotations: "text" } }],
  ["type", { fields: { type: "service" } }],
  ["version", { version: "latest" }],
  ["name", { name: "../agent" }],
])("a chart whose %s Helm refuses is left out, and the others are listed", (field, options) => {
  const repository = chartRepository([chartOf(1, { file: "a.tgz", ...options }), chartOf(2)]);
  expect(repository.omitted).toEqual([
    { id: 1, file: "a.tgz", reason: `${field} of its Chart.yaml is not what Helm accepts` },
  ]);
  expect(indexOf(repository).entries.agent).toHaveLength(1);
});

test("a chart without metadata is named, a chart at another address is listed, and other packages are neither", () => {
  const { metadata: _, ...unread } = chartOf(1);
  const repository = chartRepository([
    unread,
    chartOf(2, { url: "https://elsewhere.example.com/agent.tgz" }),
    packageOf(3, { package_type: "qcow" }),
  ]);
  expect(repository.omitted).toEqual([
    { id: 1, file: "agent-26.8.1.tgz", reason: "its manifest does not contain the metadata of the package" },
  ]);
  expect(indexOf(repository).entries.agent?.map(({ urls }) => urls)).toEqual([
    ["https://elsewhere.example.com/agent.tgz"],
  ]);
});

test("the index lists the highest id of charts with one name and version", () => {
  const twice = [chartOf(4, { version: "1.0.0", file: "a.tgz" }), chartOf(9, { version: "1.0.0" })];
  const repository = chartRepository([...twice, chartOf(5)]);
  expect(indexOf(repository).entries.agent?.map(({ urls: [url] }) => url?.replace(/.*\//, ""))).toEqual([
    "agent-1.0.0.tgz",
    "agent-26.8.5.tgz",
  ]);
  expect(repository.hidden).toEqual([
    { id: 4, file: "a.tgz", reason: "the index lists agent 1.0.0 as the file with the id 9" },
  ]);
});

/** A release with one chart, whose checksum is made of one digit. */
const releaseWith = (version: string, chartVersion: string, digit: string): Files =>
  release(version, [
    artifact(`agent-${version}.tgz`, "helm", digit, {
      size: 3,
      package: { type: "helm", chart: { apiVersion: "v2", name: "agent", version: chartVersion } },
    }),
  ]);

const catalog: Files = {
  "releases/catalog.yaml": { product: "Example", require: {}, feeds: { helm: {} } },
};

test("two charts with one name and version are an error before they are cut", async () => {
  const files = {
    ...catalog,
    ...releaseWith("26.08.001", "1.0.0", "a"),
    ...releaseWith("26.09.001", "1.0.0", "b"),
  };
  const { stdout, stderr } = await project(files).run("check");
  expect(`${stdout}\n${stderr}`).toContain(
    'error[feed-duplicate] "agent-26.09.001.tgz" is agent 1.0.0, and so is "agent-26.08.001.tgz" of 26.08.001 (id 1); the index of charts would list both',
  );
});

test("a withdrawn chart leaves the index of the site", async () => {
  const { succeed, read } = project({
    ...catalog,
    ...releaseWith("26.08.001", "26.8.1", "a"),
    ...releaseWith("26.09.001", "26.9.1", "b"),
  });
  const versions = () => {
    const { entries } = indexFile.parse(JSON.parse(read("dist/charts/index.yaml")));
    return entries.agent?.map(({ version }) => version);
  };
  await succeed("cut", "--all", "--now", firstCut);
  await succeed("build");
  expect(versions()).toEqual(["26.9.1", "26.8.1"]);
  await succeed("retract", "2", "--reason", "Loses settings", "--yes");
  await succeed("build");
  expect(versions()).toEqual(["26.8.1"]);
});

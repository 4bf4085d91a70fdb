import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { beforeAll, expect, test } from "vitest";
import { copyProject, relcat } from "../support/run.ts";
import { jsonOf, readTree, type Tree, textOf } from "../support/tree.ts";

const sites: Record<string, Tree> = {};

beforeAll(async () => {
  for (const name of ["site/small", "."]) {
    const folder = copyProject(name);
    const { exitCode, stderr } = await relcat(folder, ["build"]);
    expect(exitCode, stderr).toBe(0);
    sites[name] = readTree(join(folder, "dist"));
  }
});

const shapes: [pattern: RegExp, schema: string][] = [
  [
    /^api\/v1\/package\/(index|ordering=-id)\.json$|^api\/v1\/package\.json$|^api\/v1\/package\/latest\/.*\.json$/,
    "package-list",
  ],
  [/^api\/v1\/package\/\d+\/index\.json$/, "package-record"],
  [/^api\/v1\/package\/\d+\/gone\.json$/, "gone"],
  [/^api\/v1\/release\/\d.*\/index\.json$/, "release-document"],
  [/^api\/v1\/release\/index\.json$/, "release-index"],
  [/^api\/v1\/latest\.json$/, "latest"],
  [/^api\/v1\/versions\.json$/, "versions"],
  [/^releases\/.*\/notes\.json$/, "release-notes"],
  [/^build\.json$/, "build"],
  [/^api\/v1\/feeds\.json$/, "feeds"],
];
const withoutSchema = /^(api\/v1\/index\.json|feed\.json|openapi\.json|schemas\/.*|search\/.*|streams\/.*)$/;

test.each(["site/small", "."])("every JSON document of %s fits its published schema", (name) => {
  const tree = sites[name] ?? new Map();
  const ajv = new Ajv2020({ strict: true, validateFormats: false });
  for (const path of tree.keys()) if (path.startsWith("schemas/")) ajv.addSchema(jsonOf(tree, path));
  const counted = new Map<string, number>();
  for (const path of [...tree.keys()].filter((file) => file.endsWith(".json") && !withoutSchema.test(file))) {
    const schema = shapes.find(([pattern]) => pattern.test(path))?.[1];
    expect(schema, `no schema for ${path}`).toBeDefined();
    const valid = ajv.validate(`urn:relcat:schema:${schema}:1`, jsonOf(tree, path));
    expect(valid, `${path}: ${ajv.errorsText()}`).toBe(true);
    counted.set(schema ?? "", (counted.get(schema ?? "") ?? 0) + 1);
  }
  // Only the sample has package feeds.
  const schemas = shapes.map(([, schema]) => schema).filter((schema) => name === "." || schema !== "feeds");
  expect([...counted.keys()].sort()).toEqual([...new Set(schemas)].sort());
});

const fields = [
  "id",
  "name",
  "version",
  "description",
  "checksum",
  "operating_system",
  "min_os_version",
  "max_os_version",
  "package_type",
  "created_date",
  "modified_date",
  "data",
  "exclude_from_api",
  "gui_only",
  "headless",
  "platform",
  "only_for_account",
];

test("the list has all 17 fields in order, versions descending, then ids descending", () => {
  for (const tree of Object.values(sites)) {
    const list: Record<string, unknown>[] = jsonOf(tree, "api/v1/package/index.json");
    for (const record of list) expect(Object.keys(record)).toEqual(fields);
    const order = list.map((record) => [record.version, record.id] as [string, number]);
    expect(order).toEqual([...order].sort(([v, i], [w, j]) => (v === w ? j - i : v < w ? 1 : -1)));
    const byId: { id: number }[] = jsonOf(tree, "api/v1/package/ordering=-id.json");
    expect(byId.map((record) => record.id)).toEqual(
      list.map((record) => record.id as number).sort((a, b) => b - a),
    );
    expect(textOf(tree, "api/v1/package.json")).toBe(textOf(tree, "api/v1/package/index.json"));
  }
});

test("a record has the same bytes in every document", () => {
  for (const tree of Object.values(sites)) {
    const list = textOf(tree, "api/v1/package/index.json");
    for (const path of [...tree.keys()].filter((file) => /^api\/v1\/package\/\d+\/index\.json$/.test(file))) {
      const record = textOf(tree, path);
      expect(list).toContain(record);
      expect(textOf(tree, `api/v1/release/${JSON.parse(record).version}/index.json`)).toContain(record);
    }
  }
});

test("only data has the configured key names", () => {
  const record = jsonOf(sites["site/small"] ?? new Map(), "api/v1/package/5/index.json");
  expect(Object.keys(record.data)).toEqual(["store", "acme", "attestation"]);
  expect(Object.keys(record.data.attestation)).toEqual(["acmecrypt_post"]);
  expect(record.created_date).toBe("2026-08-12T09:00:00.123456Z");
  expect(record.modified_date).toBe("2026-08-13T10:00:00.000001Z");
});

test("the first match of an installer among variants is the core one", () => {
  const list: Record<string, unknown>[] = jsonOf(sites["."] ?? new Map(), "api/v1/package/index.json");
  const match = list.filter((record) => record.package_type === "deb" && record.max_os_version === "20.04");
  expect(match[0]).toMatchObject({ headless: true, gui_only: false });
});

test("a manifest's own URL overrides the configured address", () => {
  const tree = sites["site/small"] ?? new Map();
  const { artifacts } = jsonOf(tree, "api/v1/release/26.08.001/index.json");
  expect(artifacts["5"]).toEqual({
    file: "controller-26.08.001.qcow2.gz",
    url: "https://mirror.example.org/images/controller-26.08.001.qcow2.gz",
    size: 1873741824,
  });
  const older = jsonOf(tree, "api/v1/release/26.07.001/index.json").artifacts;
  expect(older["1"]).toEqual({
    file: "client-gui_26.07.001_2004.deb",
    url: "https://files.example.com/26.07.001/client-gui_26.07.001_2004.deb",
    size: null,
  });
  expect(jsonOf(tree, "api/v1/index.json")).toEqual({
    package: "https://downloads.example.com/catalog/api/v1/package/",
  });
  expect(textOf(tree, "api/v1/latest.txt")).toBe("26.08.002\n");
});

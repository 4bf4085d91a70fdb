import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { execa } from "execa";
import { expect, test } from "vitest";
import { relcat, repository, temporaryFolder } from "../support/run.ts";

const folder = join(repository, "schemas");
const files = readdirSync(folder).map((name) => join(folder, name));
const all = files.map(() => "ok");

test("Python's jsonschema reads every schema, and compiles every pattern", async () => {
  const script = join(repository, "test/fixtures/schemas/read.py");
  const { stdout } = await execa("python3", [script, ...files]);
  expect(stdout.split("\n")).toEqual(all);
});

test("Go's regexp compiles every pattern", async () => {
  const script = join(repository, "test/fixtures/schemas/read.go");
  const home = temporaryFolder();
  const environment = { HOME: home, GOCACHE: join(home, "cache"), GOFLAGS: "-mod=mod", GO111MODULE: "off" };
  const { stdout } = await execa("go", ["run", script, ...files], { env: environment });
  expect(stdout.split("\n")).toEqual(all);
});

test("Ajv compiles the schema of each output alone", async () => {
  const { schemas } = JSON.parse((await relcat("/", ["schema", "--list", "--json"])).stdout);
  const outputs = schemas.filter((name: string) => name.startsWith("output-"));
  expect(outputs).toContain("output-devices-list");
  for (const name of outputs) {
    const { schema } = JSON.parse((await relcat("/", ["schema", name, "--json"])).stdout);
    expect(() => new Ajv2020({ strict: true, validateFormats: false }).compile(schema), name).not.toThrow();
  }
});

test("Python validates documents as relcat does", async () => {
  const script = join(repository, "test/fixtures/schemas/validate.py");
  const documents = [
    [
      "manifest",
      { release: "26.01.001", artifacts: [{ name: "a.rpm", package_type: "rpm", sha256: "a".repeat(64) }] },
    ],
    ["manifest", { release: "26.13.001", artifacts: [] }],
    [
      "manifest",
      { release: "26.01.001", artifacts: [{ name: "..", package_type: "rpm", sha256: "a".repeat(64) }] },
    ],
    [
      "manifest",
      { release: "26.01.001", artifacts: [{ name: "a\u0001", package_type: "rpm", sha256: "a".repeat(64) }] },
    ],
    [
      "manifest",
      {
        release: "26.01.001",
        artifacts: [{ name: "ä\u00a0🦊", package_type: "index", sha256: "a".repeat(64) }],
      },
    ],
    [
      "manifest",
      {
        release: "26.01.001",
        artifacts: [{ name: "ä\u00a0🦊", package_type: "rpm", sha256: "a".repeat(64) }],
      },
    ],
  ] as const;
  const given = join(temporaryFolder(), "documents.json");
  writeFileSync(
    given,
    JSON.stringify(documents.map(([name, value]) => [join(folder, `${name}.schema.json`), value])),
  );
  const { stdout } = await execa("python3", [script, given]);
  expect(JSON.parse(stdout)).toEqual([true, false, false, false, false, true]);
});

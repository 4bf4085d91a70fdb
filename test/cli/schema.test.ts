/** @module-tag long */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { relcat, repository, spawnRelcat } from "../support/run.ts";

const folder = join(repository, "schemas");
const names = readdirSync(folder)
  .filter((file) => file.endsWith(".schema.json"))
  .map((file) => file.replace(".schema.json", ""))
  .sort();

const { $defs } = JSON.parse(readFileSync(join(folder, "output.schema.json"), "utf8"));
const outputs = Object.keys($defs)
  .filter((name) => !/[A-Z]/.test(name))
  .map((name) => `output-${name}`);
const known = `${names.join(", ")}; relcat schema --list also shows one for each output`;

test("--list names every document and every output", async () => {
  expect(names).toContain("manifest");
  expect(outputs).toContain("output-devices-list");
  const all = [...names, ...outputs].sort();
  const { stdout, stderr } = await relcat(repository, ["schema", "--list"]);
  expect({ stdout, stderr }).toEqual({ stdout: all.join("\n"), stderr: "Next: relcat schema NAME" });
  expect(JSON.parse((await relcat(repository, ["schema", "--list", "--json"])).stdout)).toEqual({
    schema_version: 1,
    schemas: all,
  });
});

test("prints a schema byte for byte, from any folder, and nothing else", async () => {
  const text = readFileSync(join(folder, "manifest.schema.json"), "utf8");
  const { stdout, stderr } = await spawnRelcat("/", ["schema", "manifest"], { stripFinalNewline: false });
  expect({ stdout, stderr }).toEqual({ stdout: text, stderr: "" });
  const { document } = { document: JSON.parse((await relcat("/", ["schema", "manifest", "--json"])).stdout) };
  expect(document).toEqual({ schema_version: 1, name: "manifest", schema: JSON.parse(text) });
});

test("prints the schema of one output with everything that it refers to, and nothing else", async () => {
  const { stdout } = await relcat("/", ["schema", "output-devices-delete"]);
  expect(JSON.parse(stdout)).toEqual({
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: "urn:relcat:schema:output-devices-delete:1",
    ...$defs["devices-delete"],
  });
  const status = JSON.parse((await relcat("/", ["schema", "output-check"])).stdout);
  expect(Object.keys(status.$defs)).toEqual(["Problem"]);
});

test.each([
  [["manifst"], 'there is no schema "manifst"', `There are ${known}.`],
  [["output-Problem"], 'there is no schema "output-Problem"', `There are ${known}.`],
  [["../package"], 'there is no schema "../package"', `There are ${known}.`],
  [[], "no schema was named", `Name one of ${known}.`],
])("refuses %j", async (args, message, hint) => {
  const { stdout, stderr, exitCode } = await relcat(repository, ["schema", ...args]);
  expect({ stdout, stderr, exitCode }).toEqual({
    stdout: "",
    stderr: `error[usage] ${message}\n  hint: ${hint}`,
    exitCode: 2,
  });
});

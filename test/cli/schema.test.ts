import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { relcat, repository, spawnRelcat } from "../support/run.ts";

const folder = join(repository, "schemas");
const names = readdirSync(folder)
  .filter((file) => file.endsWith(".schema.json"))
  .map((file) => file.replace(".schema.json", ""))
  .sort();

test("--list names every document", async () => {
  expect(names).toContain("manifest");
  const { stdout, stderr } = await relcat(repository, ["schema", "--list"]);
  expect({ stdout, stderr }).toEqual({ stdout: names.join("\n"), stderr: "Next: relcat schema NAME" });
  expect(JSON.parse((await relcat(repository, ["schema", "--list", "--json"])).stdout)).toEqual({
    schema_version: 1,
    schemas: names,
  });
});

test("prints a schema byte for byte, from any folder, and nothing else", async () => {
  const text = readFileSync(join(folder, "manifest.schema.json"), "utf8");
  const { stdout, stderr } = await spawnRelcat("/", ["schema", "manifest"], { stripFinalNewline: false });
  expect({ stdout, stderr }).toEqual({ stdout: text, stderr: "" });
  const { document } = { document: JSON.parse((await relcat("/", ["schema", "manifest", "--json"])).stdout) };
  expect(document).toEqual({ schema_version: 1, name: "manifest", schema: JSON.parse(text) });
});

test.each([
  [["manifst"], 'there is no schema "manifst"', `There are ${names.join(", ")}.`],
  [["../package"], 'there is no schema "../package"', `There are ${names.join(", ")}.`],
  [[], "no schema was named", `Name one of ${names.join(", ")}.`],
])("refuses %j", async (args, message, hint) => {
  const { stdout, stderr, exitCode } = await relcat(repository, ["schema", ...args]);
  expect({ stdout, stderr, exitCode }).toEqual({
    stdout: "",
    stderr: `error[usage] ${message}\n  hint: ${hint}`,
    exitCode: 2,
  });
});

import { describe, expect, test } from "vitest";
import { strictOutputSchema } from "../../cli/output/output-schema.ts";
import { commandOutputs, documents, outputs } from "../../cli/output/outputs.ts";
import { leavesOf } from "../../cli/terminal/exit-codes.ts";
import { commandTable } from "../cli/table.ts";
import { errorsAs } from "../support/json-output.ts";
import { relcat, repository, temporaryFolder } from "../support/run.ts";
import { groups } from "./groups.ts";

const commands = [...leavesOf(commandTable())].map(([, words]) => words.join(" ")).sort();

test("every command of the command table has its outputs in the table of cli/output/outputs.ts", () => {
  const advice =
    "Describe what a new command prints with --json in cli/output/, name it in commandOutputs of cli/output/outputs.ts, print it in test/json-output/, then run npm run schemas.";
  expect(commands.length).toBeGreaterThan(60);
  expect(Object.keys(commandOutputs).sort(), advice).toEqual(commands);
});

test("every output belongs to a command, and a test prints it", () => {
  // commander adds the command help by itself.
  const used: string[] = ["problems", "help-topic", ...Object.values(commandOutputs).flat()];
  expect(Object.keys(outputs).filter((name) => !used.includes(name))).toEqual([]);
  const printed: string[] = Object.values(groups).flat();
  const advice = "Print the output in a test of test/json-output/, and name it in groups.ts there.";
  expect([...new Set(printed)].sort(), advice).toEqual(Object.keys(outputs).sort());
});

test("names of outputs are lower case, as relcat schema lists them, and shared definitions are not", () => {
  const { $defs } = strictOutputSchema();
  const shared = Object.keys($defs).filter((name) => !(name in outputs));
  expect(Object.keys(outputs).filter((name) => !/^[a-z-]+$/.test(name))).toEqual([]);
  expect(shared.filter((name) => !/^[A-Z][A-Za-z]+$/.test(name))).toEqual([]);
});

test("every document says its schema_version, and no member is in camel case", () => {
  const { $defs } = strictOutputSchema();
  const versions = Object.keys(documents).map((name) => {
    const { properties, required } = $defs[name] as { properties: object; required: string[] };
    return [name, "schema_version" in properties && required.includes("schema_version")];
  });
  expect(versions.filter(([, has]) => !has)).toEqual([]);
  expect(membersOf($defs).filter((name) => !/^[a-z][a-z0-9_]*$/.test(name))).toEqual([]);
});

function membersOf(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    name === "properties" ? [...Object.keys(inner), ...membersOf(Object.values(inner))] : membersOf(inner),
  );
}

describe("every command that refuses prints problems", () => {
  const folder = temporaryFolder();

  test.each(commands)("%s", async (command) => {
    const args = [...command.split(" "), "--no-such-option", "--json"];
    const { stdout, exitCode } = await relcat(folder, args);
    const document = JSON.parse(stdout);
    expect(errorsAs("problems", document)).toEqual([]);
    expect([exitCode, document.problems[0].code]).toEqual([2, "usage"]);
  });
});

test("a run whose document has a member without a schema fails with advice", async () => {
  const { requireKnownOutput } = await import("../support/json-output.ts");
  const { stdout } = await relcat(repository, ["schema", "--list", "--json"]);
  const more = JSON.stringify({ ...JSON.parse(stdout), colour: "blue" });
  expect(() => requireKnownOutput(["schema", "--list", "--json"], more)).toThrow(
    'relcat schema --list --json printed a document that cli/output/ does not describe as "schema-list":\n  / must NOT have additional properties {"additionalProperty":"colour"}',
  );
});

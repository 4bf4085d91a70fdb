import { readFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import { outputSchema } from "../../cli/output/output-schema.ts";
import { commandOutputs, documents, lines } from "../../cli/output/outputs.ts";
import { exitStatus } from "../../shared/errors.ts";
import { cutCatalog, firstCut } from "../support/project.ts";
import { program, repository } from "../support/run.ts";
import { type JsonSchema, memberRows } from "./output-members.ts";

const file = join(repository, "docs/json-output.md");
const { $defs } = outputSchema() as unknown as { $defs: Record<string, JsonSchema> };

const start = "<!-- The rest is generated from cli/output/. -->";

function commandsOf(name: string): string[] {
  return Object.entries(commandOutputs)
    .filter(([, names]: [string, readonly string[]]) => names.includes(name))
    .map(([command]) => command);
}

const index = [
  "| command | outputs |",
  "| --- | --- |",
  ...Object.entries(commandOutputs).map(
    ([command, names]) =>
      `| \`relcat ${command}\` | ${names.map((name) => `[${name}](#${name})`).join(", ")} |`,
  ),
];

function sectionOf(name: string): string[] {
  const schema = $defs[name] ?? {};
  const commands = commandsOf(name).map((command) => `\`relcat ${command}\``);
  const by = commands.length > 0 ? `\nPrinted by ${commands.join(", ")}.` : "";
  return [`### ${name}`, `${schema.description ?? ""}${by}`, "", ...memberRows(schema, $defs), ""];
}

const shared = Object.keys($defs).filter((name) => !(name in documents) && !(name in lines));

const generated = [
  "## Outputs of each command",
  ...index,
  "",
  "## Documents",
  ...Object.keys(documents).flatMap(sectionOf),
  "## Lines",
  ...Object.keys(lines).flatMap(sectionOf),
  "## Shared parts",
  ...shared.sort().flatMap(sectionOf),
]
  .join("\n")
  .trimEnd();

test("docs/json-output.md lists every output and its members", async () => {
  const [written = ""] = readFileSync(file, "utf8").split(start);
  await expect(`${written}${start}\n\n${generated}\n`).toMatchFileSnapshot(file);
});

test("its table of exit statuses is the one of the program", () => {
  const text = readFileSync(file, "utf8");
  const rows = [...text.matchAll(/^\| (\d+) \| /gm)].map(([, status]) => Number(status));
  expect(rows).toEqual([...new Set([...Object.values(exitStatus), 10])].sort((a, b) => a - b));
});

/** The shell blocks of the hand-written part. */
const blocks = () => {
  const [written = ""] = readFileSync(file, "utf8").split(start);
  return [...written.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = ""]) => block);
};

test("its examples with jq print what it says", async () => {
  const made = await cutCatalog();
  await made.succeed("retract", "1", "--reason", "It does not start.", "--yes", "--now", firstCut);
  made.write("releases/26.10.001/release.yaml", { version: "26.10.001", date: "2026-13-01" });
  const script = `relcat() { ${JSON.stringify(process.execPath)} ${JSON.stringify(program)} "$@"; }\n`;
  const run = async (block: string) => {
    const { stdout } = await execa("bash", ["-c", script + block], { cwd: made.folder, reject: false });
    return stdout.split("\n");
  };
  const [problems = "", withdrawn = "", ...others] = blocks().filter((block) => block.includes("jq"));
  expect(others).toEqual([]);
  expect(await run(problems)).toEqual(["releases/26.10.001/release.yaml:1: date-format"]);
  made.write("releases/26.10.001/release.yaml", { version: "26.10.001", date: "2026-10-01" });
  expect(await run(withdrawn)).toEqual(["tool-26.08.001.msi\tIt does not start."]);
});

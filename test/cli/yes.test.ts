import { join } from "node:path";
import { expect, test } from "vitest";
import { servedController } from "../support/controller.ts";
import { cutCatalog, type Project, project, release, smallCatalog } from "../support/project.ts";
import { relcat, temporaryFolder } from "../support/run.ts";
import { atTerminal, hasTerminal } from "../support/terminal.ts";

type Run = (...args: string[]) => Promise<{ exitCode: number | undefined; stderr: string }>;

/** A project with one open release, whose files are at its site. */
async function open(feeds: object = {}): Promise<Project> {
  const made = project({
    "releases/catalog.yaml": {
      ...{ product: "Example", require: {}, base_url: "https://downloads.example.com", feeds },
      sites: { prod: { url: `dir:${join(temporaryFolder(), "www")}`, settles: false } },
    },
    ...release("26.09.001", []),
    "out/tool.rpm": "hello",
  });
  await made.succeed("ingest", "out");
  await made.succeed("upload", "out/tool.rpm");
  return made;
}

/** A project whose site had two builds. */
async function publishedTwice(): Promise<Project> {
  const made = await open();
  await made.succeed("release", "--all");
  await made.succeed(
    "notes",
    "add",
    "Faster.",
    "--component",
    "server",
    "--kind",
    "fix",
    "--release",
    "26.09.001",
  );
  await made.succeed("release", "--all");
  return made;
}

async function withdrawn(): Promise<Project> {
  const made = await cutCatalog();
  await made.succeed("retract", "1", "--reason", "Broken.", "--yes");
  return made;
}

async function withChannels(): Promise<Project> {
  const made = await cutCatalog();
  made.write("releases/catalog.yaml", {
    product: "Example",
    require: {},
    channels: { stable: {}, beta: {} },
  });
  return made;
}

/** The rows below share a controller. It has six pending devices and a rejected one; standard input is an export of the six as accepted. */
let controller: Promise<{ run: Run }> | undefined;
const devices = (): Promise<{ run: Run }> => (controller ??= controllerOfSeven());

async function controllerOfSeven(): Promise<{ run: Run }> {
  const served = await servedController();
  for (const name of ["a", "b", "c", "d", "e", "f"]) await served.enroll({ name, serial: `SN-${name}` });
  const { stdout } = await served.succeed(["devices", "export"]);
  const accepted = stdout.replaceAll('"state":"pending"', '"state":"accepted"');
  await served.enroll({ name: "lost", serial: "SN-lost" });
  await served.succeed(["devices", "reject", "lost"]);
  return { run: (...args) => served.run(args, args.includes("-") ? accepted : "") };
}

test.each([
  ["cut", open, "cut"],
  ["cut of a package that a feed leaves out", () => open({ yum: {} }), "cut --all"],
  ["release", open, "release"],
  ["release of a version", open, "release prod 26.09.001"],
  ["rollback", publishedTwice, "rollback --reason Blank."],
  ["retract", cutCatalog, "retract 1 --reason Broken."],
  ["channel promote", withChannels, "channel promote 26.09.001 beta"],
  ["channel halt", withChannels, "channel halt stable 26.09.001 --reason Broken."],
  ["reinstate", withdrawn, "reinstate 1"],
  ["devices delete", devices, "devices delete lost"],
  ["devices accept", devices, "devices accept --all-pending"],
  ["devices reject", devices, "devices reject a b c d e f"],
  ["devices import", devices, "devices import -"],
] as const)("%s asks, and --yes answers", async (_, make, line) => {
  const { run }: { run: Run } = await make();
  const words = line.split(" ");
  const refused = await run(...words);
  expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining("error[not-confirmed]")]);
  const { exitCode, stderr } = await run(...words, "--yes");
  expect([exitCode, stderr]).toEqual([0, expect.not.stringContaining("error[")]);
});

test("in a script, --yes does not choose among several releases, and CI must name even the only one", async () => {
  const { run, list } = project(smallCatalog);
  const several = await run("cut", "--yes");
  expect([several.exitCode, several.stderr]).toEqual([
    2,
    "error[not-confirmed] --yes alone does not choose versions, and there is no terminal to ask on; nothing was cut\n" +
      "  hint: Name versions, or give --all to cut all of these: 26.08.001 (2 records) and 26.09.001 (3 records).",
  ]);
  expect(list("releases")).not.toContain("ledger.jsonl");
  const { folder } = await open();
  for (const command of [["cut"], ["release", "prod"]]) {
    const { exitCode, stderr } = await relcat(folder, [...command, "--yes"], { env: { CI: "true" } });
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("all of these: 26.09.001 (1 record).")]);
  }
});

test.skipIf(!hasTerminal)("at a terminal, --yes answers the question for all that it lists", async () => {
  const { folder, read } = project(smallCatalog);
  const { exitCode, text } = await atTerminal(folder, ["cut", "--yes"], "");
  expect([exitCode, text]).toEqual([
    0,
    expect.stringContaining("26.08.001  2 records\n  26.09.001  3 records\n"),
  ]);
  expect(text).not.toContain("[y/N]");
  expect(read("releases/ledger.jsonl").match(/"event":"add"/g)).toHaveLength(5);
});

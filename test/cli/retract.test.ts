import { describe, expect, test } from "vitest";
import { some } from "../support/effort.ts";
import { cutCatalog, notCompared } from "../support/project.ts";
import { atTerminal, hasTerminal } from "../support/terminal.ts";

const later = "2026-09-21T10:00:00Z";

test("shows the records, and withdraws them with --yes", async () => {
  const { run, read } = await cutCatalog();
  const args = [
    "retract",
    "26.08.001",
    "--type",
    "msi",
    "--reason",
    "Does not start.",
    "--replaced-by",
    "3",
    "--now",
    later,
  ];
  const { stdout, stderr, exitCode } = await run(...args, "--yes");
  expect({ stdout, stderr, exitCode }).toEqual({
    stdout: "Retracted 1 record.",
    stderr: [
      "To be retracted: 1 record",
      "  1  26.08.001  msi  tool-26.08.001.msi",
      notCompared,
      "Next: commit releases/ledger.jsonl, then relcat build --released",
    ].join("\n"),
    exitCode: 0,
  });
  expect(read("releases/ledger.jsonl").trimEnd().split("\n").at(-1)).toBe(
    '{"event":"retract","id":1,"reason":"Does not start.","replaced_by":3,"at":"2026-09-21T10:00:00.000000Z"}',
  );
});

test("a correction replaces the replacement, and --replaced-by none removes it", async () => {
  const { run, read } = await cutCatalog();
  const replacement = async (id: string) => {
    const args = ["retract", "1", "--reason", "Bad.", "--replaced-by", id, "--yes", "--now", later];
    const { stderr, exitCode } = await run(...args);
    expect(exitCode, stderr).toBe(0);
    return JSON.parse(read("releases/ledger.jsonl").trimEnd().split("\n").at(-1) ?? "").replaced_by;
  };
  expect([await replacement("2"), await replacement("3"), await replacement("none")]).toEqual([2, 3, null]);
});

test("refuses without a terminal and --yes, after it shows the records", async () => {
  const { run, read } = await cutCatalog();
  const before = read("releases/ledger.jsonl");
  const { stdout, stderr, exitCode } = await run("retract", "26.08.001", "--reason", "Bad.");
  expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
  expect(stderr).toBe(
    [
      "To be retracted: 2 records",
      "  1  26.08.001  msi  tool-26.08.001.msi",
      "  2  26.08.001  rpm  tool-26.08.001.rpm",
      "error[not-confirmed] there is no terminal to confirm this on; nothing was changed",
      "  hint: Run the command again with --yes.",
    ].join("\n"),
  );
  expect(read("releases/ledger.jsonl")).toBe(before);
});

test("--json prints the written lines", async () => {
  const { json } = await cutCatalog();
  const { exitCode, document } = await json("retract", "2", "1", "--reason", "Bad.", "--yes", "--now", later);
  const rest = { reason: "Bad.", replaced_by: null, at: "2026-09-21T10:00:00.000000Z" };
  expect({ exitCode, ...document }).toEqual({
    exitCode: 0,
    schema_version: 1,
    dry_run: false,
    events: [
      { event: "retract", id: 1, ...rest },
      { event: "retract", id: 2, ...rest },
    ],
  });
});

describe("the selection", () => {
  test.each([
    [["26.09.001", "--name", "*.msi"], ["3"]],
    [["26.09.001", "--name", "inside-*"], ["4"]],
    [
      ["26.09.001", "--type", "rpm"],
      ["4", "5"],
    ],
    [
      ["5", "2", "2"],
      ["2", "5"],
    ],
  ])("%j matches %j", async (selection, ids) => {
    const { stderr } = await (await cutCatalog()).run("retract", ...selection, "--reason", "Bad.");
    expect([...stderr.matchAll(/^ {2}(\d+) /gm)].map(([, id]) => id)).toEqual(ids);
  });

  test.each([
    [
      ["26.08.001", "--type", "deb"],
      1,
      'nothing-to-retract] no record of 26.08.001 has the package type "deb"',
      "Its package types are msi, rpm.",
    ],
    [
      ["26.08.001", "--type", "msi", "--name", "*x*"],
      1,
      'nothing-to-retract] no record of 26.08.001 has the package type "msi" and a name that matches "*x*"',
      "Its package types are msi, rpm.",
    ],
    [
      ["26.07.001"],
      1,
      "version-unknown] the ledger has no line of 26.07.001",
      "The newest that are cut: 26.08.001, 26.09.001. From a release that is not cut, remove the manifests instead.",
    ],
    [
      ["77"],
      1,
      "record-unknown] no record has the id 77",
      "relcat list --all shows the records and their ids; an id is permanent only after relcat cut.",
    ],
    [
      ["26.08.001", "1"],
      2,
      'usage] cannot tell what "26.08.001" "1" means',
      "Give ids of records, or one version such as 26.08.002.",
    ],
    [
      ["1", "--type", "msi"],
      2,
      "usage] --type and --name choose among the records of a version, but ids were given",
      "Leave them out, or give a version.",
    ],
  ])("%j is refused before the confirmation", async (selection, status, message, hint) => {
    const { stdout, stderr, exitCode } = await (await cutCatalog()).run(
      "retract",
      ...selection,
      "--reason",
      "Bad.",
    );
    expect({ stdout, stderr, exitCode }).toEqual({
      stdout: "",
      stderr: `error[${message}\n  hint: ${hint}`,
      exitCode: status,
    });
  });

  test("with a replacement that is withdrawn with it, or not public, is refused before the confirmation", async () => {
    const { run } = await cutCatalog();
    for (const [id, fault] of [
      ["1", "it is withdrawn by the same command"],
      ["4", "it is not public"],
    ] as const) {
      const { stderr, exitCode } = await run("retract", "1", "--reason", "Bad.", "--replaced-by", id);
      expect(exitCode).toBe(1);
      expect(stderr).toMatch(
        new RegExp(`^error\\[replacement-unknown\\] the id ${id} cannot .*: ${fault}\n`),
      );
    }
  });

  test.each([" ", "a\nb", "\u001b[31m"])("with the reason %j is refused", async (reason) => {
    const { stderr, exitCode } = await (await cutCatalog()).run("retract", "1", "--reason", reason, "--yes");
    expect({ stderr, exitCode }).toEqual({
      stderr:
        "error[usage] the reason is empty or has line breaks\n  hint: Give the reason in one line: everyone who has the package will read it.",
      exitCode: 2,
    });
  });

  test("by version skips withdrawn records; an id corrects the reason; the same command again changes nothing", async () => {
    const { run, succeed, read } = await cutCatalog();
    await succeed("retract", "1", "--reason", "Bad.", "--yes");
    const rest = await succeed("retract", "26.08.001", "--reason", "All bad.", "--yes");
    expect(rest.stderr).toContain("Unchanged: 1 already withdrawn.\n");
    expect(rest.stdout).toBe("Retracted 1 record.");
    expect((await run("retract", "26.08.001", "--reason", "More.", "--yes")).stderr).toBe(
      "error[nothing-to-retract] every record of 26.08.001 that matches is withdrawn already\n  hint: Name ids to correct their reason.",
    );
    expect((await succeed("retract", "1", "--reason", "Very bad.", "--yes")).stdout).toBe(
      "Retracted 1 record.",
    );
    const before = read("releases/ledger.jsonl");
    expect(await succeed("retract", "1", "--reason", "Very bad.")).toMatchObject({
      stdout: "Nothing changed: the ledger already says so.",
    });
    expect(read("releases/ledger.jsonl")).toBe(before);
  });
});

describe("reinstate", () => {
  test("reverses a retraction", async () => {
    const { succeed, run } = await cutCatalog();
    await succeed("retract", "1", "2", "--reason", "Bad.", "--yes");
    const { stdout, stderr } = await succeed("reinstate", "2", "--yes");
    expect(stdout).toBe("Reinstated 1 record.");
    expect(stderr).toContain("To be reinstated: 1 record\n  2  26.08.001  rpm  tool-26.08.001.rpm\n");
    expect(await run("reinstate", "2", "--yes")).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("error[nothing-to-reinstate] the id 2 is not withdrawn\n"),
    });
    const unknown = await run("reinstate", "78", "77", "--yes");
    expect(unknown.exitCode).toBe(1);
    expect(unknown.stderr.match(/error\[.*/g)).toEqual([
      "error[record-unknown] no record has the id 77",
      "error[record-unknown] no record has the id 78",
    ]);
    expect((await run("reinstate", "1")).stderr).toContain(
      "error[not-confirmed] there is no terminal to confirm this",
    );
  });
});

const retractAtTerminal = (folder: string, answer: string, env?: Record<string, string>) =>
  atTerminal(folder, ["retract", "1", "--reason", "Bad."], answer, env);

describe.skipIf(!hasTerminal)("at a terminal retract asks for a confirmation", () => {
  const retracted = (ledger: string) => ledger.includes('"event":"retract"');

  test.each(some(["y\n", "yes\n", "Y\n"], 3))("%j confirms", async (answer) => {
    const { folder, read } = await cutCatalog();
    const { text, exitCode } = await retractAtTerminal(folder, answer);
    expect(text).toContain("To be retracted: 1 record\n");
    expect(text).toContain("Retract it? [y/N] ");
    expect(text).toContain("Retracted 1 record.");
    expect([exitCode, retracted(read("releases/ledger.jsonl"))]).toEqual([0, true]);
  });

  test.each(some(["n\n", "\n", "maybe\n", "\u0004"], 2))("%j refuses", async (answer) => {
    const { folder, read } = await cutCatalog();
    const { text, exitCode } = await retractAtTerminal(folder, answer);
    expect(text).toMatch(/Nothing was changed\.\n$/);
    expect(text).not.toContain("error");
    expect([exitCode, retracted(read("releases/ledger.jsonl"))]).toEqual([9, false]);
  });

  test("Ctrl-C ends it with nothing changed", async () => {
    const { folder, read } = await cutCatalog();
    const { exitCode } = await retractAtTerminal(folder, "\u0003");
    expect([exitCode, retracted(read("releases/ledger.jsonl"))]).toEqual([130, false]);
  });

  test("retract does not ask if CI is set", async () => {
    const { folder } = await cutCatalog();
    const { text, exitCode } = await retractAtTerminal(folder, "y\n", { CI: "true" });
    expect(text).toContain("there is no terminal to confirm this on");
    expect(exitCode).toBe(2);
  });
});

import { describe, expect, test } from "vitest";
import { artifact, cutCatalog, notCompared, project, release, smallCatalog } from "../support/project.ts";

const nextCommand = async (files: Parameters<typeof project>[0], cut?: string) => {
  const made = project(files);
  if (cut !== undefined) await made.succeed("cut", cut);
  const { stdout, exitCode } = await made.run("status");
  return { exitCode, next: stdout.split("\n").slice(-2).join("\n") };
};

test("prints the state of every release, and the next command", async () => {
  const { succeed, write, run } = await cutCatalog();
  await succeed("retract", "1", "--reason", "Bad.", "--yes");
  const edited = [
    artifact("tool-26.09.001.msi", "msi", "3", { description: "Better" }),
    artifact("tool-26.09.001.rpm", "rpm", "4"),
  ];
  const hidden = artifact("inside-26.09.001.rpm", "rpm", "5", { exclude_from_api: true });
  const added = artifact("tool-26.09.001.xz", "xz", "6");
  write("releases/26.09.001/manifests/all.json", {
    release: "26.09.001",
    artifacts: [...edited, hidden, added],
  });
  for (const [path, content] of Object.entries(release("26.10.001", []))) write(path, content);
  const { stdout, stderr, exitCode } = await run("status");
  expect({ stdout, stderr, exitCode }).toEqual({
    stdout: [
      "26.08.001  cut      2026-08-15  1 package, 1 withdrawn",
      "26.09.001  changed  2026-09-15  3 packages, 1 private, 1 added since the cut, 1 revised since the cut",
      "26.10.001  open     2026-10-15  no artifacts yet",
      "1 note for the next release, 1 warning: relcat check shows it",
      "no artifact is inspected: catalog.yaml names no signers",
      "Next: relcat cut 26.09.001",
      "  it makes ids and dates permanent",
    ].join("\n"),
    stderr: notCompared,
    exitCode: 0,
  });
});

test("--json prints the state as a document", async () => {
  const { document, exitCode } = await project({
    ...smallCatalog,
    "releases/catalog.yaml": { require: {}, expected: [{ package_type: "pkg", from: "26.09" }] },
  }).json("status");
  const common = { standing: "open", retracted: 0, added: 0, revised: 0 };
  expect({ exitCode, ...document }).toEqual({
    exitCode: 0,
    schema_version: 1,
    sites: [],
    releases: [
      { version: "26.08.001", date: "2026-08-15", ...common, packages: 2, private: 0, missing: [] },
      { version: "26.09.001", date: "2026-09-15", ...common, packages: 2, private: 1, missing: ["pkg"] },
    ],
    artifacts: 5,
    private: 1,
    next_notes: 1,
    errors: 0,
    warnings: 1,
    policies: [],
    openpgp: [],
    not_in_feeds: [],
    support_ends: [],
    channels: [],
    in_no_channel: [],
    next: { command: "relcat cut 26.08.001", why: "it makes ids and dates permanent" },
  });
});

describe("the next command", () => {
  const alone = { "releases/catalog.yaml": { require: {} } };

  test("is check if there are errors, and status itself does not fail", async () => {
    const files = { ...smallCatalog, "releases/26.08.001/manifests/all.json": "{" };
    expect(await nextCommand(files)).toEqual({
      exitCode: 0,
      next: "Next: relcat check\n  it shows the errors",
    });
  });

  test("is cut with every version that is complete", async () => {
    expect((await nextCommand(smallCatalog)).next).toBe(
      "Next: relcat cut 26.08.001 26.09.001\n  it makes ids and dates permanent",
    );
  });

  test("is to add manifests if something is missing", async () => {
    const files = { ...smallCatalog, "releases/catalog.yaml": { require: {}, expected: ["pkg"] } };
    const why = "26.08.001 lacks pkg: add them with relcat ingest first";
    expect((await nextCommand(files)).next).toBe(`Next: relcat check\n  ${why}`);
    const empty = { ...alone, ...release("26.10.001", []) };
    expect((await nextCommand(empty)).next).toBe(
      "Next: relcat check\n  26.10.001 has no artifacts yet: add them with relcat ingest first",
    );
  });

  test("is new if notes wait, otherwise the released build", async () => {
    const month = new Date().toISOString().slice(2, 7).replace("-", ".");
    const cut = project(smallCatalog);
    await cut.succeed("cut", "--all");
    expect((await cut.run("status")).stdout).toContain(
      `\nNext: relcat new ${month}\n  notes wait for the next release`,
    );
    const quiet = { ...alone, ...release("26.08.001", [artifact("a.msi", "msi")]) };
    expect((await nextCommand(quiet, "26.08.001")).next).toBe(
      "Next: relcat build --released\n  everything is permanent",
    );
  });

  test("status reports a project without releases", async () => {
    const { stdout } = await project(alone).run("status");
    expect(stdout).toMatch(
      /^no releases yet\n0 notes for the next release, no problems\nno artifact is inspected: catalog.yaml names no signers\n/,
    );
  });
});

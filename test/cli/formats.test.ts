import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import {
  artifact,
  cutCatalog,
  type Files,
  note,
  type Project,
  project,
  release,
  smallCatalog,
} from "../support/project.ts";
import { relcat, repository } from "../support/run.ts";

const sarifSchema = JSON.parse(
  readFileSync(join(repository, "test/fixtures/sarif/sarif-2.1.0.schema.json"), "utf8"),
);
const isSarif = new Ajv2020({ strict: false, validateFormats: false }).compile(sarifSchema);

/** One error with a location in JSON, and a warning. */
const faulty: Files = {
  ...smallCatalog,
  ...release("26.10.001", []),
  "releases/26.09.001/manifests/all.json": {
    release: "26.09.001",
    artifacts: [artifact("tool.msi", "msi", "A")],
  },
};

/** Runs as in a step of GitHub Actions. */
async function inStep(made: Project, args: readonly string[], env: Record<string, string> = {}) {
  const summary = join(made.folder, "summary.md");
  const result = await relcat(made.folder, args, {
    env: { GITHUB_ACTIONS: "true", GITHUB_STEP_SUMMARY: summary, ...env },
  });
  const written = made.list(".").includes("summary.md") ? made.read("summary.md") : "";
  return { ...result, summary: written };
}

const commands = (text: string) => text.split("\n").filter((line) => line.startsWith("::"));

describe("--format sarif", () => {
  test("prints a document that fits the schema of SARIF 2.1.0, with locations", async () => {
    const { stdout, exitCode } = await project(faulty).run("check", "--format", "sarif");
    const log = JSON.parse(stdout);
    expect(isSarif(log), JSON.stringify(isSarif.errors)).toBe(true);
    expect(exitCode).toBe(1);
    expect(log.runs[0].tool.driver).toMatchObject({
      name: "relcat",
      rules: [{ id: "checksum-format" }, { id: "release-empty" }],
    });
    expect(log.runs[0].columnKind).toBe("utf16CodeUnits");
    expect(log.runs[0].results).toEqual([
      {
        ruleId: "checksum-format",
        ruleIndex: 0,
        level: "error",
        message: {
          text: `artifacts[0].sha256 is "${"A".repeat(64)}", expected 64 lowercase hexadecimal characters`,
        },
        locations: [
          {
            physicalLocation: {
              artifactLocation: { uri: "releases/26.09.001/manifests/all.json", uriBaseId: "%SRCROOT%" },
              region: { startLine: 1, startColumn: expect.any(Number) },
            },
          },
        ],
      },
      expect.objectContaining({ ruleId: "release-empty", ruleIndex: 1, level: "warning" }),
    ]);
  });

  test("writes file names as URIs", async () => {
    const { stdout } = await project({ ...smallCatalog, "releases/next/notes/a b%#?ä.yaml": "x: 1\n" }).run(
      "check",
      "--format",
      "sarif",
    );
    const log = JSON.parse(stdout);
    expect(isSarif(log)).toBe(true);
    const uris = log.runs[0].results.map(
      (result: { locations: { physicalLocation: { artifactLocation: { uri: string } } }[] }) =>
        result.locations[0]?.physicalLocation.artifactLocation.uri,
    );
    expect(new Set(uris)).toEqual(new Set(["releases/next/notes/a%20b%25%23%3F%C3%A4.yaml"]));
  });

  test("prints an empty list if there are no problems", async () => {
    const { stdout, exitCode } = await project(smallCatalog).run("check", "--format", "sarif");
    const log = JSON.parse(stdout);
    expect({ exitCode, results: log.runs[0].results, valid: isSarif(log) }).toEqual({
      exitCode: 0,
      results: [],
      valid: true,
    });
  });
});

describe("annotations", () => {
  test("are printed as data with --format github, in any environment", async () => {
    const { stdout, exitCode } = await project(faulty).run("check", "--format", "github");
    expect(exitCode).toBe(1);
    expect(stdout.split("\n")).toEqual([
      expect.stringMatching(
        /^::error file=releases\/26\.09\.001\/manifests\/all\.json,line=1,col=\d+,title=checksum-format::artifacts\[0\]\.sha256 is "A{64}", expected 64 lowercase hexadecimal characters$/,
      ),
      "::warning file=releases/26.10.001/release.yaml,line=1,col=12,title=release-empty::the release has no artifacts yet%0AAdd packages with relcat ingest --release 26.10.001 BUILD-OUTPUT, or put manifests into releases/26.10.001/manifests/.",
    ]);
  });

  test("escape characters that have a meaning in a workflow command", async () => {
    const made = project({
      "releases/next/notes/a,b:c%d.yaml": `${JSON.stringify({ component: "100%\r\n::stop-commands::x", kind: "fix", text: "A" })}\n`,
    });
    const { stdout } = await made.run("check", "--format", "github");
    expect(stdout).toBe(
      "::error file=releases/next/notes/a%2Cb%3Ac%25d.yaml,line=1,col=14,title=text-format::" +
        'component is "100%25\\r\\n::stop-commands::x", expected one line of text, not empty and without control characters',
    );
  });

  test("stop at ten errors and ten warnings, and the job summary has the rest", async () => {
    const empty = Array.from({ length: 12 }, (_, index) =>
      release(`26.${String(index + 1).padStart(2, "0")}.001`, []),
    );
    const notes = Array.from({ length: 13 }, (_, index) => [`releases/next/notes/n${index}.yaml`, note("")]);
    const made = project({
      "releases/catalog.yaml": {},
      ...Object.assign({}, ...empty),
      ...Object.fromEntries(notes),
    });
    const { stderr, stdout, summary } = await inStep(made, ["check"]);
    const shown = commands(stderr);
    expect(shown.filter((line) => line.startsWith("::error")).length).toBe(10);
    expect(shown.filter((line) => line.startsWith("::warning")).length).toBe(10);
    expect(commands(stdout)).toEqual([]);
    expect(summary).toMatch(
      /^## relcat\n\n\*\*13 errors, 12 warnings in 12 releases, 0 artifacts, 13 notes for the next release\*\*\n/,
    );
    expect((summary.match(/<code>note&#45;|note-empty/g) ?? []).length).toBe(13);
    expect((summary.match(/release-empty/g) ?? []).length).toBe(12);
  });

  test("are not printed on standard output with --json", async () => {
    const { stdout, stderr } = await inStep(project(faulty), ["check", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ errors: 1, warnings: 1 });
    expect(commands(stderr).length).toBe(2);
  });

  test("are not printed outside of GitHub Actions", async () => {
    const made = project(faulty);
    for (const env of [{}, { GITHUB_ACTIONS: "false" }]) {
      const { stdout, stderr } = await relcat(made.folder, ["check"], {
        env: { ...env, GITHUB_STEP_SUMMARY: join(made.folder, "summary.md") },
      });
      expect(commands(`${stdout}\n${stderr}`)).toEqual([]);
    }
    expect(made.list(".")).toEqual(["releases"]);
  });

  test("are printed once by any command that fails", async () => {
    for (const command of ["build", "cut"]) {
      const { stderr, exitCode, summary } = await inStep(project(faulty), [command]);
      expect(exitCode).toBe(1);
      expect(commands(stderr).map((line) => line.split(" ")[0])).toEqual(["::error", "::warning"]);
      expect(summary).toContain("**1 error, 1 warning**");
    }
    const { stderr } = await inStep(project(faulty), ["build", "--with", "26.09.001"]);
    expect(commands(stderr)).toEqual([
      "::error title=usage::--with needs --released%0AWithout --released every version is built.",
    ]);
  });

  test("are printed for forbidden changes, with their line", async () => {
    const made = await cutCatalog();
    made.write("releases/26.08.001/manifests/all.json", {
      release: "26.08.001",
      artifacts: [artifact("tool-26.08.001.msi", "msi", "1")],
    });
    const { stderr, summary } = await inStep(made, ["plan", "--ledger-base", "none"]);
    expect(commands(stderr)).toEqual([
      expect.stringMatching(
        /^::error file=releases\/ledger\.jsonl,line=2,col=1,title=record-vanished::the ledger has "tool-26\.08\.001\.rpm"/,
      ),
    ]);
    expect(summary).toContain("## Plan with forbidden changes\n");
  });
});

describe("file names are relative to", () => {
  const nested = () => {
    const made = project();
    for (const [path, content] of Object.entries(faulty)) made.write(`deep/in/${path}`, content);
    return made;
  };
  const fileOf = (text: string) => /^::error file=([^,]+),/m.exec(text)?.[1];

  test("the workspace", async () => {
    const made = nested();
    const { stdout } = await inStep(made, ["-C", "deep/in", "check", "--format", "github"], {
      GITHUB_WORKSPACE: made.folder,
    });
    expect(fileOf(stdout)).toBe("deep/in/releases/26.09.001/manifests/all.json");
  });

  test("the repository's root if there is no workspace", async () => {
    const made = nested();
    await made.git("init", "--quiet");
    const { stdout } = await made.run("-C", "deep/in", "check", "--format", "github");
    expect(fileOf(stdout)).toBe("deep/in/releases/26.09.001/manifests/all.json");
    const sarif = JSON.parse((await made.run("-C", "deep/in", "check", "--format", "sarif")).stdout);
    expect(sarif.runs[0].results[0].locations[0].physicalLocation.artifactLocation.uri).toBe(
      "deep/in/releases/26.09.001/manifests/all.json",
    );
  });

  test("the repository's root if it is checked out into a folder of the workspace", async () => {
    const made = nested();
    await relcat(made.folder, ["--version"]);
    await made.git("init", "--quiet", "deep");
    const { stdout } = await inStep(made, ["-C", "deep/in", "check", "--format", "github"], {
      GITHUB_WORKSPACE: made.folder,
    });
    expect(fileOf(stdout)).toBe("in/releases/26.09.001/manifests/all.json");
  });

  test("the current folder if the workspace is elsewhere", async () => {
    const made = nested();
    const { stdout } = await inStep(made, ["-C", "deep/in", "check", "--format", "github"], {
      GITHUB_WORKSPACE: "/nowhere",
    });
    expect(fileOf(stdout)).toBe("releases/26.09.001/manifests/all.json");
  });
});

describe("the job summary", () => {
  test("is appended to, and says if there are no problems", async () => {
    const made = project(smallCatalog);
    writeFileSync(join(made.folder, "summary.md"), "before\n");
    const { summary } = await inStep(made, ["check"]);
    expect(summary).toBe(
      "before\n## relcat\n\n**no problems in 2 releases, 5 artifacts (1 private), 1 note for the next release**\n\n",
    );
  });

  test("stays within GitHub's limit", async () => {
    const notes = Array.from({ length: 450 }, (_, index) => [
      `releases/next/notes/${"ä".repeat(60)}${index}.yaml`,
      note(""),
    ]);
    const made = project(Object.fromEntries(notes));
    writeFileSync(join(made.folder, "summary.md"), "x".repeat(1_000_000));
    const { summary } = await inStep(made, ["check"]);
    expect(Buffer.byteLength(summary)).toBeLessThanOrEqual(1024 * 1024);
    expect(Buffer.byteLength(summary)).toBeGreaterThan(1024 * 1024 - 1000);
    expect(summary).toMatch(/\n\d+ more are not shown: there is no space left\.\n/);
    const before = summary.length;
    expect((await inStep(made, ["check"])).summary.length).toBe(before);
  });

  test("contains the plan after plan and cut", async () => {
    const made = project(smallCatalog);
    expect((await inStep(made, ["plan", "--ledger-base", "none"])).summary).toMatch(
      /^<!-- relcat plan -->\n\n## Plan\n/,
    );
    writeFileSync(join(made.folder, "summary.md"), "");
    expect((await inStep(made, ["cut", "--all"])).summary).toMatch(
      /^<!-- relcat plan -->\n\n## Plan\n\nCompared with <code>releases\/ledger\.jsonl<\/code>: 0 records\.\n/,
    );
  });

  test("does not fail the command if it cannot be written", async () => {
    const made = project(smallCatalog);
    const { exitCode, stderr } = await inStep(made, ["check"], {
      GITHUB_STEP_SUMMARY: join(made.folder, "no/folder/summary.md"),
    });
    expect(exitCode).toBe(0);
    expect(stderr).toContain("The job summary cannot be written: ");
  });
});

import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { note, project, release, smallCatalog } from "../support/project.ts";

const noted = {
  ...smallCatalog,
  ...release("26.10.001", [], {
    summary: "All *new*.",
    notes: { server: { features: ["Inline & early."] } },
  }),
  "releases/26.10.001/notes/a-fix.yaml": note("A fix.", { refs: ["NG-1"], security: true }),
};

describe("show", () => {
  test.each([
    [
      "text",
      /^Example 26\.10\.001 \(2026-10-15\)\n\nAll new\.\n\nServer: Fixes\n\n- \[Security\] A fix\. \(NG-1\)\n\nServer: Features\n\n- Inline & early\.$/,
    ],
    [
      "markdown",
      /^# Example 26\.10\.001\n\nReleased 2026-10-15\n\nAll \*new\*\.\n\n## Server\n\n### Fixes\n\n- \*\*Security:\*\* A fix\. \(NG-1\)\n/,
    ],
    ["html", /^<h3>.*Server.*<\/h3>\n<h4>.*Fixes.*<\/h4>\n<ul>\n<li/],
  ])("prints %s, and nothing else", async (format, expected) => {
    const { stdout, stderr, exitCode } = await project(noted).run(
      "notes",
      "show",
      "26.10.001",
      "--format",
      format,
    );
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    expect(stdout).toMatch(expected);
  });

  test("prints text by default", async () => {
    const { run } = project(noted);
    const { stdout } = await run("notes", "show", "26.10.001", "--format", "text");
    expect((await run("notes", "show", "26.10.001")).stdout).toBe(stdout);
  });

  test("accepts latest, a month and next", async () => {
    const { run, json } = project({ ...noted, ...release("26.10.002", []) });
    const heading = async (which: string) => (await run("notes", "show", which)).stdout.split("\n")[0];
    expect(await heading("latest")).toBe("Example 26.10.002 (2026-10-15)");
    expect(await heading("26.09")).toBe("Example 26.09.001 (2026-09-15)");
    expect(await heading("next")).toMatch(/^Example next \(\d{4}-\d{2}-\d{2}\)$/);
    expect((await json("notes", "show", "next")).document).toMatchObject({
      version: "next",
      sections: [{ component: "server", kinds: [{ notes: [{ text: "Something is about to come." }] }] }],
    });
    expect(await run("notes", "show", "26.12")).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("error[version-unknown] there is no release 26.12\n"),
    });
  });

  test("reports faults of waiting notes", async () => {
    const { run } = project({ ...noted, "releases/next/notes/bad.yaml": note("x", { component: "kernel" }) });
    const { stderr, exitCode } = await run("notes", "show", "next");
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^releases\/next\/notes\/bad\.yaml:1:\d+ error\[note-component\] /);
  });

  test.each([[["--format", "json"]], [["--json"]]])("prints a document with %j", async (args) => {
    const { stdout } = await project(noted).run("notes", "show", "26.10.001", ...args);
    expect(JSON.parse(stdout)).toMatchObject({
      schema_version: 1,
      version: "26.10.001",
      sections: [
        {
          component: "server",
          kinds: [
            { kind: "fix", notes: [{ text: "A fix.", refs: ["NG-1"], security: true }] },
            { kind: "feature" },
          ],
        },
      ],
    });
  });

  test("refuses an unknown version and a release with problems, and ignores problems of other releases", async () => {
    const { run, write } = project(noted);
    expect(await run("notes", "show", "26.11.001")).toMatchObject({
      exitCode: 1,
      stderr:
        "error[version-unknown] there is no release 26.11.001\n  hint: See releases/ for the existing versions.",
    });
    write("releases/26.10.001/notes/a-fix.yaml", note("", {}));
    expect((await run("notes", "show", "26.10.001")).stderr).toContain(
      "error[note-empty] the note has no text",
    );
    expect((await run("notes", "show", "26.09.001")).exitCode).toBe(0);
  });
});

describe("lint", () => {
  test("prints the problems of notes and no others", async () => {
    const { run } = project({
      ...noted,
      "releases/26.09.001/manifests/all.json": "{",
      "releases/26.10.001/notes/b.yaml": note("B.", { component: "servr" }),
      "releases/26.10.001/release.yaml": {
        version: "26.10.001",
        date: "2026-10-15",
        notes: { server: { fixs: ["C."] } },
      },
      "releases/next/notes/c.yaml": "component: server\n  kind: fix\n",
    });
    const { stdout, stderr, exitCode } = await run("notes", "lint");
    expect(exitCode).toBe(1);
    expect(stdout.match(/^\S+ error\[[a-z-]+\]/gm)?.map((line) => line.replace(/:.*(?= )/, ""))).toEqual([
      "releases/26.10.001/notes/b.yaml error[note-component]",
      "releases/26.10.001/release.yaml error[note-kind]",
      "releases/next/notes/c.yaml error[yaml-syntax]",
    ]);
    expect(stdout).toMatch(/\n3 errors in the notes$/);
    expect(stderr).toBe("Next: correct the notes named above, then relcat notes lint");
  });

  test("passes valid notes, as text and as a document", async () => {
    const { run, json } = project(noted);
    expect(await run("notes", "lint")).toMatchObject({
      stdout: "no problems in the notes",
      stderr: "Next: relcat check",
      exitCode: 0,
    });
    expect((await json("notes", "lint")).document).toEqual({
      schema_version: 1,
      errors: 0,
      warnings: 0,
      problems: [],
    });
  });
});

describe("add", () => {
  const add = ["notes", "add", "--component", "server", "--kind", "fix"];

  test("writes a fragment whose name has its first words", async () => {
    const { run, read } = project(smallCatalog);
    const { stdout, stderr, exitCode } = await run(
      ...add,
      "--ref",
      "NG-17",
      "--ref",
      "https://example.com/1",
      "--security",
      "The list no longer stalls behind a slow disk.",
    );
    expect({ stdout, stderr, exitCode }).toEqual({
      stdout: "Wrote releases/next/notes/the-list-no-longer-stalls-behind.yaml.",
      stderr: "Next: relcat notes show next",
      exitCode: 0,
    });
    expect(read("releases/next/notes/the-list-no-longer-stalls-behind.yaml")).toBe(
      `# yaml-language-server: $schema=../../../node_modules/relcat/schemas/note.schema.json
component: server
kind: fix
text: The list no longer stalls behind a slow disk.
refs:
  - NG-17
  - https://example.com/1
security: true
`,
    );
  });

  test("never overwrites a file", async () => {
    const { json, list } = project(smallCatalog);
    for (const name of ["same.yaml", "same-2.yaml", "same-3.yaml"]) {
      expect((await json(...add, "Same.")).document).toEqual({
        schema_version: 1,
        file: `releases/next/notes/${name}`,
      });
    }
    expect(list("releases/next/notes")).toEqual(["same-2.yaml", "same-3.yaml", "same.yaml", "waiting.yaml"]);
  });

  test("writes into a release with --release", async () => {
    const { succeed, run } = project(smallCatalog);
    expect((await succeed(...add, "--release", "26.09.001", "Late.")).stdout).toBe(
      "Wrote releases/26.09.001/notes/late.yaml.",
    );
    expect((await run(...add, "--release", "26.11.001", "Lost.")).stderr).toContain(
      "error[version-unknown] there is no release 26.11.001",
    );
  });

  test.each([
    ['"Quoted": # no comment\n- no list\n\n    code', "quoted-no-comment-no-list-code"],
    ["*anchor &alias !tag %dir @at `tick`", "anchor-alias-tag-dir-at-tick"],
    ["22.04", "22-04"],
    ["true", "true"],
    ["Überlänge für Änderungen", "uberlange-fur-anderungen"],
    ["修正 🎉", "note"],
    ["con", "note-con"],
    ["- ", "note"],
    [`${"long ".repeat(400)}end`, "long-long-long-long-long-long"],
    ["tab\tand \u0007 bell", "tab-and-bell"],
  ])("writes %j so that it is read back unchanged", async (text, slug) => {
    const { succeed, read } = project(smallCatalog);
    const file = `releases/next/notes/${slug}.yaml`;
    // A text may begin with a dash: after -- nothing is an option.
    expect((await succeed(...add, "--", text)).stdout).toBe(`Wrote ${file}.`);
    expect(parse(read(file)).text).toBe(text.trim());
    await succeed("notes", "lint");
  });

  test.each([
    [
      ["--component", "servr", "--kind", "fix", "A."],
      'the component "servr" is not known, expected server, documentation, meta_control_plane',
      "Did you mean server?",
    ],
    [
      ["--component", "server", "--kind", "improvement", "A."],
      'the kind "improvement" is not known, expected fix, feature',
      "catalog.yaml names them under notes.kinds.",
    ],
    [
      ["--component", "server", "--kind", "fix", "  "],
      "the note has no text",
      "Write what changed, in one or two sentences.",
    ],
    [
      ["--component", "server", "--kind", "fix", "--ref", "", "A."],
      "a reference is empty or has control characters",
      "Give URLs or issue names with --ref.",
    ],
  ])("refuses %j", async (args, message, hint) => {
    const { run, list } = project(smallCatalog);
    expect(await run("notes", "add", ...args)).toMatchObject({
      exitCode: 2,
      stderr: `error[usage] ${message}\n  hint: ${hint}`,
    });
    expect(list("releases/next/notes")).toEqual(["waiting.yaml"]);
  });
});

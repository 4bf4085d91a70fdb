import { existsSync, readFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import { beforeAll, describe, expect, test } from "vitest";
import { fieldCases } from "../records/cases/fields.ts";
import { repository, temporaryFolder } from "../support/run.ts";

const read = (file: string) => readFileSync(join(repository, file), "utf8");
const [section = ""] = /^## Your first change[\s\S]*?(?=^## )/m.exec(read("CONTRIBUTING.md")) ?? [];
const blocks = [...section.matchAll(/^ {3}```sh\n([\s\S]*?)^ {3}```$/gm)].map(([, block = ""]) =>
  block.replace(/^ {3}/gm, ""),
);
const commands = blocks.flatMap((block) => block.trimEnd().split("\n"));
const rule = "pipeline/records/artifact-rules.ts";

describe("the first change of CONTRIBUTING.md", () => {
  let clone: string;
  const sh = (script: string) => execa("bash", ["-ec", script], { cwd: clone });
  const block = (start: string) => blocks.find((each) => each.startsWith(start)) ?? "";

  beforeAll(async () => {
    clone = temporaryFolder();
    await cp(join(repository, rule), join(clone, rule));
    await sh("git init -q; git config user.name Ann; git config user.email ann@example.com");
    await sh("git add --all; git commit -qm Start");
  });

  test("breaks one line of the rule, and repairs it", async () => {
    await sh(block("perl"));
    const { stdout } = await sh("git diff --numstat");
    expect(stdout).toBe(`1\t1\t${rule}`);
    await sh(commands.find((line) => line.startsWith("git restore")) ?? "");
    expect((await sh("git status --short")).stdout).toBe("");
  });

  test("breaks the rule so far that its case is no longer reported", () => {
    const [, limit = ""] = /s\/bytes <= 255\/bytes <= (\d+)\//.exec(section) ?? [];
    const [, behaviour] = /-t '(.*)'/.exec(section) ?? [];
    const found = fieldCases.find((each) => each.behaviour === behaviour);
    const [, bytes = ""] = /the file name has (\d+) bytes/.exec(found?.problems[0] ?? "") ?? [];
    expect(Number(bytes)).toBeGreaterThan(255);
    expect(Number(limit)).toBeGreaterThanOrEqual(Number(bytes));
  });

  test("commits with a subject of at most 72 characters, and a body", async () => {
    await sh(`echo >> ${rule}`);
    await sh(block("git add"));
    const { stdout } = await sh("git log -1 --format=%B");
    const [subject = "", empty, ...body] = stdout.trimEnd().split("\n");
    expect(empty).toBe("");
    expect(body.length).toBeGreaterThan(0);
    for (const line of [subject, ...body]) expect(line.length, line).toBeLessThanOrEqual(72);
  });

  test("names only scripts and files that exist", () => {
    const scripts = commands.flatMap((line) => /^npm (?:run )?(types|lint|test)$/.exec(line)?.[1] ?? []);
    expect(scripts).toEqual(["types", "lint", "test"]);
    expect(Object.keys(JSON.parse(read("package.json")).scripts)).toEqual(expect.arrayContaining(scripts));
    const files = commands.join(" ").match(/\b(test|pipeline)\/[\w./-]+/g) ?? [];
    expect(files).toContain("test/records/checks.test.ts");
    expect(files.filter((file) => !existsSync(join(repository, file)))).toEqual([]);
  });
});

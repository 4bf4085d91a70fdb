/** @module-tag long */
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { beforeAll, expect, test } from "vitest";
import { artifactsPerRelease } from "../../bench/build/artifacts.ts";
import { addRelease, makeProject, type Project, withdrawAdded } from "../../bench/build/catalog.ts";
import { requireSameOutputs } from "../../bench/build/compare.ts";
import { program as relcat, repository, temporaryFolder } from "../support/run.ts";

let work: string;
let project: Project;

beforeAll(async () => {
  work = temporaryFolder();
  project = await makeProject(work, 2, relcat);
  await Promise.all([makeOutputs("same-outputs.ts"), makeOutputs("peers/floor.ts")]);
});

const outputs = (program: string) => join(work, "outputs", program);

const makeOutputs = (program: string) =>
  execa(process.execPath, [join(repository, "bench/build", program)], {
    env: { IN: project.folder, OUT: outputs(program) },
  });

function copyOfOutputs(): string {
  const folder = temporaryFolder();
  cpSync(outputs("peers/floor.ts"), folder, { recursive: true });
  return folder;
}

const check = () => execa(process.execPath, [relcat, "check"], { cwd: project.folder });

test("the measured catalog passes every check without a warning, with and without the open release", async () => {
  expect((await check()).stdout).toContain(`no problems in 2 releases, ${2 * artifactsPerRelease} artifacts`);
  addRelease(project);
  expect((await check()).stdout).toContain(`no problems in 3 releases, ${3 * artifactsPerRelease} artifacts`);
  withdrawAdded(project);
});

test("makeProject reuses the catalog of an earlier run without the added release", {
  tags: ["long"],
}, async () => {
  const made = join(project.folder, "made");
  const ledger = readFileSync(join(project.folder, "releases/ledger.jsonl"), "utf8");
  writeFileSync(join(project.folder, "releases/mark"), "");
  addRelease(project);
  expect(await makeProject(work, 2, relcat)).toEqual(project);
  expect(readFileSync(join(project.folder, "releases/mark"), "utf8")).toBe("");
  expect(readFileSync(join(project.folder, "releases/ledger.jsonl"), "utf8")).toBe(ledger);
  writeFileSync(made, "by something else");
  await makeProject(work, 2, relcat);
  expect(() => readFileSync(join(project.folder, "releases/mark"))).toThrow("ENOENT");
});

test("relcat and the reference script make the same outputs", () => {
  expect(() => requireSameOutputs(outputs("same-outputs.ts"), outputs("peers/floor.ts"))).not.toThrow();
});

test.each([
  ["a value of the list", "list.json", '"headless":true', '"headless":false', "says something else"],
  ["a note's text", "releases/16.01.001.json", '"text":"', '"text":"Or ', "says something else"],
  ["a word of a page", "releases/16.01.002.html", "Released", "Made", /16\.01\.002\.html says .*Made/],
  ["Markdown that stayed Markdown", "releases/16.01.001.html", /<code>(.*?)<\/code>/, "`$1`", "says"],
  ["emphasis that is gone", "releases/16.01.001.html", /<strong>(.*?)<\/strong>/, "$1", "expected"],
  ["the target of a link", "releases/16.01.001.html", "/files/16.01.001/", "/files/", "says"],
  ["an item that is gone", "releases/16.01.002.html", /<tr><td>.*?<\/tr>/, "", "says"],
])("the comparison reports %s", (_, path, from, to, message) => {
  const changed = copyOfOutputs();
  const text = readFileSync(join(changed, path), "utf8");
  const other = text.replace(from, to);
  expect(other).not.toBe(text);
  writeFileSync(join(changed, path), other);
  expect(() => requireSameOutputs(outputs("same-outputs.ts"), changed)).toThrow(message);
});

test("the comparison reports a missing page", () => {
  const changed = copyOfOutputs();
  rmSync(join(changed, "releases/16.01.002.html"));
  expect(() => requireSameOutputs(outputs("same-outputs.ts"), changed)).toThrow("has 3 files, expected 4");
});

test("--against with an unknown revision names the revision", async () => {
  const args = ["bench/build/run.ts", "--against", "no-such-commit", "--folder", temporaryFolder()];
  const { exitCode, stderr } = await execa(process.execPath, args, { cwd: repository, reject: false });
  expect(exitCode).not.toBe(0);
  expect(stderr).toContain('--against takes a commit, and git knows none that is named "no-such-commit"');
});

/** @module-tag long */
import { HtmlValidate } from "html-validate";
import { expect, test } from "vitest";
import { liveProject } from "../intake/import/importing.ts";
import { hostileRecords } from "../support/hostile.ts";
import { project } from "../support/project.ts";
import { copyProject, relcat } from "../support/run.ts";
import { readTree, type Tree } from "../support/tree.ts";

/** Every page against html-validate's recommended rules; an id may have the dots of a version. */
const validator = new HtmlValidate({
  extends: ["html-validate:recommended"],
  rules: { "valid-id": ["error", { relaxed: true }] },
});

async function complaintsAbout(tree: Tree): Promise<string[]> {
  const pages = [...tree].filter(([path]) => path.endsWith(".html"));
  expect(pages.length).toBeGreaterThan(4);
  const found: string[] = [];
  for (const [path, bytes] of pages) {
    const { results } = await validator.validateString(bytes.toString("utf8"), path);
    for (const { messages } of results)
      for (const { line, ruleId, message } of messages) found.push(`${path}:${line} ${ruleId} ${message}`);
  }
  return found;
}

test("the pages of the sample are valid HTML", async () => {
  const folder = copyProject(".");
  const { exitCode, stderr } = await relcat(folder, ["build"]);
  expect(exitCode, stderr).toBe(0);
  expect(await complaintsAbout(readTree(`${folder}/dist`))).toEqual([]);
});

test("the pages of a catalog without releases are valid HTML", async () => {
  const made = project({ "releases/catalog.yaml": { product: "Empty" } });
  await made.succeed("build");
  expect(await complaintsAbout(readTree(`${made.folder}/dist`))).toEqual([]);
});

test("pages with hostile values are valid HTML", { tags: ["long"] }, async () => {
  const made = liveProject(hostileRecords());
  await made.succeed("import", "live.json", "--accept-violations");
  await made.succeed("build", "--released");
  expect(await complaintsAbout(readTree(`${made.folder}/dist`))).toEqual([]);
});

/** @module-tag long */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { type PublishingProject, publishingProject } from "./support.ts";

let project: PublishingProject;
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const live = (path: string) => readFileSync(join(project.www, "current/releases/26.08.001", path), "utf8");

/** Changes a note of 26.08.001, and the day of its correction. */
async function edit(text: string, corrected = ""): Promise<void> {
  const file = join(project.folder, "releases/26.08.001/release.yaml");
  const [before = ""] = readFileSync(file, "utf8").split("corrected: ");
  const after = before.replace(/in bulk; .*/, `in bulk; ${text}`).trimEnd();
  writeFileSync(file, `${after}\n${corrected === "" ? "" : `corrected: ${corrected}\n`}`);
  await project.make();
}

async function refused(): Promise<string> {
  const { exitCode, stderr } = await project.run("publish", "prod");
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining("error[notes-changed]")]);
  return stderr;
}

beforeEach(async () => {
  project = await publishingProject({
    trust: "none",
    sites: (folder) =>
      `  prod: {url: "dir:${folder}/www"}\n  staging: {url: "dir:${folder}/stage", settles: false}\n`,
  });
  await edit("see the guide.");
  await project.succeed("publish", "prod");
});

test("notes that changed since they were published need the day of the correction", async () => {
  await edit("the workaround was wrong.");
  expect(await refused()).toBe(
    "error[notes-changed] the notes of 26.08.001 differ from those at prod, and its release.yaml does not have the day of this correction\n" +
      `  hint: Add corrected: ${inDays(0)} there, which the page of the release will show, or restore the notes. Then build and sign again.`,
  );
  await project.succeed("publish", "staging");
  await edit("the workaround was wrong.", inDays(0));
  await project.succeed("publish", "prod");
  expect(live("index.html")).toContain(
    `· Notes corrected on <time datetime="${inDays(0)}">${inDays(0)}</time>`,
  );
  expect(live("notes.md")).toContain(`Released 2026-08-12, notes corrected ${inDays(0)}`);
  expect(JSON.parse(live("notes.json"))).toMatchObject({ corrected: inDays(0) });
  // A second correction on that day, and a build without any.
  await edit("the second workaround was wrong too.", inDays(0));
  await project.succeed("publish", "prod");
  await project.make();
  expect((await project.succeed("publish", "prod")).stdout).toContain("nothing to do");
});

test("an earlier correction does not date a later one, and its day cannot be removed or in the future", async () => {
  await edit("the workaround was wrong.", inDays(-3));
  await project.succeed("publish", "prod");
  await edit("the second workaround was wrong too.", inDays(-3));
  await refused();
  await edit("the workaround was wrong.");
  await refused();
  for (const day of [inDays(30), "2026-01-01"]) {
    await edit("the second workaround was wrong too.", day);
    await refused();
  }
  await edit("the second workaround was wrong too.", inDays(-2));
  await project.succeed("publish", "prod");
});

test("notes of a release whose day has not come yet can be corrected today", async () => {
  const file = join(project.folder, "releases/26.08.001/release.yaml");
  writeFileSync(file, readFileSync(file, "utf8").replace(/^date: .*/m, `date: ${inDays(9)}`));
  await edit("the workaround was wrong.", inDays(0));
  await project.succeed("publish", "prod");
  await edit("the second workaround was wrong too.", inDays(-4));
  await refused();
});

test("other titles and another order of sections are no correction", async () => {
  const file = join(project.folder, "releases/catalog.yaml");
  const config = readFileSync(file, "utf8").replace(/^notes:.*\n(?:[ ].*\n)*/m, "");
  const components = "{ meta_control_plane: Control plane, documentation: Pages, server: Server }";
  writeFileSync(file, `${config}\nnotes: { components: ${components} }\n`);
  await project.make();
  expect((await project.succeed("publish", "prod")).stdout).toContain("Published");
  expect(live("notes.json")).toContain("Control plane");
});

test("the id of a published vulnerability cannot go, not even with a correction", async () => {
  const security = { id: "ACME-2026-001", severity: "low" };
  const fragment = join(project.folder, "releases/26.08.001/notes/fix.yaml");
  mkdirSync(dirname(fragment), { recursive: true });
  const write = (id: string) => {
    const written = { component: "server", kind: "fix", text: "Fixed.", security: { ...security, id } };
    writeFileSync(fragment, JSON.stringify(written));
  };
  write("ACME-2026-001");
  await edit("see the guide.", inDays(0));
  await project.succeed("publish", "prod");
  write("ACME-2026-002");
  await edit("see the guide.", inDays(0));
  expect(await refused()).toContain(
    "the notes of 26.08.001 at prod describe ACME-2026-001, which the notes here do not",
  );
});

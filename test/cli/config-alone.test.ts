import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { project, smallCatalog } from "../support/project.ts";

/** A cut project in git whose manifests became unreadable, so that check fails. */
async function unreadable() {
  const made = project({
    ...smallCatalog,
    "releases/catalog.yaml": { require: {}, ledger: { base: "HEAD" } },
  });
  await made.git("init", "-q");
  await made.git("add", ".");
  await made.git("commit", "-qm", "Start");
  await made.succeed("cut", "--all", "--allow-incomplete");
  const version = made.list("releases").findLast((name) => /^\d/.test(name)) ?? "";
  symlinkSync("nowhere", join(made.folder, `releases/${version}/manifests/gone.json`));
  const { exitCode, stderr } = await made.run("check");
  expect([exitCode, stderr]).toEqual([
    2,
    expect.stringContaining("is a link to something that is not there"),
  ]);
  return { made, version };
}

test("uncut and notes add read the configuration and no manifest", async () => {
  const { made, version } = await unreadable();
  await made.succeed("notes", "add", "A fix.", "--component", "server", "--kind", "fix");
  await made.succeed("uncut", version);
  expect(made.read("releases/ledger.jsonl")).not.toContain(`"version":"${version}"`);
});

test("uncut and notes add report problems of the configuration as check does", async () => {
  const made = project({ ...smallCatalog, "releases/catalog.yaml": { require: {}, produkt: "x" } });
  const add = ["notes", "add", "A fix.", "--component", "server", "--kind", "fix"];
  for (const words of [["uncut", "26.08.001"], add]) {
    const { exitCode, stderr } = await made.run(...words);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("error[unknown-key]")]);
  }
});

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { documentSchemas } from "../../pipeline/documents/schemas.ts";
import { temporaryFolder } from "../support/run.ts";
import { signedProject } from "../trust/support.ts";
import { copyOf, Forger, hash, rootOf } from "./support.ts";

// biome-ignore lint/suspicious/noExplicitAny: documents get members that no type has
type Json = any;

/** A site as a later version of relcat may make it, within schema_version 1. */
test("verify and plan --against ignore unknown members", { tags: ["long"] }, async () => {
  const project = await signedProject("simple", new Date().toISOString());
  await project.sign();
  const folder = copyOf(project.dist);
  const edit = (path: string, change: (document: Json) => void) => {
    const document = JSON.parse(readFileSync(join(folder, path), "utf8"));
    change(document);
    const text = JSON.stringify(document);
    writeFileSync(join(folder, path), text);
    for (const ending of ["gz", "br", "zst"]) rmSync(join(folder, `${path}.${ending}`), { force: true });
    return { sha256: hash(text), size: Buffer.byteLength(text) };
  };
  const later = (document: Json) => {
    document.later = { deep: [1] };
    for (const entry of document.packages) entry.later = "text";
  };
  const file = "api/v1/latest.json";
  const latest = edit(file, later);
  const build = edit("build.json", (document) => {
    document.later = true;
    document.files[file] = { ...latest, later: 1 };
  });
  const forger = new Forger(folder, project);
  forger.retarget("catalog", "catalog/latest.json", later);
  forger.retarget("catalog", "catalog/files.json", (document) => {
    document.later = 1;
    Object.assign(document.files, { [file]: latest, "build.json": build });
  });
  const trust = ["--root", rootOf(project), "--trust-dir", temporaryFolder()];
  const verified = await project.relcat(["verify", folder, ...trust]);
  expect([verified.exitCode, verified.stdout + verified.stderr]).toEqual([
    0,
    expect.stringMatching(/^Verified /),
  ]);
  const planned = await project.relcat(["plan", "--against", folder, "--json"]);
  expect(planned.exitCode, planned.stderr).toBe(0);
  // Documents are compared only where build.json could be read.
  expect(JSON.stringify(JSON.parse(planned.stdout))).toContain(file);
});

test("the schemas of a site's documents allow unknown members at every depth, those of authored files do not", () => {
  const site = [
    "package-record",
    "package-list",
    "release-document",
    "release-index",
    "release-notes",
    "latest",
    "channels",
    "channel",
    "versions",
    "lines",
    "gone",
    "build",
    "feeds",
  ];
  for (const name of Object.keys(documentSchemas)) {
    const text = readFileSync(join(import.meta.dirname, `../../schemas/${name}.schema.json`), "utf8");
    expect([name, text.includes('"additionalProperties": false')]).toEqual([name, !site.includes(name)]);
  }
});

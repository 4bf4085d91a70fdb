import { copyFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { relcat, repository, temporaryFolder } from "../../support/run.ts";
import { fixtures } from "./ingesting.ts";

/** A project whose release 26.08.002 is open, and a client to ingest. */
function openRelease(): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "releases/26.08.002"), { recursive: true });
  mkdirSync(join(folder, "dist"));
  writeFileSync(join(folder, "releases/26.08.002/release.yaml"), "version: 26.08.002\ndate: 2026-08-19\n");
  const fixture = (path: string) => join(repository, fixtures, path);
  copyFileSync(fixture("catalog.yaml"), join(folder, "releases/catalog.yaml"));
  copyFileSync(fixture("plain/client-x86_64.rpm"), join(folder, "dist/client-x86_64.rpm"));
  return folder;
}

const release = ["--release", "26.08.002"];

test("--out must end like a manifest", async () => {
  const folder = openRelease();
  expect(await relcat(folder, ["ingest", ...release, "dist", "--out", "x.txt"])).toMatchObject({
    exitCode: 2,
    stderr:
      "error[usage] --out x.txt is not a manifest name, expected a name that ends in .json, .yaml or .yml\n" +
      "  hint: Only such files are read as manifests; - means standard output.",
  });
  expect(existsSync(join(folder, "x.txt"))).toBe(false);
});

test("--set file= for two files is a usage error", async () => {
  const folder = openRelease();
  writeFileSync(join(folder, "dist/other.rpm"), "other");
  expect(await relcat(folder, ["ingest", ...release, "dist", "--set", "file=x.rpm"])).toMatchObject({
    exitCode: 2,
    stderr:
      "error[usage] --set file=x.rpm would give 2 files one name: client-x86_64.rpm, other.rpm\n" +
      "  hint: Ingest the file with that name in a run of its own.",
  });
});

test("an empty document, and a binary file without a rule, are refused", async () => {
  const folder = openRelease();
  writeFileSync(join(folder, "empty.json"), "");
  writeFileSync(join(folder, "dist/other.bin"), "other");
  const said = async (input: string) =>
    (await relcat(folder, ["ingest", ...release, input])).stderr.split("\n")[0];
  expect(await said("empty.json")).toBe(
    "empty.json:1:1 error[json-syntax] the file is empty, expected a build output",
  );
  expect(await said("dist/other.bin")).toBe(
    'dist/other.bin error[artifact-unmatched] nothing says what "other.bin" is',
  );
});

test("an invalid release is refused with the open ones and the next one", async () => {
  const folder = openRelease();
  const hintFor = async (version: string) =>
    (await relcat(folder, ["ingest", "--release", version, "dist"])).stderr.split("hint: ")[1];
  const elsewhere = "or write the manifest elsewhere with --out FILE.";
  expect(await hintFor("26.08.009")).toBe(
    `There is 26.08.002; relcat new 26.08 opens 26.08.003, ${elsewhere}`,
  );
  expect(await hintFor("26.11.009")).toBe(
    `There is 26.08.002; relcat new 26.11 opens 26.11.001, ${elsewhere}`,
  );
  expect(await hintFor("26.11.001")).toBe(`Open it with relcat new 26.11, ${elsewhere}`);
});

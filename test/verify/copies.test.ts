/** @module-tag long */
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { afterFile } from "../support/after-file.ts";
import { allFeeds, type FeedProject } from "../support/all-feeds.ts";
import { pathOf } from "../support/artifacts.ts";
import { relcat, temporaryFolder } from "../support/run.ts";
import { startS3Fake } from "../support/s3-fake.ts";

/** Layers of an OCI registry are copies of artifacts, which publishing makes. */

let made: FeedProject;
const files = ["acme-1.2.3.tgz", "acme-1.2.3.tgz.prov"];
const manifest = "releases/26.08.001/manifests/build.json";
/** Publishing changed notes of a live release needs it. */
const today = new Date().toISOString().slice(0, 10);

/** A signed build with a chart, whose artifacts are uploaded. */
async function signedChart(sites: object, environment: Readonly<Record<string, string>> = {}) {
  made = await allFeeds({ feeds: { helm: { oci: true } }, sites }, environment);
  made.write("releases/26.08.001/release.yaml", { version: "26.08.001", date: "2026-08-15" });
  for (const name of files) cpSync(pathOf(`helm/${name}`), join(made.folder, name));
  await made.succeed("ingest", "--release", "26.08.001", "--out", manifest, files[0] ?? "");
  const { exitCode, stderr } = await made.signing(
    "upload",
    "--site",
    "prod",
    "--manifest",
    manifest,
    ...files,
  );
  expect(exitCode, stderr).toBe(0);
  await made.publish("26.08.001", []);
}

beforeEach(() => signedChart({ prod: { url: "dir:www" } }));

const copies = (): string[] => Object.keys(JSON.parse(made.read("dist/build.json")).copies).sort();
const live = (path: string) => join(made.folder, "www/current", path);

async function verify(place: string) {
  const { exitCode, stdout, stderr } = await relcat(made.folder, [
    ...["verify", place, "--root", "releases/trust/1.root.json", "--trust-dir", temporaryFolder()],
  ]);
  return { exitCode, text: stdout + stderr };
}

test("a build without artifacts is verified, and so is the published site", async () => {
  expect(await verify("dist")).toMatchObject({ exitCode: 0 });
  const { added } = JSON.parse((await made.succeed("publish", "prod", "--dry-run", "--json")).stdout);
  expect(added.map(({ path }: { path: string }) => path)).toEqual(expect.arrayContaining(copies()));
  await made.succeed("publish", "prod");
  expect(await verify("www")).toMatchObject({ exitCode: 0 });
});

test("verify names missing and changed copies, and publish --repair restores them", async () => {
  await made.succeed("publish", "prod");
  const [missing = "", changed = ""] = copies();
  const before = [missing, changed].map((path) => readFileSync(live(path)));
  rmSync(live(missing));
  rmSync(live(changed));
  writeFileSync(live(changed), "other");
  const { exitCode, text } = await verify("www");
  expect(exitCode).toBe(6);
  expect(text).toContain(`  ${missing} is missing (404)`);
  expect(text).toContain(`  ${changed} is not what was signed`);
  const { repaired } = JSON.parse((await made.succeed("publish", "prod", "--repair", "--json")).stdout);
  expect(repaired.map(({ path }: { path: string }) => path).sort()).toEqual([missing, changed].sort());
  expect([missing, changed].map((path) => readFileSync(live(path)))).toEqual(before);
  expect(await verify("www")).toMatchObject({ exitCode: 0 });
});

test("a rollback and a refresh keep the copies of the build that they make live", async () => {
  await made.succeed("publish", "prod");
  const before = copies();
  await made.publish("26.08.001", [], { summary: "Other.", corrected: today });
  await made.succeed("publish", "prod");
  for (const args of [
    ["publish", "prod", "--refresh"],
    ["rollback", "prod", "--reason", "Too early.", "--yes"],
  ]) {
    const { exitCode, stderr } = await made.signing(...args);
    expect(exitCode, stderr).toBe(0);
    for (const path of before) expect(readFileSync(live(path)).length).toBeGreaterThan(0);
    expect(await verify("www")).toMatchObject({ exitCode: 0 });
  }
});

test("a rollback and a refresh of a signed site in a bucket keep the copies", async () => {
  const fake = await startS3Fake();
  afterFile(() => fake.stop());
  const site = { url: "s3://site/", endpoint: fake.endpoint, region: "us-east-1" };
  await signedChart({ prod: site }, fake.environment);
  const run = async (...args: string[]) => {
    const { exitCode, stderr } = await made.signing(...args);
    expect(exitCode, stderr).toBe(0);
  };
  await run("publish", "prod");
  const before = copies();
  const bytes = before.map((path) => fake.bucket.objects.get(path)?.bytes);
  expect(bytes.every((each) => (each?.length ?? 0) > 0)).toBe(true);
  await made.publish("26.08.001", [], { summary: "Other.", corrected: today });
  await run("publish", "prod");
  for (const args of [
    ["publish", "prod", "--refresh"],
    ["rollback", "prod", "--reason", "Too early.", "--yes"],
  ]) {
    await run(...args);
    expect(before.map((path) => fake.bucket.objects.get(path)?.bytes)).toEqual(bytes);
  }
});

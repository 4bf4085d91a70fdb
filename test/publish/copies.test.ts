/** @module-tag long */
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pathOf } from "../support/artifacts.ts";
import { project } from "../support/project.ts";
import { relcat } from "../support/run.ts";
import { type S3Fake, startS3Fake } from "../support/s3-fake.ts";
import { etagOf } from "./bucket-support.ts";

/** Layers of an OCI registry are copies of artifacts, which publishing makes. */

let fake: S3Fake;
beforeAll(async () => {
  fake = await startS3Fake();
});
afterAll(() => fake.stop());

const files = ["acme-1.2.3.tgz", "acme-1.2.3.tgz.prov"];

/** A project with a built chart that was uploaded. */
async function chartProject() {
  fake.bucket.objects.clear();
  const { folder, write, read } = project({
    "releases/catalog.yaml": {
      product: "Example",
      require: {},
      base_url: "https://downloads.example.com",
      trust: "none",
      feeds: { helm: { oci: true } },
      sites: {
        folder: { url: "dir:www", settles: false },
        bucket: { url: "s3://site/pre/", endpoint: fake.endpoint, region: "us-east-1", settles: false },
      },
    },
    "releases/26.08.001/release.yaml": { version: "26.08.001", date: "2026-08-19" },
  });
  for (const name of files) cpSync(pathOf(`helm/${name}`), join(folder, name));
  const run = (...args: string[]) => relcat(folder, args, { env: fake.environment });
  const succeed = async (...args: string[]) => {
    const { exitCode, stderr } = await run(...args);
    if (exitCode !== 0) throw new Error(`relcat ${args.join(" ")}: ${stderr}`);
  };
  const manifest = "releases/26.08.001/manifests/build.json";
  const chart = files[0] ?? "";
  await succeed("ingest", "--release", "26.08.001", "--out", manifest, chart);
  const upload = (site: string) => succeed("upload", "--site", site, "--manifest", manifest, ...files);
  const build = (site: string) => succeed("build", "--site", site);
  return { folder, write, read, run, succeed, upload, build };
}

const copiesIn = (text: string): [string, { from: string; sha256: string; size: number }][] =>
  Object.entries(JSON.parse(text).copies);

const bytesOf = (from: string) => readFileSync(pathOf(`helm/${from.replace(/.*\//, "")}`));

describe("in a folder", () => {
  test("a copy is a hard link of the artifact, and stays when the build is published again", async () => {
    const { folder, run, succeed, upload, build, read, write } = await chartProject();
    await upload("folder");
    await build("folder");
    const copies = copiesIn(read("dist/build.json"));
    expect(copies.map(([, { from }]) => from).sort()).toEqual(files.map((name) => `files/26.08.001/${name}`));
    expect(existsSync(join(folder, "dist", copies[0]?.[0] ?? ""))).toBe(false);
    await succeed("publish", "folder");
    const expectCopies = () => {
      for (const [path, { from }] of copies) {
        const [copy, artifact] = [join(folder, "www/current", path), join(folder, "www", from)];
        expect(readFileSync(copy)).toEqual(bytesOf(from));
        expect(statSync(copy).ino).toBe(statSync(artifact).ino);
      }
    };
    expectCopies();
    expect((await run("publish", "folder")).stdout).toContain("already");
    const corrected = new Date().toISOString().slice(0, 10);
    write("releases/26.08.001/release.yaml", {
      version: "26.08.001",
      date: "2026-08-19",
      summary: "Other",
      corrected,
    });
    await build("folder");
    await succeed("publish", "folder");
    expectCopies();
  });

  test("nothing is published if an artifact is missing or changed", async () => {
    const { folder, run, upload, build } = await chartProject();
    await upload("folder");
    await build("folder");
    const provenance = join(folder, "www/files/26.08.001/acme-1.2.3.tgz.prov");
    for (const change of [() => writeFileSync(provenance, "other"), () => rmSync(provenance)]) {
      change();
      const { exitCode, stderr } = await run("publish", "folder");
      expect(exitCode).toBe(1);
      expect(stderr).toContain("acme-1.2.3.tgz.prov is missing or has other bytes, expected the SHA-256");
      expect(readdirSync(join(folder, "www"))).not.toContain("current");
    }
  });
});

describe("in a bucket", () => {
  test("a copy is an object with the headers of a layer, and is in no bundle", async () => {
    const { upload, build, succeed, read } = await chartProject();
    await upload("bucket");
    await build("bucket");
    await succeed("publish", "bucket");
    for (const [path, { from }] of copiesIn(read("dist/build.json"))) {
      const object = fake.bucket.objects.get(`pre/${path}`);
      expect(object?.bytes).toEqual(bytesOf(from));
      expect(object?.headers).toMatchObject({
        "content-type": "application/octet-stream",
        "cache-control": "public, max-age=31536000, immutable, no-transform",
      });
    }
  });

  test("missing and changed copies are restored by publish --repair", async () => {
    const { upload, build, succeed, run, read } = await chartProject();
    await upload("bucket");
    await build("bucket");
    await succeed("publish", "bucket");
    const [missing = "", changed = ""] = copiesIn(read("dist/build.json")).map(([path]) => path);
    const { objects } = fake.bucket;
    const before = objects.get(`pre/${changed}`)?.bytes;
    objects.delete(`pre/${missing}`);
    const bytes = Buffer.from("other");
    objects.set(`pre/${changed}`, { bytes, etag: etagOf(bytes), headers: {} });
    const { exitCode, stdout } = await run("publish", "bucket", "--repair", "--json");
    const repaired = JSON.parse(stdout).repaired.map(({ path }: { path: string }) => path);
    expect([exitCode, repaired.sort()]).toEqual([0, [missing, changed].sort()]);
    expect(objects.has(`pre/${missing}`)).toBe(true);
    expect(objects.get(`pre/${changed}`)?.bytes).toEqual(before);
  });

  test("an artifact with other bytes is reported before anything becomes public", async () => {
    const { upload, build, run } = await chartProject();
    await upload("bucket");
    await build("bucket");
    const key = "pre/files/26.08.001/acme-1.2.3.tgz.prov";
    expect([...fake.bucket.objects.keys()]).toContain(key);
    const bytes = Buffer.from("other");
    fake.bucket.objects.set(key, { bytes, etag: etagOf(bytes), headers: {} });
    const { exitCode, stderr } = await run("publish", "bucket");
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`${key} is missing or has other bytes`);
    expect([...fake.bucket.objects.keys()]).not.toContain("pre/index.html");
  });
});

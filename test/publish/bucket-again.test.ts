/** @module-tag long */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeEach, expect, test } from "vitest";
import type { SiteState } from "../../pipeline/documents/site-state.ts";
import { type S3Fake, startS3Fake } from "../support/s3-fake.ts";
import { differences, readTree } from "../support/tree.ts";
import { ageObjects, bucketProject, etagOf, prefix, publicTree, serveBucket } from "./bucket-support.ts";
import { changeText, type PublishingProject } from "./support.ts";

let fake: S3Fake;
let project: PublishingProject;
const fakes: S3Fake[] = [];
beforeEach(async () => {
  fake = await startS3Fake();
  fakes.push(fake);
  project = await bucketProject(fake);
});
afterAll(() => Promise.all(fakes.map((each) => each.stop())));

async function build(text: string): Promise<void> {
  changeText(project, text);
  await project.succeed("build", "--released");
  await project.succeed("sign", "--site", "prod");
}

/** A publish that ends before it writes `path`, or a path with this beginning. */
async function interrupted(path: string): Promise<void> {
  fake.fault = ({ operation, key }) =>
    operation === "PutObject" && key.startsWith(`${prefix}${path}`)
      ? { status: 403, code: "AccessDenied" }
      : undefined;
  expect((await project.run("publish", "prod")).exitCode).toBe(4);
  fake.fault = () => undefined;
}

/** Files of the build that differ at the site. */
function odd(): string[] {
  const built = readTree(join(project.folder, "dist"));
  built.delete("metadata/signed.json");
  const tree = publicTree(fake);
  return differences(built, new Map([...tree].filter(([path]) => built.has(path))));
}

const foreign = (path: string) =>
  fake.bucket.objects.set(`${prefix}${path}`, {
    bytes: Buffer.from("mine"),
    etag: "0".repeat(32),
    headers: {},
  });

test("publish replaces earlier objects of other programs, even if the first publish is interrupted", async () => {
  foreign("index.html");
  foreign("api/v1/package/index.json");
  await interrupted("feed.atom");
  await project.succeed("publish", "prod");
  expect(odd()).toEqual([]);
});

test("two builds that were interrupted leave no objects", { tags: ["long"] }, async () => {
  await project.succeed("publish", "prod");
  await build("Two.");
  await interrupted("build.json");
  await build("Three.");
  await interrupted("releases/26.08.001/index.html");
  await project.succeed("publish", "prod");
  expect(odd()).toEqual([]);
  const url = await serveBucket(fake);
  await project.succeed("verify", url, "--root", "releases/trust/1.root.json", "--trust-dir", "state");
});

test("signatures of an abandoned publish are removed after the retention time", {
  tags: ["long"],
}, async () => {
  const file = join(project.folder, "releases/catalog.yaml");
  const keep = (days: number) =>
    writeFileSync(
      file,
      readFileSync(file, "utf8").replace(/us-east-1.*\}$/m, `us-east-1, keep: {days: ${days}}}`),
    );
  const signed = () =>
    [...publicTree(fake).keys()].filter((path) => /^(metadata|targets)\//.test(path)).sort();
  keep(14);
  await project.succeed("publish", "prod");
  const published = signed();
  await build("Two.");
  await interrupted("state/");
  const orphans = signed().filter((path) => !published.includes(path));
  expect(orphans.length).toBeGreaterThan(3);
  foreign("metadata/notes.txt");
  await build("Three.");
  await project.succeed("publish", "prod");
  expect(signed()).toEqual(expect.arrayContaining(orphans));
  keep(0);
  await build("Four.");
  await project.succeed("publish", "prod");
  // Another publisher may be writing objects that are younger than a lease.
  expect(signed()).toEqual(expect.arrayContaining(orphans));
  ageObjects(fake);
  await build("Five.");
  await project.succeed("publish", "prod");
  expect(signed().filter((path) => orphans.includes(path))).toEqual([]);
  expect(signed()).toContain("metadata/notes.txt");
  const url = await serveBucket(fake);
  await project.succeed("verify", url, "--root", "releases/trust/1.root.json", "--trust-dir", "state");
});

test("a kept build that was changed or deleted is not restored", async () => {
  await project.succeed("publish", "prod");
  await build("Two.");
  await project.succeed("publish", "prod");
  const refuses = async () =>
    expect(await project.run("rollback", "prod", "--reason", "odd page", "--yes")).toMatchObject({
      exitCode: 6,
      stderr: expect.stringMatching(
        /^error\[build-unproved\] s3:\/\/site\/pre: metadata\/\d+\.snapshot\.json of the kept build [0-9a-f]{12} is (missing|not signed by)/,
      ),
    });
  const bundles = [...fake.bucket.objects.keys()].filter((key) => key.endsWith(".bundle.gz"));
  for (const bytes of [gzipSync("mine"), Buffer.from("mine")]) {
    for (const key of bundles) fake.bucket.objects.set(key, { bytes, etag: etagOf(bytes), headers: {} });
    await refuses();
  }
  for (const key of bundles) fake.bucket.objects.delete(key);
  await refuses();
});

test("other files below state/ are kept", async () => {
  foreign("state/prod/terraform.tfstate");
  await project.succeed("publish", "prod");
  await build("Two.");
  await project.succeed("publish", "prod");
  expect(fake.bucket.objects.has(`${prefix}state/prod/terraform.tfstate`)).toBe(true);
});

test("rollback works for every build of the history, also if its signatures were removed", async () => {
  const file = join(project.folder, "releases/catalog.yaml");
  writeFileSync(
    file,
    readFileSync(file, "utf8").replace("region: us-east-1}", "region: us-east-1, keep: {days: 0}}"),
  );
  await project.succeed("publish", "prod");
  await build("Two.");
  await project.succeed("publish", "prod");
  const page = () => publicTree(fake).get("releases/26.08.001/index.html")?.toString();
  expect(page()).toContain("Two.");
  await project.succeed("rollback", "prod", "--reason", "odd page", "--yes");
  expect(page()).not.toContain("Two.");
  const url = await serveBucket(fake);
  await project.succeed("verify", url, "--root", "releases/trust/1.root.json", "--trust-dir", "state");
});

test("the proofs of a kept publish are removed together with it", {
  tags: ["long"],
}, async () => {
  const file = join(project.folder, "releases/catalog.yaml");
  const settings = "region: us-east-1, keep: {days: 0, builds: 2}}";
  writeFileSync(file, readFileSync(file, "utf8").replace("region: us-east-1}", settings));
  const signed = () =>
    [...publicTree(fake).keys()].filter((path) => /^(metadata\/\d+\.snapshot|targets)/.test(path));
  const publish = async () => {
    ageObjects(fake);
    await project.succeed("publish", "prod");
    return signed();
  };
  const first = await publish();
  await build("Two.");
  expect(await publish()).toEqual(expect.arrayContaining(first));
  await build("Three.");
  const two = signed().filter((path) => !first.includes(path));
  // The first publish leaves the history here, the second does not.
  await publish();
  await build("Four.");
  const left = await publish();
  expect(first.filter((path) => left.includes(path) && path.includes("snapshot"))).toEqual([]);
  expect(two.filter((path) => path.includes("snapshot"))).toEqual(["metadata/2.snapshot.json"]);
  expect(left).toEqual(expect.arrayContaining(["metadata/3.snapshot.json", "metadata/4.snapshot.json"]));
  const { history }: SiteState = JSON.parse(
    fake.bucket.objects.get(`${prefix}current.json`)?.bytes.toString() ?? "",
  );
  const kept = history.flatMap(({ files, bundles }) => [
    `${prefix}state/${files}.json.gz`,
    ...bundles.map((name) => `${prefix}state/${name}.bundle.gz`),
  ]);
  const stored = [...fake.bucket.objects.keys()].filter((key) => key.startsWith(`${prefix}state/`));
  expect(stored.sort()).toEqual([...new Set(kept)].sort());
  const url = await serveBucket(fake);
  await project.succeed("verify", url, "--root", "releases/trust/1.root.json", "--trust-dir", "state");
});

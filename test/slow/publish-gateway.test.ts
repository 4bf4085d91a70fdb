import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import type { S3Place } from "../../pipeline/documents/sites.ts";
import { openS3Store } from "../../pipeline/publish/stores/s3-store.ts";
import { addRelease, artifactsOf, type PublishingProject, publishingProject } from "../publish/support.ts";
import { newGatewayBucket } from "../support/ceph.ts";
import { often } from "../support/effort.ts";
import { differences, readTree, type Tree } from "../support/tree.ts";

let place: S3Place;
let project: PublishingProject;
beforeAll(async () => {
  const bucket = await newGatewayBucket();
  place = { ...bucket.place, prefix: "catalog/" };
  Object.assign(process.env, bucket.environment);
  project = await publishingProject({
    sites: () =>
      `  prod: {url: "s3://${place.bucket}/catalog", endpoint: "${place.endpoint}", region: us-east-1, unquoted_etags: true}\n`,
    env: bucket.environment,
  });
  await uploadArtifacts();
});

const headers = { contentType: "application/octet-stream", cacheControl: "no-store" };

async function uploadArtifacts(): Promise<void> {
  const store = await openS3Store(place, process.env);
  for (const { key, size } of artifactsOf(join(project.folder, "dist"), project.baseUrl))
    await store.put(key, Buffer.alloc(size ?? 0), headers);
}

async function publicTree(): Promise<Tree> {
  const store = await openS3Store(place, process.env);
  const tree: Tree = new Map();
  for await (const { key } of store.list("")) {
    if (/^(files\/|state\/|current\.json$)/.test(key)) continue;
    tree.set(key, Buffer.from((await store.get(key))?.bytes ?? ""));
  }
  return tree;
}

function built(): Tree {
  const tree = readTree(join(project.folder, "dist"));
  tree.delete("metadata/signed.json");
  tree.set("api/v1/package/", readFileSync(join(project.folder, "dist/api/v1/package/index.json")));
  return tree;
}

const missing = (live: Tree, build: Tree) =>
  [...build].filter(([path, bytes]) => !live.get(path)?.equals(bytes)).map(([path]) => path);

test("a gateway gets the build byte for byte, and nothing the second time", async () => {
  expect(await project.json("publish", "prod")).toMatchObject({ result: "published" });
  expect(differences(built(), await publicTree())).toEqual([]);
  const again = await project.json("publish", "prod");
  expect(again).toMatchObject({ result: "unchanged" });
  expect(again.requests).toBeLessThanOrEqual(5);
});

test("a publish adds a release and removes a withdrawn package", async () => {
  await addRelease(project, "26.09.001");
  await project.succeed("retract", "7", "--reason", "Does not start.", "--yes");
  await project.make();
  await uploadArtifacts();
  const done = await project.json("publish", "prod");
  const changed = done.added.length + done.changed.length + done.removed.length;
  expect(done.requests).toBeLessThanOrEqual(1.2 * (changed + 1) + 20);
  const live = await publicTree();
  expect(missing(live, built())).toEqual([]);
  expect(live.has("api/v1/package/7/index.json")).toBe(false);
});

test("a rollback restores the earlier build and holds the site", async () => {
  const release = join(project.folder, "releases/26.08.001/release.yaml");
  const before = await publicTree();
  writeFileSync(release, readFileSync(release, "utf8").replace("**in bulk**.", "**in bulk**. Oops."));
  await project.make();
  await project.succeed("publish", "prod");
  expect((await publicTree()).get("releases/26.08.001/index.html")?.toString()).toContain("Oops.");
  await project.succeed("rollback", "prod", "--reason", "odd page", "--yes");
  const own = (path: string) => !/^(metadata|targets)\//.test(path);
  expect(differences(before, await publicTree()).filter(own)).toEqual([]);
  expect((await project.run("publish", "prod")).stderr).toContain("error[site-held]");
});

test("one of two concurrent publishers succeeds, and the other exits 3", async () => {
  const release = join(project.folder, "releases/26.08.001/release.yaml");
  const text = readFileSync(release, "utf8");
  const names = ["one", "two"];
  for (let round = 0; round < often(5, 2); round++) {
    for (const name of names) {
      writeFileSync(release, text.replace("Oops.", `${name} ${round}.`));
      await project.succeed("build", "--released", "--out", name);
      await project.succeed("sign", "--site", "prod", "--out", name);
    }
    const done = await Promise.all(
      names.map((name) => project.run("publish", "prod", "--release-hold", "--out", name)),
    );
    const statuses = done.map(({ exitCode }) => exitCode).sort();
    expect(statuses, done.map(({ stderr }) => stderr).join("\n")).toEqual([0, 3]);
    const winner = names[done.findIndex(({ exitCode }) => exitCode === 0)] ?? "";
    const page = (await publicTree()).get("releases/26.08.001/index.html")?.toString();
    expect(page).toContain(`${winner} ${round}.`);
  }
});

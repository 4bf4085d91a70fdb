/** @module-tag long */
import { cpSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commitAll, planOf } from "../../plan/planning.ts";
import { pathOf } from "../../support/artifacts.ts";
import { type Project, project } from "../../support/project.ts";

const catalog = (feeds: object) => ({
  ...{ product: "Acme", require: {}, ledger: { base: "main" }, feeds },
});

/** A project with the first of two cut releases settled. @param feeds of the first release's ingest */
async function made(feeds: object = { incus: { os: "acme" } }): Promise<Project> {
  const found = project({
    ".gitignore": ".relcat-*\ndist/\nbytes/\n",
    "releases/catalog.yaml": catalog(feeds),
  });
  await release(found, "26.08.001", "acme-1.2.3-v2.qcow2");
  await found.git("init", "--quiet", "--initial-branch=main");
  await commitAll(found);
  await found.git("checkout", "--quiet", "-b", "work");
  return found;
}

const manifestOf = (version: string) => `releases/${version}/manifests/build.json`;

async function release(found: Project, version: string, fixture: string): Promise<void> {
  found.write(`releases/${version}/release.yaml`, { version, date: "2026-08-19" });
  mkdirSync(join(found.folder, "bytes", version), { recursive: true });
  const file = join("bytes", version, `vm-${version}-amd64.qcow2`);
  cpSync(pathOf(`vm/${fixture}`), join(found.folder, file));
  await found.succeed("ingest", "--release", version, "--out", manifestOf(version), file);
  await found.succeed("cut", version, "--now", `2026-${version.slice(3, 5)}-20T10:00:00Z`);
}

const tarballs = (found: Project) => found.list("dist/streams").filter((name) => name.endsWith(".xz"));
const products = (found: Project) =>
  Object.keys(JSON.parse(found.read("dist/streams/v1/images.json")).products);

test("a build changes the lists of images and adds tarballs, and equals a build from nothing", async () => {
  const found = await made();
  await found.succeed("build");
  const [first = ""] = tarballs(found);
  const before = statSync(join(found.folder, "dist/streams", first), { bigint: true });
  await release(found, "26.09.001", "acme-1.2.3.qcow2");
  await found.succeed("build");
  expect(products(found)).toEqual(["acme:26.08.001:amd64:qcow", "acme:26.09.001:amd64:qcow"]);
  expect(tarballs(found)).toHaveLength(2);
  const after = statSync(join(found.folder, "dist/streams", first), { bigint: true });
  expect([after.ino, after.mtimeNs]).toEqual([before.ino, before.mtimeNs]);
  expect((await found.run("build", "--check-out")).exitCode).toBe(0);
});

test("a withdrawn image leaves the build with its tarball, and plan names what the feed gains and loses", async () => {
  const found = await made();
  await release(found, "26.09.001", "acme-1.2.3.qcow2");
  await found.succeed(
    "retract",
    "1",
    "--reason",
    "Does not start.",
    "--yes",
    "--now",
    "2026-09-21T10:00:00Z",
  );
  const { feeds } = await planOf(found);
  expect(feeds).toMatchObject([
    {
      ...{ feed: "incus", index: "" },
      added: [{ file: "vm-26.09.001-amd64.qcow2" }],
      removed: [{ file: "vm-26.08.001-amd64.qcow2" }],
    },
  ]);
  await found.succeed("build");
  expect([products(found), tarballs(found)]).toEqual([["acme:26.09.001:amd64:qcow"], [expect.any(String)]]);
  expect(JSON.parse(found.read("dist/streams/v1/index.json")).updated).toBe(
    "Mon, 21 Sep 2026 10:00:00 +0000",
  );
});

test("a private image is in no file of the feed", async () => {
  const found = await made();
  const manifest = JSON.parse(found.read(manifestOf("26.08.001")));
  const [image] = manifest.artifacts;
  found.write(manifestOf("26.09.001"), {
    release: "26.09.001",
    artifacts: [
      {
        ...{ ...image, name: "vm-private.qcow2", only_for_account: "acme", sha256: "a".repeat(64) },
        package: { type: "image", arch: "amd64", format: "qcow2" },
      },
    ],
  });
  found.write("releases/26.09.001/release.yaml", { version: "26.09.001", date: "2026-09-19" });
  await found.succeed("build");
  expect(products(found)).toEqual(["acme:26.08.001:amd64:qcow"]);
  expect((await found.json("status")).document.not_in_feeds).toEqual([]);
});

test("status names the command that adds digests to a settled disk, and the build then lists it", async () => {
  const found = await made({});
  found.write("releases/catalog.yaml", catalog({ incus: { os: "acme" } }));
  const command = "relcat ingest --fill 26.08.001 --artifacts FOLDER";
  const { document } = await found.json("status");
  expect(document.not_in_feeds).toEqual([
    {
      ...{ feed: "incus", id: 1, version: "26.08.001", file: "vm-26.08.001-amd64.qcow2", command },
      reason: "its manifest does not contain the digests that Incus compares",
    },
  ]);
  await found.succeed(...command.replace("FOLDER", "bytes").split(" ").slice(1));
  await found.succeed("check");
  expect((await found.json("status")).document.not_in_feeds).toEqual([]);
  await found.succeed("build");
  expect(products(found)).toEqual(["acme:26.08.001:amd64:qcow"]);
});

test("settled digests of an image cannot change", async () => {
  const found = await made();
  const manifest = manifestOf("26.08.001");
  const document = JSON.parse(found.read(manifest));
  document.artifacts[0].package.incus.combined_sha256 = "a".repeat(64);
  found.write(manifest, document);
  const { exitCode, stdout } = await found.run("check");
  expect([exitCode, stdout]).toEqual([
    1,
    expect.stringContaining("error[metadata-changed] package of vm-26.08.001-amd64.qcow2"),
  ]);
});

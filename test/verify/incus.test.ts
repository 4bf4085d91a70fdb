import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { type ImageServer, imageServerFaults } from "../../pipeline/verify/feeds/incus-findings.ts";
import { pathOf } from "../support/artifacts.ts";
import { type Project, project } from "../support/project.ts";
import { relcat, temporaryFolder } from "../support/run.ts";
import { onlineKey } from "../trust/support.ts";

/** A signed site with a disk of 26.08.001 and an archive of 26.09.001. */
let made: Project;
const version = ["26.08.001", "26.09.001"] as const;

async function release(of: string, name: string, fixture: string): Promise<void> {
  made.write(`releases/${of}/release.yaml`, { version: of, date: "2026-08-19" });
  mkdirSync(join(made.folder, "out"), { recursive: true });
  cpSync(pathOf(`vm/${fixture}`), join(made.folder, "out", name));
  await made.succeed("ingest", "--release", of, join("out", name));
  await made.succeed("cut", of, "--now", `20${of.slice(0, 2)}-${of.slice(3, 5)}-20T10:00:00Z`);
}

beforeAll(async () => {
  made = project({
    "releases/catalog.yaml": {
      ...{ product: "Acme", require: {}, trust: "simple", base_url: "https://downloads.example.com/base" },
      feeds: { incus: {} },
      sites: { prod: { url: "dir:dist" } },
      ingest: [{ match: "*.incus.tar.xz", package_type: "incus" }],
    },
  });
  await release(version[0], "vm a-amd64.qcow2", "acme-1.2.3.qcow2");
  await release(version[1], "vm.incus.tar.xz", "acme-1.2.3-incus.tar.xz");
  const keys = join(temporaryFolder(), "keys");
  await made.succeed("trust", "init", keys);
  await made.succeed("build", "--released");
  for (const [of, name] of [
    [version[0], "vm a-amd64.qcow2"],
    [version[1], "vm.incus.tar.xz"],
  ] as const)
    cpSync(join(made.folder, "out", name), join(made.folder, "dist/files", of, name));
  const { exitCode, stderr } = await relcat(made.folder, ["sign"], { env: onlineKey(keys) });
  expect(exitCode, stderr).toBe(0);
});

test("a site with an image server is verified, with the digests of its images", async () => {
  const verified = await made.run("verify", "dist", "--artifacts");
  expect([verified.exitCode, verified.stdout]).toEqual([0, expect.stringContaining("2 artifacts")]);
  const [name = ""] = made.list(`releases/${version[0]}/manifests`);
  const manifest = `releases/${version[0]}/manifests/${name}`;
  const written = made.read(manifest);
  made.write(manifest, written.replace(/("combined_sha256": )"[0-9a-f]{64}"/, `$1"${"a".repeat(64)}"`));
  const { stdout, stderr } = await made.run("verify", "dist", "--artifacts");
  made.write(manifest, written);
  expect(stdout + stderr).toContain(
    `vm%20a-amd64.qcow2 is not what was ingested: package.incus.combined_sha256 in its manifest is aaaa`,
  );
});

// biome-ignore lint/suspicious/noExplicitAny: tests change lists of every shape
type Json = any;

/** The site's image server. @param change of its lists and of the live artifacts */
function serverWith(change: (server: { index: Json; images: Json; artifacts: Json[] }) => void) {
  const json = (path: string): Json => JSON.parse(made.read(`dist/${path}`));
  const { files: listed } = json("build.json") as { files: ImageServer["listed"] };
  const artifacts = version.flatMap((of) => {
    const { packages, artifacts: places } = json(`api/v1/release/${of}/index.json`);
    return packages.map(({ id, checksum }: Json) => ({ ...places[id], sha256: checksum }));
  });
  const server = { index: json("streams/v1/index.json"), images: json("streams/v1/images.json"), artifacts };
  change(server);
  return imageServerFaults({ ...server, listed, baseUrl: "https://downloads.example.com/base" });
}

const disk = `Acme:${version[0]}:amd64:qcow`;
const itemOf = ({ products }: Json, name: string): Json =>
  (Object.values(products[disk].versions)[0] as Json).items[name];

describe("the lists of images", () => {
  test("are right in a build", () => {
    expect(serverWith(() => {})).toEqual([]);
  });

  const images = "streams/v1/images.json";
  const other = "a".repeat(64);
  test.each<[string, Parameters<typeof serverWith>[0], object]>([
    [
      "name an image that is not live",
      ({ artifacts }) => void artifacts.shift(),
      {
        path: images,
        what: `lists files/${version[0]}/vm a-amd64.qcow2, expected only files of live records; build, sign and publish again`,
      },
    ],
    [
      "have another digest of an image",
      ({ images }) => void Object.assign(itemOf(images, "disk-kvm.img"), { sha256: other }),
      {
        path: images,
        what: expect.stringMatching(
          `vm a-amd64.qcow2 with the SHA-256 ${other}, expected [0-9a-f]{64}; build, sign and publish again$`,
        ),
      },
    ],
    [
      "have another size of an image",
      ({ images }) => void Object.assign(itemOf(images, "disk-kvm.img"), { size: 1 }),
      {
        path: images,
        what: expect.stringMatching(/vm a-amd64\.qcow2 with 1 bytes, expected \d+; build, sign/),
      },
    ],
    [
      "name a tarball that is not there",
      ({ images }) =>
        void Object.assign(itemOf(images, "lxd.tar.xz"), { path: `streams/${other}.incus.tar.xz` }),
      {
        path: images,
        what: `lists streams/${other}.incus.tar.xz, expected only files of the build; build, sign and publish again`,
      },
    ],
    [
      "differ in the images that they name",
      ({ index }) => void index.index.images.products.pop(),
      {
        path: "streams/v1/index.json",
        what: "names other images than streams/v1/images.json, expected the same; build, sign and publish again",
      },
    ],
    [
      "have another form",
      ({ images }) => void Object.assign(images, { products: [] }),
      { path: images, what: "is not a list of images; build, sign and publish again" },
    ],
  ])("are refused if they %s", (_, change, finding) => {
    expect(serverWith(change)).toEqual([finding]);
  });
});

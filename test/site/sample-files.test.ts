import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadCatalog } from "../../pipeline/index.ts";
import { copyProject, relcat, repository } from "../support/run.ts";

const folder = join(repository, "sample-files");
const versions = ["26.08.002", "26.09.001"];
const files = versions.flatMap((version) =>
  readdirSync(join(folder, version)).map((file) => [version, file]),
);

test.each(files)(
  "the manifests of %s describe %s as it is in sample-files/",
  async (version = "", file = "") => {
    const { identified } = await loadCatalog(join(repository, "releases"));
    const release = identified.releases.find((each) => each.release.version === version);
    const { artifact } = release?.packages.find((entry) => entry.artifact.file === file) ?? {};
    const path = join(folder, version, file);
    const bytes = readFileSync(path);
    expect(artifact?.content.checksum).toBe(createHash("sha256").update(bytes).digest("hex"));
    expect(artifact?.size).toBe(bytes.length);
    const inspected = JSON.parse((await relcat(repository, ["inspect", path, "--json"])).stdout);
    expect(artifact?.metadata).toEqual(inspected.artifacts[0].package);
  },
);

test("the sample's feeds list two versions of each package, without a key", { tags: ["long"] }, async () => {
  const made = copyProject(".");
  const { exitCode, stderr } = await relcat(made, ["build"]);
  expect(exitCode, stderr).toBe(0);
  const dist = (path: string) => readFileSync(join(made, "dist", path), "utf8");
  const packages = dist("dists/jammy/main/binary-amd64/Packages");
  expect(packages.match(/^Version: .*/gm)).toEqual([
    "Version: 26.09.001~2204",
    "Version: 26.09.001~2204",
    "Version: 26.08.002~2204",
    "Version: 26.08.002~2204",
  ]);
  expect(dist("northgate-controller-jammy.sources")).toContain("\nTrusted: yes\n");
  expect(dist("northgate-controller-stable.repo")).toContain("\nrepo_gpgcheck=0\n");
  expect(Object.keys(JSON.parse(dist("charts/index.yaml")).entries)).toEqual(["northgate-controller"]);
  expect(Object.keys(JSON.parse(dist("streams/v1/images.json")).products)).toHaveLength(2);
});

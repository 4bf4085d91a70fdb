import { expect, test } from "vitest";
import { artifact, type Project, project, release } from "../support/project.ts";

const expected = ["msi", { package_type: "deb", min_os_version: "22.04" }];

/** A release of one manifest per job. */
const jobs = (version: string, manifests: Record<string, object[]>) => ({
  ...release(version, []),
  ...Object.fromEntries(
    Object.entries(manifests).map(([name, artifacts]) => [
      `releases/${version}/manifests/${name}`,
      { release: version, artifacts },
    ]),
  ),
});

const client = (version: string) => artifact(`tool-${version}.msi`, "msi", "1");
const old = (version: string) => artifact(`old-${version}.deb`, "deb", "2", { max_os_version: "20.04" });
const young = (version: string) => artifact(`young-${version}.deb`, "deb", "3", { min_os_version: "22.04" });

async function hints({ json }: Project, ...args: string[]): Promise<unknown[]> {
  const { document } = await json(...args);
  return (document.problems as { code: string; hint: string }[])
    .filter(({ code }) => code === "artifact-missing")
    .map(({ hint }) => hint.split(":")[0]);
}

test("the hint for a missing artifact names its manifest of the last release, variant by variant", async () => {
  const made = project({
    "releases/catalog.yaml": { require: {}, expected },
    ...jobs("26.08.001", {
      "desktop.json": [client("26.08.001")],
      "all-debs.yaml": [young("26.08.001"), old("26.08.001")],
    }),
    ...jobs("26.08.002", {
      "windows-1a2b3c4d.json": [client("26.08.002")],
      "old.json": [old("26.08.002")],
      "young.json": [young("26.08.002")],
    }),
    ...jobs("26.09.001", { "old.json": [old("26.09.001")] }),
  });
  const last = [
    "In 26.08.002 the manifest windows-1a2b3c4d.json brought it",
    "In 26.08.002 the manifest young.json brought it",
  ];
  expect(await hints(made, "check")).toEqual(last);
  expect(await hints(made, "cut", "26.09.001")).toEqual(last);
  const { stdout } = await made.run("check");
  expect(stdout).toContain(
    "  hint: In 26.08.002 the manifest young.json brought it: run that job, correct `expected:`, or cut with --allow-incomplete.",
  );
});

test("the hint ignores later releases, and those that lacked the artifact too", async () => {
  const made = project({
    "releases/catalog.yaml": { require: {}, expected: ["msi"] },
    ...jobs("26.07.001", { "first.json": [client("26.07.001")] }),
    ...jobs("26.08.001", { "debs.json": [old("26.08.001")] }),
    ...jobs("26.08.002", { "debs.json": [old("26.08.002")] }),
    ...jobs("26.09.001", { "second.json": [client("26.09.001")] }),
  });
  const last = "In 26.07.001 the manifest first.json brought it";
  expect(await hints(made, "check")).toEqual([last, last]);
});

test("the hint names no manifest if no earlier release had the artifact", async () => {
  const made = project({
    "releases/catalog.yaml": { require: {}, expected: ["msi"] },
    ...jobs("26.08.001", { "debs.json": [old("26.08.001")] }),
  });
  expect(await hints(made, "check")).toEqual(["Add its manifest, correct `expected"]);
});

import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { artifact, type Files, project, release } from "../../support/project.ts";
import { controlOf } from "./debs.ts";

const index = "dists/stable/main/binary-amd64/Packages";

/** A release with one deb, whose checksum is made of one digit. */
const releaseWith = (version: string, digit: string): Files =>
  release(version, [
    artifact(`tool_${version}_amd64.deb`, "deb", digit, {
      size: 3,
      package: { type: "deb", arch: "amd64", control: controlOf("tool", version, "amd64") },
    }),
  ]);

const catalog: Files = {
  "releases/catalog.yaml": {
    product: "Example",
    require: {},
    feeds: { apt: { suites: { stable: {}, focal: "20.04" } } },
  },
  ...releaseWith("26.08.001", "a"),
};

test("compressed indexes are files of the site, and no siblings of others", async () => {
  const { folder, succeed, read } = project(catalog);
  await succeed("build");
  const compressed = [".gz", ".xz"].map((suffix) => readFileSync(join(folder, "dist", index + suffix)));
  const { files } = JSON.parse(read("dist/build.json"));
  for (const path of [index, `${index}.gz`, `${index}.xz`]) expect(files).toHaveProperty([path]);
  // A build that writes a file again removes its siblings first.
  writeFileSync(join(folder, "dist", index), "changed by hand\n");
  await succeed("build");
  expect(read(`dist/${index}`)).toContain("\nVersion: 26.08.001\n");
  expect([".gz", ".xz"].map((suffix) => readFileSync(join(folder, "dist", index + suffix)))).toEqual(
    compressed,
  );
  // And one that removes a file removes them after it.
  rmSync(join(folder, "dist", index));
  await succeed("build");
  await succeed("build", "--check-out");
});

test("a release without packages for a suite leaves the suite's files as they are", async () => {
  const { folder, succeed, write, read } = project(catalog);
  await succeed("build");
  const times = () =>
    ["focal", "stable"].map(
      (suite) => statSync(join(folder, "dist/dists", suite, "Release"), { bigint: true }).ctimeNs,
    );
  const before = times();
  const [[path, added]] = Object.entries(
    release("26.09.001", [
      artifact("tool_2_amd64.deb", "deb", "b", {
        size: 3,
        min_os_version: "22.04",
        package: { type: "deb", arch: "amd64", control: controlOf("tool", "2", "amd64") },
      }),
    ]),
  ).slice(-1) as [[string, object]];
  write("releases/26.09.001/release.yaml", { version: "26.09.001", date: "2026-09-15" });
  write(path, added);
  await succeed("build");
  expect(read(`dist/${index}`).match(/^Version: .*/gm)).toEqual(["Version: 2", "Version: 26.08.001"]);
  const after = times();
  expect([after[0] === before[0], after[1] === before[1]]).toEqual([true, false]);
});

test("a withdrawn package leaves the index", async () => {
  const { succeed, read } = project({ ...catalog, ...releaseWith("26.09.001", "b") });
  await succeed("cut", "--all", "--now", "2026-09-20T10:00:00Z");
  await succeed("retract", "2", "--reason", "Loses settings", "--yes");
  await succeed("build");
  expect(read(`dist/${index}`).match(/^Version: .*/gm)).toEqual(["Version: 26.08.001"]);
});

import { beforeEach, expect, test } from "vitest";
import { artifact, cutCatalog, type Project, project, release } from "../../support/project.ts";

let made: Project;

/** Two cut releases, an open one, and the output of a build. */
beforeEach(async () => {
  made = await cutCatalog();
  for (const [path, content] of Object.entries(release("26.10.001", []))) made.write(path, content);
  made.write("out/tool-26.10.msi", "msi");
});

const refusal =
  "error[release-cut] 26.08.001 is cut and may be public, and this would add to it: tool-26.10.msi\n" +
  "  hint: Is it for 26.10.001? To add to 26.08.001 on purpose: --add-to-cut";

test.each([
  ["in the release", ["out"]],
  ["in a dry run", ["out", "--dry-run"]],
  ["to a file of the release", ["out", "--out", "releases/26.08.001/manifests/late.json"]],
])("ingest refuses to add a file to a cut release %s", async (_, args) => {
  const { exitCode, stderr } = await made.run("ingest", "--release", "26.08.001", ...args);
  expect([exitCode, stderr]).toEqual([1, refusal]);
  expect(made.list("releases/26.08.001/manifests")).toEqual(["all.json"]);
});

test("a manifest elsewhere, an open release, and --add-to-cut are accepted", async () => {
  await made.succeed("ingest", "--release", "26.08.001", "out", "--out", "job.json");
  await made.succeed("ingest", "--release", "26.10.001", "out");
  const { stdout } = await made.succeed("ingest", "--release", "26.08.001", "out", "--add-to-cut");
  expect(stdout).toContain("Wrote releases/26.08.001/manifests/build-");
});

test("a file that the cut release has already may be ingested again", async () => {
  const known = artifact("tool-26.08.001.msi", "msi", "1", { description: "Another text" });
  made.write("job.json", { release: "26.08.001", artifacts: [known] });
  await made.succeed("ingest", "job.json", "--dry-run");
});

test("cut --all adds nothing to a cut release, and its version does", async () => {
  made.write("releases/26.08.001/manifests/late.json", {
    release: "26.08.001",
    artifacts: [artifact("late-26.08.001.msi", "msi", "7")],
  });
  const before = made.read("releases/ledger.jsonl");
  const { exitCode, stderr } = await made.run("cut", "--all");
  expect([exitCode, stderr]).toEqual([
    2,
    "error[usage] without a version only open releases are cut, and this would be added to a cut one: late-26.08.001.msi to 26.08.001\n" +
      "  hint: Is the manifest in the wrong folder? To add it on purpose, name its release.",
  ]);
  expect(made.read("releases/ledger.jsonl")).toBe(before);
  await made.succeed("cut", "26.08.001");
  expect(made.read("releases/ledger.jsonl")).toContain("late-26.08.001.msi");
});

test("ingest warns about bytes that another release has, open or withdrawn too", async () => {
  const warned = async (...args: string[]) =>
    (await made.succeed("ingest", "--release", "26.10.001", ...args)).stderr.match(
      /warning\[same-bytes\].*/g,
    );
  const stated = (digit: string) => {
    const artifacts = [artifact("again-26.10.001.msi", "msi", digit)];
    made.write("job.json", { release: "26.10.001", artifacts });
    return warned("job.json", "--dry-run");
  };
  expect(await stated("1")).toEqual([
    "warning[same-bytes] again-26.10.001.msi of 26.10.001 has the same bytes as tool-26.08.001.msi of 26.08.001",
  ]);
  expect(await stated("7")).toBeNull();
  await made.succeed("retract", "1", "--reason", "Broken.", "--yes");
  expect((await stated("1"))?.join()).toContain("tool-26.08.001.msi of 26.08.001, which was withdrawn");
  for (const [path, content] of Object.entries(release("26.10.002", [artifact("next.msi", "msi", "7")])))
    made.write(path, content);
  expect((await stated("7"))?.join()).toContain("next.msi of 26.10.002");
  const { document } = await made.json("ingest", "--release", "26.10.001", "job.json", "--dry-run");
  expect(document).toMatchObject({ warnings: [{ code: "same-bytes" }] });
});

test("ingest needs no releases folder for these checks", async () => {
  const alone = project({ "catalog.yaml": { product: "Example", require: {} }, "out/tool.msi": "msi" });
  const config = ["--config", "catalog.yaml", "--out", "job.json"];
  await alone.succeed("ingest", "--release", "26.10.001", "out", ...config);
});

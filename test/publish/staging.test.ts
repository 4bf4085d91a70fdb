/** @module-tag long */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { addRelease, type PublishingProject, placeArtifacts, publishingProject } from "./support.ts";

const stageUrl = "http://127.0.0.1:8089";

/** A staging site next to `prod`, and a new release that is not cut. */
async function staged(): Promise<PublishingProject> {
  const project = await publishingProject({
    sites: (folder) =>
      `  prod: {url: "dir:${folder}/www"}\n  staging: {url: "dir:${folder}/stage", base_url: "${stageUrl}", settles: false}\n`,
  });
  await addRelease(project, "26.09.001", false);
  await project.succeed("build", "--site", "staging", "--out", "preview");
  return project;
}

function renameArtifact(project: PublishingProject, name: string): void {
  const path = join(project.folder, "releases/26.09.001/manifests/one.json");
  writeFileSync(path, readFileSync(path, "utf8").replace("client-26.09.001.rpm", name));
}

const preview = (project: PublishingProject) => join(project.folder, "preview");

describe("publishing to a staging site", () => {
  test("does not check artifacts that are live at a settling site, and says so", async () => {
    const project = await staged();
    await project.succeed("publish", "prod");

    // Artifacts listed only by staging are still checked. A name is quoted in the command that uploads it.
    renameArtifact(project, "client 26.09.001.rpm");
    await project.succeed("build", "--site", "staging", "--out", "preview");
    const missing = await project.run("publish", "staging", "--out", "preview");
    expect(missing.exitCode).toBe(1);
    expect(missing.stderr).toContain(
      "error[artifact-unpublished] 1 artifact of 26.09.001 cannot be downloaded",
    );
    expect(missing.stderr).toContain(
      "relcat upload 'client 26.09.001.rpm' --site staging --release 26.09.001",
    );
    expect(missing.stderr.match(/error\[/g)).toHaveLength(1);

    placeOnly(project, /26\.09\.001/);
    const { stdout, stderr } = await project.succeed("publish", "staging", "--out", "preview");
    expect(stdout).toContain("; 1 new artifact can be downloaded.");
    expect(stderr).toContain("Not checked: 5 artifacts of 26.07.001, 26.08.001 and 26.08.002, live at prod.");
    // Nothing is signed there that `verify` could compare.
    expect(stderr).not.toContain("Next:");
    expect(readFileSync(join(project.folder, "stage/current/build.json"), "utf8")).toContain("26.09.001");
  });

  test("names the unchecked artifacts with --json", async () => {
    const project = await staged();
    await project.succeed("publish", "prod");
    placeOnly(project, /26\.09\.001/);
    expect(await project.json("publish", "staging", "--out", "preview", "--dry-run")).toMatchObject({
      artifacts: 1,
      settled: { artifacts: 5, releases: ["26.07.001", "26.08.001", "26.08.002"], sites: ["prod"] },
    });
  });

  test("checks an artifact with other bytes than at the settling site", async () => {
    const project = await staged();
    await project.succeed("publish", "prod");
    const path = "api/v1/release/26.08.001/index.json";
    const live = join(project.www, "current", path);
    const document = JSON.parse(readFileSync(live, "utf8"));
    document.packages[0].checksum = "0".repeat(64);
    writeFileSync(live, JSON.stringify(document));
    placeOnly(project, /26\.09\.001/);
    const { stderr } = await project.run("publish", "staging", "--out", "preview");
    expect(stderr).toContain("error[artifact-unpublished] 1 artifact of 26.08.001 cannot be downloaded");
  });

  test("checks all artifacts if the settling site cannot be read, and names the reason", async () => {
    const project = await staged();
    placeOnly(project, /26\.09\.001/);
    const none = await project.run("publish", "staging", "--out", "preview");
    expect(none.stderr).toContain("error[artifact-unpublished]");
    expect(none.stderr).not.toContain("could not be read");
    await project.succeed("publish", "prod");
    for (const damaged of ["{", "{}"]) {
      writeFileSync(join(project.www, "current/api/v1/release/26.08.001/index.json"), damaged);
      const { exitCode, stderr } = await project.run("publish", "staging", "--out", "preview");
      expect(exitCode, stderr).toBe(1);
      expect(stderr).toContain(
        "hint: Nothing was published. prod could not be read: a release document there is not what relcat writes. Upload",
      );
    }
  });
});

/** Uploads some of the staging site's artifacts. */
function placeOnly(project: PublishingProject, file: RegExp): void {
  placeArtifacts(preview(project), join(project.folder, "stage"), stageUrl, file);
}

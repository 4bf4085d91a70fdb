import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { statedRevision } from "../../../pipeline/intake/ingest/ingest.ts";
import { cleanHead } from "../../../pipeline/system/git/git.ts";
import { RelcatError } from "../../../shared/errors.ts";
import { temporaryFolder } from "../../support/run.ts";
import { artifactOf, image, ingest, problemsOf, revision } from "./ingesting.ts";

const nowhere = () => Promise.reject(new Error("git must not be asked"));

async function refusal(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof RelcatError)) throw new Error(`not refused: ${error}`);
  const [problem] = error.problems;
  return `${error.exitStatus} ${problem?.code}: ${problem?.message}\n→ ${problem?.hint}`;
}

test("a complete commit id is accepted unchanged", async () => {
  expect(await statedRevision(revision, {}, nowhere)).toBe(revision);
});

test.each(["ea9d15a", "HEAD", "EA9D15AF6EABDCEC745E0C929C8B6E0A87999BA6", ""])(
  "%j is not a commit id",
  async (stated) => {
    expect(await refusal(statedRevision(stated, {}, nowhere))).toMatchSnapshot();
  },
);

test.each([
  ["GitHub", { GITHUB_SHA: revision, GITHUB_EVENT_NAME: "push" }],
  ["GitLab", { CI_COMMIT_SHA: revision, CI_PIPELINE_SOURCE: "push" }],
  ["both alike", { GITHUB_SHA: revision, CI_COMMIT_SHA: revision }],
])("--rev ci reads %s", async (_, environment) => {
  expect(await statedRevision("ci", environment, nowhere)).toBe(revision);
});

test.each([
  ["a pull request", { GITHUB_SHA: revision, GITHUB_EVENT_NAME: "pull_request" }],
  ["a pull request's target", { GITHUB_SHA: revision, GITHUB_EVENT_NAME: "pull_request_target" }],
  ["a merge request", { CI_COMMIT_SHA: revision, CI_MERGE_REQUEST_ID: "7" }],
  ["a merge request's pipeline", { CI_COMMIT_SHA: revision, CI_PIPELINE_SOURCE: "merge_request_event" }],
  ["no CI", {}],
  ["two that differ", { GITHUB_SHA: revision, CI_COMMIT_SHA: "0".repeat(40) }],
])("--rev ci in %s is refused", async (_, environment) => {
  expect(await refusal(statedRevision("ci", environment, nowhere))).toMatchSnapshot();
});

test("--rev git reads the commit of a clean tree, and refuses a dirty one", async () => {
  const folder = temporaryFolder();
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", folder, ...args], { encoding: "utf8" }).trim();
  expect(await refusal(cleanHead(folder))).toMatchInlineSnapshot(`
    "2 revision-unsure: this folder is not in a git repository with a commit
    → State the revision with --rev SHA."
  `);
  git("init", "--quiet");
  writeFileSync(join(folder, "a"), "1\n");
  git("add", "a");
  git("-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "--quiet", "--message", "a");
  const head = git("rev-parse", "HEAD");
  expect(await cleanHead(folder)).toBe(head);
  expect(await statedRevision("git", {}, () => cleanHead(folder))).toBe(head);
  for (const name of ["a", "b", "c", "d", "e", "f", "g"]) writeFileSync(join(folder, name), "2\n");
  expect((await refusal(cleanHead(folder))).replace(head.slice(0, 12), "<head>")).toMatchInlineSnapshot(`
    "2 revision-unsure: the work tree differs from <head> in a, b, c, d, e and 2 more
    → Commit, ignore or remove what changed, and build again; or state the revision with --rev SHA."
  `);
});

test("an image without a revision is an error that names --rev, except without require.vendor", async () => {
  expect(
    await problemsOf(["nix-build/array.json", image.file], { revision: undefined }),
  ).toMatchInlineSnapshot(`
    [
      "images/controller-qcow-efi.qcow2.gz:1:1 revision-missing: no input says which source revision controller-qcow-efi.qcow2.gz was built from
    → Give --rev SHA, --rev ci or --rev git; or take image out of require.vendor in catalog.yaml.",
    ]
  `);
  const config = join(temporaryFolder(), "catalog.yaml");
  writeFileSync(config, 'require: {}\ningest: [{ match: "*.qcow2.gz", package_type: qcow }]\n');
  expect(
    (await artifactOf(["nix-build/array.json", image.file], { config, revision: undefined })).vendor,
  ).toEqual({
    image: { drv: image.drv, derivation: image.derivation },
  });
});

test("only images get a revision", async () => {
  const { manifest } = await ingest(["plain/client-x86_64.rpm", "nix-build/array.json"]);
  expect(manifest.artifacts[0]).not.toHaveProperty("vendor");
});

/** @module-tag long */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { release } from "../support/project.ts";
import { repository } from "../support/run.ts";
import { type Forge, forge, type Machine } from "./ci-forge.ts";

/** Builds a file named after the job; BUILD_SALT makes two builds differ. */
const build = `#!/usr/bin/env bash
set -eu
mkdir -p out
[ ! -e broken-$2 ] || { echo "the machine broke" >&2; exit 1; }
case $2 in
  clients-linux) echo "client $1 $(cat salt 2>/dev/null || true)" >"out/tool-$1.rpm" ;;
  images-kvm) echo "image $1" >"out/tool-$1.msi" ;;
esac
`;

const jobs = ["clients-linux", "images-kvm"];

const start = (...versions: string[]) =>
  forge({
    "releases/catalog.yaml": {
      require: {},
      expected: ["rpm", "msi"],
      ingest: [
        { match: "*.rpm", package_type: "rpm" },
        { match: "*.msi", package_type: "msi" },
      ],
    },
    "releases/next/notes/.gitkeep": "",
    build,
    ...Object.assign({}, ...versions.map((version) => release(version, []))),
  });

/** Runs one build job on a new machine. @returns the files that it hands over */
async function buildJob(
  at: Forge,
  version: string,
  job: string,
  prepare: (machine: Machine) => void = () => {},
) {
  const machine = await at.clone();
  prepare(machine);
  const built = await machine.step("build", version, job);
  if (built.exitCode !== 0) return undefined;
  await machine.succeed("ingest", version, job, "out");
  return machine.read(`manifests/${job}.json`);
}

type Handed = Record<string, string | undefined>;

async function buildAll(at: Forge, version: string, prepare?: (machine: Machine) => void): Promise<Handed> {
  return Object.fromEntries(
    await Promise.all(jobs.map(async (job) => [job, await buildJob(at, version, job, prepare)])),
  );
}

/** The job that proposes, on a new machine, up to the step before the pull request. */
async function collectJob(at: Forge, version: string, handed: Handed): Promise<Machine> {
  const machine = await at.clone();
  for (const [job, manifest] of Object.entries(handed))
    if (manifest !== undefined) machine.write(`handed/manifest-${job}/${job}.json`, manifest);
  await machine.succeed("release-branch", version);
  await machine.succeed("collect", version, "handed", join(machine.folder, "../plan.md"));
  return machine;
}

async function propose(at: Forge, version: string, handed: Handed, where = "github"): Promise<Machine> {
  const machine = await collectJob(at, version, handed);
  await machine.succeed(`propose-${where}`, version, join(machine.folder, "../plan.md"));
  return machine;
}

/** A person merges the pull request. */
async function merge(at: Forge, version: string): Promise<void> {
  const person = await at.clone();
  await person.git("merge", "--quiet", "--no-ff", "--no-edit", `origin/release/${version}`);
  await person.git("push", "--quiet", "origin", "HEAD:main");
}

const ledgerOf = async (at: Forge, branch: string) => {
  const machine = await at.clone();
  const text = await machine.git("show", `origin/${branch}:releases/ledger.jsonl`);
  return text.split("\n").map((line) => {
    const { id, version, file } = JSON.parse(line);
    return `${id} ${version} ${file}`;
  });
};

const manifestsOf = async (at: Forge, branch: string, version: string) =>
  (
    await (await at.clone()).git("ls-tree", "--name-only", `origin/${branch}:releases/${version}/manifests`)
  ).split("\n");

const lines = (version: string, first = 1) => [
  `${first} ${version} tool-${version}.msi`,
  `${first + 1} ${version} tool-${version}.rpm`,
];

describe.each(["github", "gitlab"])("the guide on %s", (where) => {
  test("opens one request with the plan as its body, and builds the site after the merge", async () => {
    const at = await start("26.11.001");
    await propose(at, "26.11.001", await buildAll(at, "26.11.001"), where);
    expect(await ledgerOf(at, "release/26.11.001")).toEqual(lines("26.11.001"));
    expect(await manifestsOf(at, "release/26.11.001", "26.11.001")).toEqual(jobs.map((job) => `${job}.json`));
    expect(at.calls().map(([noun, verb]) => `${noun} ${verb}`)).toEqual([
      where === "github" ? "pr create" : "mr create",
    ]);
    expect(at.calls()[0]).toEqual(expect.arrayContaining(["release/26.11.001", "Release 26.11.001"]));
    expect(at.body("release/26.11.001")).toMatch(/^<!-- .*tool-26\.11\.001\.msi/s);

    const checks = await at.clone();
    await checks.git("checkout", "--quiet", "origin/release/26.11.001");
    expect((await checks.succeed("check", "main")).stdout).toContain(
      "the ledger only grew since origin/main",
    );

    await merge(at, "26.11.001");
    const site = await at.clone();
    await site.succeed("site");
    expect(JSON.parse(site.read("dist/api/v1/latest.json")).version).toBe("26.11.001");
    expect(JSON.parse(site.read("dist/build.json")).provisional).toEqual([]);
  });

  test("changes nothing the second time, and proposes nothing after the merge", async () => {
    const at = await start("26.11.001");
    const handed = await buildAll(at, "26.11.001");
    await propose(at, "26.11.001", handed, where);
    const head = async () => (await at.clone()).git("rev-parse", "origin/release/26.11.001");
    const before = await head();
    await propose(at, "26.11.001", handed, where);
    expect(await head()).toBe(before);
    expect(at.body("release/26.11.001")).toContain("tool-26.11.001.msi");
    expect(at.calls().map(([, verb]) => verb)).toEqual(["create", where === "github" ? "edit" : "update"]);

    await merge(at, "26.11.001");
    const machine = await collectJob(at, "26.11.001", handed);
    const { stdout } = await machine.succeed(
      `propose-${where}`,
      "26.11.001",
      join(machine.folder, "../plan.md"),
    );
    expect(stdout).toBe("Nothing to propose: main has all of 26.11.001.");
  });
});

describe("a build that failed in part", () => {
  test("names the missing artifacts with their usual job, and is complete after another run", async () => {
    const at = await start("26.10.001", "26.11.001");
    await propose(at, "26.10.001", await buildAll(at, "26.10.001"));
    await merge(at, "26.10.001");
    const breaks = (machine: Machine) => machine.write("broken-images-kvm", "");
    const half = await buildAll(at, "26.11.001", breaks);
    expect(half["images-kvm"]).toBeUndefined();

    const machine = await at.clone();
    machine.write("handed/manifest-clients-linux/clients-linux.json", half["clients-linux"] ?? "");
    await machine.succeed("release-branch", "26.11.001");
    const refused = await machine.step("collect", "26.11.001", "handed", join(machine.folder, "../plan.md"));
    expect(refused.exitCode).not.toBe(0);
    expect(refused.stderr + refused.stdout).toContain("26.11.001 lacks msi");
    expect(refused.stderr + refused.stdout).toContain("In 26.10.001 the manifest images-kvm.json brought it");

    const rest = await buildJob(at, "26.11.001", "images-kvm");
    await propose(at, "26.11.001", { ...half, "images-kvm": rest });
    expect(await ledgerOf(at, "release/26.11.001")).toEqual([
      ...lines("26.10.001"),
      ...lines("26.11.001", 3),
    ]);
  });

  test("opens the pull request in the next run if it was killed after the push", async () => {
    const at = await start("26.11.001");
    const handed = await buildAll(at, "26.11.001");
    const machine = await collectJob(at, "26.11.001", handed);
    await machine.git("push", "--quiet", "origin", "HEAD:release/26.11.001");
    expect(at.calls()).toEqual([]);
    await propose(at, "26.11.001", handed);
    expect(at.calls().map(([, verb]) => verb)).toEqual(["create"]);
    expect(await ledgerOf(at, "release/26.11.001")).toEqual(lines("26.11.001"));
  });

  test("new bytes replace unmerged ones on the same branch and request, without a second manifest", async () => {
    const at = await start("26.11.001");
    await propose(at, "26.11.001", await buildAll(at, "26.11.001"));
    const other = await buildAll(at, "26.11.001", (machine) => machine.write("salt", "another day"));
    await propose(at, "26.11.001", other);
    expect(await manifestsOf(at, "release/26.11.001", "26.11.001")).toEqual(jobs.map((job) => `${job}.json`));
    expect(await ledgerOf(at, "release/26.11.001")).toEqual(lines("26.11.001"));
    const { sha256 } = JSON.parse(other["clients-linux"] ?? "").artifacts[0];
    const machine = await at.clone();
    expect(await machine.git("show", "origin/release/26.11.001:releases/ledger.jsonl")).toContain(sha256);
    expect(at.calls().map(([, verb]) => verb)).toEqual(["create", "edit"]);

    await merge(at, "26.11.001");
    const late = await at.clone();
    const third = await buildJob(at, "26.11.001", "clients-linux", (each) => each.write("salt", "too late"));
    late.write("handed/clients-linux.json", third ?? "");
    await late.succeed("release-branch", "26.11.001");
    const refused = await late.step("collect", "26.11.001", "handed", join(late.folder, "../plan.md"));
    expect(refused.exitCode).not.toBe(0);
    expect(refused.stdout + refused.stderr).toContain("error[bytes-changed]");
  });
});

test("notes that people add to the release branch remain after another run of the job", async () => {
  const at = await start("26.11.001");
  const handed = await buildAll(at, "26.11.001");
  await propose(at, "26.11.001", handed);
  const person = await at.clone();
  await person.git("switch", "--quiet", "release/26.11.001");
  person.write("releases/26.11.001/notes/late.yaml", {
    component: "server",
    kind: "fix",
    text: "Starts faster.",
  });
  await person.git("add", ".");
  await person.git("commit", "--quiet", "--message", "A note");
  await person.git("push", "--quiet", "origin", "HEAD");
  await propose(at, "26.11.001", handed);
  expect(
    await (await at.clone()).git("show", "origin/release/26.11.001:releases/26.11.001/notes/late.yaml"),
  ).toContain("faster");
});

test("the second of two concurrent releases gets its ids after another run", async () => {
  const at = await start("26.11.001", "26.11.002");
  const [first, second] = [await buildAll(at, "26.11.001"), await buildAll(at, "26.11.002")];
  await propose(at, "26.11.001", first);
  await propose(at, "26.11.002", second);
  expect(await ledgerOf(at, "release/26.11.002")).toEqual(lines("26.11.002"));
  await merge(at, "26.11.001");
  await expect(merge(at, "26.11.002")).rejects.toThrow();

  await propose(at, "26.11.002", second);
  const both = [...lines("26.11.001"), ...lines("26.11.002", 3)];
  expect(await ledgerOf(at, "release/26.11.002")).toEqual(both);
  expect(at.calls().map(([, verb]) => verb)).toEqual(["create", "create", "edit"]);
  await merge(at, "26.11.002");
  expect(await ledgerOf(at, "main")).toEqual(both);
  await (await at.clone()).succeed("site");
});

/** The commands of the README below a heading or a bold sentence. */
function commandsBelow(words: string): string {
  const readme = readFileSync(join(repository, "docs/ci/README.md"), "utf8");
  const block = /```sh\n([\s\S]*?)```/.exec(readme.slice(readme.indexOf(words)));
  if (!readme.includes(words) || !block?.[1]) throw new Error(`no commands below ${words}`);
  return block[1];
}

const withRelcat = (commands: string) => `set -e\nPATH=$PWD/node_modules/.bin:$PATH\n${commands}`;

test("a person merges the second of two concurrent releases with the README's commands", async () => {
  const at = await start("26.09.001", "26.09.002");
  await propose(at, "26.09.001", await buildAll(at, "26.09.001"));
  await propose(at, "26.09.002", await buildAll(at, "26.09.002"));
  await merge(at, "26.09.001");
  const person = await at.clone();
  const commands = commandsBelow("**Another release was merged first.**");
  const stopping = commands.replace("git merge origin/main", "git merge origin/main || true");
  const { exitCode, stderr } = await person.sh(withRelcat(stopping));
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  await merge(at, "26.09.002");
  expect(await ledgerOf(at, "main")).toEqual([...lines("26.09.001"), ...lines("26.09.002", 3)]);
});

/** A person opens the next release of 26.09 on a branch, with a note of its own. */
async function open(at: Forge, branch: string, noteName: string): Promise<void> {
  const person = await at.clone();
  person.write(`releases/next/notes/${noteName}.yaml`, {
    component: "server",
    kind: "fix",
    text: `${noteName}.`,
  });
  const now = `2026-09-${noteName === "first" ? "01" : "02"}T08:00:00Z`;
  await person.sh(withRelcat(`SOURCE_DATE_EPOCH=${Date.parse(now) / 1000} relcat new 26.09`));
  person.write("releases/26.09.001/release.yaml", {
    version: "26.09.001",
    date: "2026-09-01",
    opened: now.replace("Z", ".000000Z"),
  });
  await person.git("add", ".");
  await person.git("commit", "--quiet", "--message", "Open 26.09.001");
  await person.git("push", "--quiet", "origin", `HEAD:${branch}`);
}

test("git stops the second of two branches with one version, and the README's commands repair it", async () => {
  const at = await start();
  await open(at, "release/26.09.001", "ours");
  await propose(at, "26.09.001", await buildAll(at, "26.09.001"));
  await open(at, "main", "first");

  const machine = await at.clone();
  expect(await machine.step("release-branch", "26.09.001")).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining(
      "release-branch.sh: release/26.09.001 cannot be merged with main: releases/26.09.001/release.yaml\n" +
        "If both opened 26.09.001, docs/ci/README.md explains what to do.",
    ),
  });
  expect(await machine.git("status", "--porcelain")).toBe("");

  const person = await at.clone();
  const { exitCode, stderr } = await person.sh(withRelcat(commandsBelow("## Two branches opened")));
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  expect(await person.git("show", "--name-only", "--format=", "HEAD")).toBe(
    "releases/26.09.002/notes/ours.yaml\nreleases/26.09.002/release.yaml",
  );
  await person.git("push", "--quiet", "origin", "HEAD:main");
  await propose(at, "26.09.002", await buildAll(at, "26.09.002"));
  expect(await ledgerOf(at, "release/26.09.002")).toEqual(lines("26.09.002"));
});

describe("a step refuses in one sentence", () => {
  test.each([
    [
      "a version that is none",
      "release-branch",
      ["../main"],
      'release-branch.sh: "../main" is not a version such as 26.09.001',
      2,
    ],
    [
      "a version without a release",
      "collect",
      ["26.11.002", "handed", "plan.md"],
      "collect.sh: 26.11.002 is not open: run relcat new 26.11 and push the result to main",
      1,
    ],
    [
      "no manifests",
      "collect",
      ["26.11.001", "build", "plan.md"],
      "collect.sh: no build job left a manifest in build",
      1,
    ],
  ])("%s", async (_, step, args, message, status) => {
    const machine = await (await start("26.11.001")).clone();
    expect(await machine.step(step, ...args)).toEqual({ exitCode: status, stdout: "", stderr: message });
  });

  test("two jobs with one name", async () => {
    const machine = await (await start("26.11.001")).clone();
    for (const folder of ["a", "b"]) machine.write(`handed/${folder}/kvm.json`, {});
    const { stderr, exitCode } = await machine.step("collect", "26.11.001", "handed", "plan.md");
    expect({ stderr, exitCode }).toEqual({
      stderr: "collect.sh: two jobs have the same name: kvm.json",
      exitCode: 1,
    });
    expect(existsSync(join(machine.folder, "releases/26.11.001/manifests"))).toBe(false);
  });

  test("install needs nothing but the lockfile", async () => {
    const machine = await (await start("26.11.001")).clone();
    rmSync(join(machine.folder, "node_modules"), { recursive: true });
    machine.write("package.json", { name: "x", version: "1.0.0" });
    machine.write("package-lock.json", { name: "x", version: "1.0.0", lockfileVersion: 3, packages: {} });
    await machine.succeed("install");
  });
});

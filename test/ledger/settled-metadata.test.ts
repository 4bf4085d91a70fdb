import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { pathOf } from "../support/artifacts.ts";
import { type Project, project } from "../support/project.ts";
import { relcat, temporaryFolder } from "../support/run.ts";

const version = "26.11.001";
const manifests = `releases/${version}/manifests`;

/** A project with a cut deb whose manifest has metadata, on a branch from origin/main. */
let pushed: Project;

beforeAll(async () => {
  pushed = project({
    "releases/catalog.yaml": { require: {} },
    [`releases/${version}/release.yaml`]: { version, date: "2026-11-21" },
    ".gitignore": "dist/\nbytes/\n.relcat-*\n",
  });
  cpSync(pathOf("deb/unsigned-xz.deb"), join(pushed.folder, "bytes/agent.deb"));
  await pushed.succeed("ingest", "--release", version, "bytes");
  await pushed.succeed("cut", "--all", "--now", "2026-11-22T10:00:00Z");
  const origin = temporaryFolder();
  await pushed.git("init", "--quiet", "--bare", "--initial-branch=main", origin);
  await pushed.git("init", "--quiet", "--initial-branch=main");
  await pushed.git("remote", "add", "origin", origin);
  await commit(pushed);
  await pushed.git("push", "--quiet", "origin", "main");
  await pushed.git("checkout", "--quiet", "-b", "work");
});

async function commit({ git }: Project): Promise<void> {
  await git("add", ".");
  await git("commit", "--quiet", "--allow-empty", "--message", "Work");
}

// biome-ignore lint/suspicious/noExplicitAny: tests change artifacts of every shape
type Artifact = any;

/** A copy of the project in which the artifact is changed. */
function changed(change: (artifact: Artifact) => void): Project {
  const made = project();
  cpSync(pushed.folder, made.folder, { recursive: true });
  const [name = ""] = made.list(manifests);
  const file = join(made.folder, manifests, name);
  const manifest = JSON.parse(readFileSync(file, "utf8"));
  change(manifest.artifacts[0]);
  writeFileSync(file, JSON.stringify(manifest, null, 2));
  return made;
}

const otherDependency = (artifact: Artifact) => {
  artifact.package.control = artifact.package.control.replace("libc6", "libc7");
};
const differs =
  /error\[metadata-changed\] package of agent\.deb, which is cut in 26\.11\.001, differs from (?:HEAD|[0-9a-f]{12})\n/;

test("metadata that a cut release lacks is added by the command that status names", async () => {
  const made = changed((artifact) => delete artifact.package);
  made.write("releases/catalog.yaml", { require: {}, feeds: { apt: {} } });
  const { document } = await made.json("status", "--no-base");
  const [gap] = document.not_in_feeds as { command: string }[];
  const words = String(gap?.command).replace("FOLDER", "bytes").split(" ").slice(1);
  await made.succeed(...words);
  expect((await made.json("status", "--no-base")).document.not_in_feeds).toEqual([]);
  await made.succeed("check");
  await made.succeed("build", "--released");
});

describe("metadata that the settled revision has", () => {
  test("cannot change or vanish, in the work tree or in a commit", async () => {
    for (const made of [changed(otherDependency), changed((artifact) => delete artifact.package)]) {
      const { stdout, exitCode } = await made.run("check");
      expect([exitCode, stdout]).toEqual([1, expect.stringMatching(differs)]);
      await commit(made);
      expect((await made.run("check")).stdout).toMatch(differs);
      expect(await made.run("check", "--no-base")).toMatchObject({ exitCode: 0 });
    }
  });

  test("is compared in a hook of git --literal-pathspecs", async () => {
    const { folder } = changed(otherDependency);
    const { stdout } = await relcat(folder, ["check"], { env: { GIT_LITERAL_PATHSPECS: "1" } });
    expect(stdout).toMatch(differs);
  });

  test("may change if the bytes prove it, and not if they refute it", async () => {
    const wrong = await changed(otherDependency).run("check", "--artifacts", "bytes");
    expect(wrong.exitCode).toBe(1);
    expect(wrong.stdout).toContain(
      "error[package-metadata] bytes/agent.deb: package in its manifest is not what it states: control",
    );
    const made = changed(otherDependency);
    await commit(made);
    await made.git("push", "--quiet", "origin", "work:main");
    expect(await made.run("check")).toMatchObject({ exitCode: 0 });
    await made.succeed("ingest", "--release", version, "bytes");
    expect((await made.run("check")).stdout).toMatch(/error\[metadata-changed\]/);
    expect(await made.run("check", "--artifacts", "bytes")).toMatchObject({ exitCode: 0 });
    await made.git("push", "--quiet", "--force", "origin", "main:main");
  });

  test("is compared by commands that release something, and accepted by them once it is merged", {
    tags: ["long"],
  }, async () => {
    const made = changed(otherDependency);
    const mergeFirst =
      "hint: Prove it on a branch with relcat check --artifacts FOLDER and merge that first; or restore what was there.";
    for (const command of [["cut", "--all"], ["build", "--released"], ["sign"]]) {
      const { stderr, exitCode } = await made.run(...command);
      expect([exitCode, stderr], command.join(" ")).toEqual([1, expect.stringMatching(differs)]);
      expect(stderr).toContain(mergeFirst);
    }
    const { stderr, exitCode } = await made.run("status", "--offline");
    expect([exitCode, stderr]).toEqual([1, expect.stringMatching(differs)]);
    const preview = await made.run("serve", "--build", "--dir", "preview", "--host", "203.0.113.1");
    expect(preview.stderr).toContain(
      `warning[metadata-changed] package of agent.deb, which is cut in ${version}`,
    );
    expect(await made.run("build")).toMatchObject({ exitCode: 0 });
    expect(await made.run("build", "--released", "--no-base")).toMatchObject({ exitCode: 0 });
    await commit(made);
    await made.git("push", "--quiet", "origin", "work:main");
    expect(await made.run("build", "--released")).toMatchObject({ exitCode: 0 });
    await made.git("push", "--quiet", "--force", "origin", "main:main");
  });

  test("is compared by publish, too, if the site is not signed", async () => {
    const made = changed(otherDependency);
    made.write("releases/catalog.yaml", {
      ...{ require: {}, base_url: "https://downloads.example.com" },
      sites: { prod: { url: "dir:www" } },
    });
    await made.succeed("build", "--site", "prod");
    const { stderr, exitCode } = await made.run("publish", "prod");
    expect([exitCode, stderr]).toEqual([1, expect.stringMatching(differs)]);
    const allowed = await made.run("publish", "prod", "--allow-unpushed", "Tried by hand");
    expect(allowed.stderr).not.toMatch(differs);
  });

  test("may be added", async () => {
    const made = changed((artifact) => delete artifact.package);
    await commit(made);
    await made.git("push", "--quiet", "origin", "work:main");
    await made.succeed("ingest", "--release", version, "bytes");
    expect(await made.run("check")).toMatchObject({ exitCode: 0 });
    await made.git("push", "--quiet", "--force", "origin", "main:main");
  });
});

test("plan shows that metadata changes, by its digest, and a plan from before is then stale", async () => {
  const made = changed(otherDependency);
  await made.git("stash", "--quiet");
  writeFileSync(join(made.folder, "plan.json"), (await made.run("plan", "--json")).stdout);
  await made.git("stash", "pop", "--quiet");
  const { document } = await made.json("plan");
  expect(document.changed).toMatchObject([
    {
      file: "agent.deb",
      ledger: "written",
      fields: [{ field: "package", from: expect.stringMatching(/^[0-9a-f]{64}$/), to: expect.anything() }],
    },
  ]);
  const stale = await made.run("cut", "--plan", "plan.json");
  expect([stale.exitCode, stale.stderr]).toEqual([
    3,
    expect.stringContaining("error[plan-stale] the plan no longer applies: 26.11.001 has other content"),
  ]);
});

describe("two jobs", () => {
  const second = (change: (artifact: Artifact) => void) => {
    const made = changed(() => {});
    const [name = ""] = made.list(manifests);
    const manifest = JSON.parse(made.read(`${manifests}/${name}`));
    change(manifest.artifacts[0]);
    made.write(`${manifests}/zz.json`, manifest);
    return made;
  };

  test("may both describe a file if one of them knows its metadata", async () => {
    const made = second((artifact) => delete artifact.package);
    expect(await made.run("check")).toMatchObject({ exitCode: 0 });
  });

  test("must not describe its metadata differently", async () => {
    const { stdout, exitCode } = await second(otherDependency).run("check");
    expect([exitCode, stdout]).toEqual([
      1,
      expect.stringMatching(
        /zz\.json:\d+:\d+ error\[artifact-conflict\] "agent\.deb" is described differently in .*: package\.control /,
      ),
    ]);
  });
});

describe("the settled provenance of a chart", () => {
  const chart = "acme-1.2.3.tgz";
  /** A cut chart whose settled manifest has another provenance than the work tree. */
  async function withOther(provenance: (original: Buffer) => Buffer): Promise<Project> {
    const made = project({
      "releases/catalog.yaml": { require: {} },
      [`releases/${version}/release.yaml`]: { version, date: "2026-11-21" },
      ".gitignore": "dist/\nbytes/\n.relcat-*\n",
    });
    for (const name of [chart, `${chart}.prov`])
      cpSync(pathOf(`helm/${name}`), join(made.folder, "bytes", name));
    await made.succeed("ingest", "--release", version, "bytes");
    await made.succeed("cut", "--all", "--now", "2026-11-22T10:00:00Z");
    const origin = temporaryFolder();
    await made.git("init", "--quiet", "--bare", "--initial-branch=main", origin);
    await made.git("init", "--quiet", "--initial-branch=main");
    await made.git("remote", "add", "origin", origin);
    await commit(made);
    await made.git("push", "--quiet", "origin", "main");
    const bytes = provenance(readFileSync(pathOf(`helm/${chart}.prov`)));
    writeFileSync(join(made.folder, "bytes", `${chart}.prov`), bytes);
    const [name = ""] = made.list(manifests);
    const manifest = JSON.parse(made.read(`${manifests}/${name}`));
    const digest = createHash("sha256").update(bytes).digest("hex");
    Object.assign(manifest.artifacts[0].documents[0], { sha256: digest, size: bytes.length });
    made.write(`${manifests}/${name}`, manifest);
    return made;
  }
  const ofAnother = (original: Buffer) => Buffer.from(original.toString().replace(/sha256:\w+/, "sha256:0"));
  const longer = (original: Buffer) => Buffer.concat([original, Buffer.from("\n")]);

  test("may change if the bytes prove it, also without the chart, in a folder for each version", async () => {
    const made = await withOther(longer);
    expect((await made.run("check")).stdout).toContain(
      `error[metadata-changed] documents of ${chart}, which is cut in ${version}, differs from`,
    );
    expect(await made.run("check", "--artifacts", "bytes")).toMatchObject({ exitCode: 0 });
    rmSync(join(made.folder, "bytes", chart));
    mkdirSync(join(made.folder, "bytes", version));
    renameSync(join(made.folder, `bytes/${chart}.prov`), join(made.folder, `bytes/${version}/${chart}.prov`));
    expect(await made.run("check", "--artifacts", "bytes")).toMatchObject({ exitCode: 0 });
  });

  test("cannot become that of another chart, even if the chart is not in the folder", async () => {
    const made = await withOther(ofAnother);
    rmSync(join(made.folder, "bytes", chart));
    const { stdout, exitCode } = await made.run("check", "--artifacts", "bytes");
    expect([exitCode, stdout]).toEqual([
      1,
      expect.stringMatching(
        /error\[checksum-mismatch\] bytes\/acme-1\.2\.3\.tgz\.prov does not contain the SHA-256 of its chart, [0-9a-f]{64}\n/,
      ),
    ]);
  });

  test("must be in the folder if the chart is there", async () => {
    const made = await withOther((original) => original);
    rmSync(join(made.folder, "bytes", `${chart}.prov`));
    const { stdout, exitCode } = await made.run("check", "--artifacts", "bytes");
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(
      /^releases\/[\d.]+\/.*:\d+:\d+ error\[artifact-missing\] bytes\/acme-1\.2\.3\.tgz lacks acme-1\.2\.3\.tgz\.prov, which its manifest names$/m,
    );
    expect(stdout).toContain(
      "hint: Put acme-1.2.3.tgz.prov next to it, or ingest the artifact again without it.",
    );
  });

  test("is compared with its size and digest", async () => {
    const made = await withOther(longer);
    const file = join(made.folder, "bytes", `${chart}.prov`);
    const found = async () => (await made.run("check", "--artifacts", "bytes")).stdout;
    writeFileSync(file, readFileSync(file, "utf8").replace("\n\n", "\n \n"));
    expect(await found()).toMatch(/acme-1\.2\.3\.tgz\.prov has \d+ bytes, expected \d+\n/);
    writeFileSync(file, readFileSync(file, "utf8").replace("\n \n", "\n\n").replace("acme", "akme"));
    expect(await found()).toMatch(/acme-1\.2\.3\.tgz\.prov has the SHA-256 \w+, expected \w+\n/);
  });
});

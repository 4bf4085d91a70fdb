import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { initAlone, type Project, project } from "../support/project.ts";
import { relcat, repository } from "../support/run.ts";

const packages = join(repository, "starters/sample/out");
const storePath = "/nix/store/asxd5d93x5rxmj6c9w970l1k36dj2rqq-controller-qcow-efi";

/** Starts a project in demo/. @returns the commands of its "Next" line, without the server */
async function start(made: Project, ...options: string[]): Promise<string[][]> {
  const { stderr } = await made.succeed(...initAlone, ...options, "demo");
  const steps = (/^Next: (.*)$/m.exec(stderr)?.[1] ?? "").split(", then ");
  return steps
    .filter((step) => step.startsWith("relcat ") && !step.endsWith(" serve"))
    .map((step) => step.split(" ").slice(1));
}

async function follow(made: Project, commands: readonly string[][], placeholders: Record<string, string>) {
  for (const words of commands) await made.succeed(...words.map((word) => placeholders[word] ?? word));
}

/** Package types of the newest release by file name, in the API of the built site, whose home page offers the files. */
function offered(made: Project): Record<string, string> {
  const page = made.read("demo/dist/index.html");
  const { packages } = JSON.parse(made.read("demo/dist/api/v1/latest.json"));
  for (const { file } of packages) expect(page).toContain(file);
  return Object.fromEntries(
    packages.map((each: { file: string; package_type: string }) => [each.file, each.package_type]),
  );
}

/** Writes a dist/ as GoReleaser does for a program with archives and Linux packages. */
function goreleaser(folder: string): void {
  const dist = join(folder, "dist");
  mkdirSync(join(dist, "harbor_linux_amd64_v1"), { recursive: true });
  const artifact = (name: string, type: string, path = name) => ({ name, path: `dist/${path}`, type });
  const archives = [
    "harbor_1.0.0_Linux_x86_64.tar.gz",
    "harbor_1.0.0_Darwin_arm64.tar.gz",
    "harbor_1.0.0_Windows_x86_64.zip",
  ];
  for (const name of archives) writeFileSync(join(dist, name), `archive ${name}`);
  const linux = ["harbor_1.0.0_amd64.deb", "harbor-1.0.0-1.x86_64.rpm"];
  for (const name of linux) cpSync(join(packages, name), join(dist, name));
  writeFileSync(join(dist, "checksums.txt"), "");
  writeFileSync(join(dist, "harbor_linux_amd64_v1/harbor"), "program");
  const artifacts = [
    artifact("harbor", "Binary", "harbor_linux_amd64_v1/harbor"),
    ...archives.map((name) => artifact(name, "Archive")),
    ...linux.map((name) => artifact(name, "Linux Package")),
    artifact("checksums.txt", "Checksum"),
  ];
  writeFileSync(join(dist, "artifacts.json"), JSON.stringify(artifacts));
}

/** The result link of nix build, into a store whose root is the folder. */
function nixBuild(folder: string): void {
  const output = join(folder, storePath);
  const fixture = join(repository, "test/fixtures/ingest/hydra-products", storePath);
  cpSync(fixture, output, { recursive: true });
  symlinkSync(output, join(folder, "result"));
}

describe("from init to a built site:", () => {
  test("--from sample, with the commands that init names", async () => {
    const made = project();
    const commands = await start(made, "--from", "sample");
    expect(commands.map((words) => words[2])).toEqual(["ingest", "build"]);
    await follow(made, commands, {});
    expect(offered(made)).toEqual({
      "harbor-1.0.0-1.x86_64.rpm": "rpm",
      "harbor-chart-1.0.0.tgz": "helm",
      "harbor_1.0.0_amd64.deb": "deb",
    });
  });

  test("--from goreleaser, with GoReleaser's output folder", async () => {
    const made = project();
    const commands = await start(made, "--from", "goreleaser");
    expect(commands.map((words) => words[2])).toEqual(["ingest"]);
    goreleaser(made.folder);
    await follow(made, commands, { "GORELEASER-DIST": "../dist" });
    await made.succeed("-C", "demo", "check");
    await made.succeed("-C", "demo", "build");
    expect(offered(made)).toEqual({
      "harbor-1.0.0-1.x86_64.rpm": "rpm",
      "harbor_1.0.0_Darwin_arm64.tar.gz": "macos-archive",
      "harbor_1.0.0_Linux_x86_64.tar.gz": "linux-archive",
      "harbor_1.0.0_Windows_x86_64.zip": "windows-archive",
      "harbor_1.0.0_amd64.deb": "deb",
    });
  });

  test("--from nix, with the result of nix build in a git repository", async () => {
    const made = project();
    const commands = await start(made, "--from", "nix");
    expect(commands.map((words) => words[2])).toEqual(["ingest"]);
    await made.git("init", "--quiet");
    writeFileSync(join(made.folder, ".gitignore"), "/nix/\n/result\n");
    await made.git("add", ".");
    await made.git("commit", "--quiet", "--message", "Start");
    nixBuild(made.folder);
    await follow(made, commands, { RESULT: "../result" });
    await made.succeed("-C", "demo", "check");
    await made.succeed("-C", "demo", "build");
    expect(offered(made)).toEqual({ "controller-qcow-efi.qcow2.gz": "qcow-efi" });
    const [version = ""] = made.list("demo/releases").filter((name) => /^\d/.test(name));
    const [manifest = ""] = made.list(`demo/releases/${version}/manifests`);
    const { artifacts } = JSON.parse(made.read(`demo/releases/${version}/manifests/${manifest}`));
    const rev = (await made.git("rev-parse", "HEAD")).trim();
    expect(artifacts).toMatchObject([{ store: { path: storePath }, vendor: { rev } }]);
  });
});

test("the links of nix build are no change of the project, so that --rev git accepts them", async () => {
  const made = project();
  const commands = await start(made, "--from", "nix");
  await made.git("init", "--quiet", "demo");
  await made.git("-C", "demo", "add", ".");
  await made.git("-C", "demo", "commit", "--quiet", "--message", "Start");
  nixBuild(made.folder);
  for (const link of ["result", "result-dev"])
    symlinkSync(join(made.folder, storePath), join(made.folder, "demo", link));
  await follow(made, commands, { RESULT: "result/" });
});

describe("init --month", () => {
  test("opens the first release of that month, whatever the date is", async () => {
    const made = project();
    const { document } = await made.json(...initAlone, "--month", "25.02");
    expect(document).toMatchObject({ version: "25.02.001" });
    expect(made.list("releases").filter((name) => /^\d/.test(name))).toEqual(["25.02.001"]);
    expect(made.read("releases/25.02.001/release.yaml")).toContain("\nversion: 25.02.001\n");
    await made.succeed("check");
  });

  test.each([
    ["27.01", "2027-01-05"],
    ["26.02", "2026-02-28"],
    ["28.02", "2028-02-01"],
  ])(
    "dates the release of %s on %s, the day of that month which is nearest to today",
    async (month, date) => {
      const { folder, read } = project();
      const env = { SOURCE_DATE_EPOCH: String(Date.parse("2027-01-05T00:00:00Z") / 1000) };
      expect((await relcat(folder, [...initAlone, "--month", month], { env })).exitCode).toBe(0);
      expect(read(`releases/${month}.001/release.yaml`)).toContain(`\ndate: ${date}\n`);
    },
  );

  test.each(["25.13", "2025.02", "25.02.001", "1.2.3"])("refuses %s, and writes nothing", async (month) => {
    const made = project();
    const { exitCode, stderr } = await made.run(...initAlone, "--month", month);
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/^error\[usage\] /),
    });
    expect(made.list(".")).toEqual([]);
  });
});

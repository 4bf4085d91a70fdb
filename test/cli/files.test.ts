import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { afterFile } from "../support/after-file.ts";
import { pathOf } from "../support/artifacts.ts";
import { artifact, project, smallCatalog } from "../support/project.ts";
import { relcat, temporaryFolder } from "../support/run.ts";

describe("files in the releases folder", () => {
  test("check names an unexpected file at any depth", async () => {
    const deep = "releases/26.09.001/manifests/a/b/c/d/e/f/g/lost.json";
    const { run } = project({ ...smallCatalog, [deep]: { release: "26.09.001", artifacts: [] } });
    const { stdout, stderr, exitCode } = await run("check");
    expect(exitCode).toBe(1);
    expect(stdout + stderr).toContain(`${deep}:1:1 error[file-unexpected] the file has no place here`);
  });

  test("check follows a link to a manifest and a link to a release folder", async () => {
    const { folder, write, succeed, json } = project(smallCatalog);
    write("elsewhere/one.json", {
      release: "26.09.001",
      artifacts: [artifact("one-26.09.001.deb", "deb", "6", { max_os_version: "24.04" })],
    });
    write("elsewhere/26.10.001/release.yaml", { version: "26.10.001", date: "2026-10-15" });
    symlinkSync("../../../elsewhere/one.json", join(folder, "releases/26.09.001/manifests/one.json"));
    symlinkSync("../elsewhere/26.10.001", join(folder, "releases/26.10.001"));
    await succeed("build");
    expect((await json("build")).document).toMatchObject({ releases: 3, packages: 5 });
  });

  test("check names all links that are broken or circular", async () => {
    const { folder, run } = project(smallCatalog);
    symlinkSync("gone.json", join(folder, "releases/26.09.001/manifests/gone-too.json"));
    symlinkSync("nowhere", join(folder, "releases/ledger.jsonl"));
    symlinkSync("..", join(folder, "releases/26.09.001/notes"));
    symlinkSync("nothing", join(folder, "releases/.#editor"));
    expect(await run("check")).toMatchObject({
      exitCode: 2,
      stderr: [
        "error[file-access] releases/26.09.001/manifests/gone-too.json is a link to something that is not there",
        "error[file-access] releases/26.09.001/notes is a link into its own path",
        "error[file-access] releases/ledger.jsonl is a link to something that is not there",
      ]
        .map((line) => `${line}\n  hint: Repair or remove the link.\n`)
        .join("")
        .concat("3 errors"),
    });
  });
});

describe("a pipe, a socket or a device never makes a command wait", () => {
  const refusal = (path: string, kind = "named pipe") =>
    `error[file-access] cannot read ${path}: it is a ${kind}, expected a file\n  hint: Remove it, or name a file.`;
  const made = () =>
    project({ ...smallCatalog, "out/a.msi": "a", "m.json": { release: "26.09.001", artifacts: [] } });
  const ingest = ["ingest", "--release", "26.09.001"];

  test("in a build's output, which is refused with all of them named", async () => {
    const { folder, run } = made();
    const socket = createServer().listen(join(folder, "out/agent.sock"));
    afterFile(() => socket.close());
    await once(socket, "listening");
    execFileSync("mkfifo", [join(folder, "out/p.msi")]);
    symlinkSync("/dev/zero", join(folder, "out/zero.msi"));
    expect(await run(...ingest, "out")).toMatchObject({
      exitCode: 2,
      stderr: [
        refusal("out/agent.sock", "socket"),
        refusal("out/p.msi"),
        refusal("out/zero.msi", "device"),
        "3 errors",
      ].join("\n"),
    });
  });

  test.each<[string, string, string[]]>([
    ["an input of ingest", "p.msi", [...ingest, "p.msi"]],
    ["a sidecar", "out/a.msi.relcat.yaml", [...ingest, "out/a.msi"]],
    ["a list of products", "out/nix-support/hydra-build-products", [...ingest, "out"]],
    ["a checksum file", "SUMS", [...ingest, "--sums", "SUMS"]],
    ["another catalog.yaml", "other.yaml", [...ingest, "out", "--config", "other.yaml"]],
    ["a list to import", "list.json", ["import", "list.json"]],
    ["a manifest of upload", "m2.json", ["upload", "out/a.msi", "--site", "x", "--manifest", "m2.json"]],
    ["a manifest", "releases/26.09.001/manifests/p.json", ["check"]],
    ["catalog.yaml", "releases/catalog.yaml", ["build"]],
    ["the list of an earlier build", "dist/build.json", ["build"]],
    ["a template", "releases/templates/layout.hbs", ["build"]],
  ])("as %s", async (_, path, args) => {
    const { folder, run, write } = made();
    write(path, "");
    write("releases/catalog.yaml", { require: {}, sites: { x: { url: "dir:site" } } });
    rmSync(join(folder, path));
    execFileSync("mkfifo", [join(folder, path)]);
    const { exitCode, stdout, stderr } = await run(...args);
    expect([exitCode, stdout + stderr]).toEqual([
      2,
      expect.stringMatching(/^error\[file-access\] cannot read \S+: it is a named pipe, expected a file\n/),
    ]);
    expect(stderr).toContain(path);
  });

  test.each<[string, string[], string]>([
    ["inspect", ["inspect", "p.msi"], "error[input-missing] p.msi is a named pipe, expected a file"],
    ["upload", ["upload", "p.msi", "--site", "x", "--release", "26.09.001"], refusal("p.msi")],
  ])("as a file of %s", async (_, args, message) => {
    const { folder, run, write } = made();
    write("releases/catalog.yaml", { require: {}, sites: { x: { url: "dir:site" } } });
    execFileSync("mkfifo", [join(folder, "p.msi")]);
    expect(await run(...args)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(message),
    });
  });

  test("as an artifact of check", async () => {
    const { folder, run, write, succeed } = made();
    cpSync(pathOf("deb/unsigned-xz.deb"), join(folder, "out/a.deb"));
    write("releases/catalog.yaml", { require: {} });
    await succeed(...ingest, "out/a.deb");
    rmSync(join(folder, "out/a.deb"));
    execFileSync("mkfifo", [join(folder, "out/a.deb")]);
    expect(await run("check", "--artifacts", "out")).toMatchObject({
      exitCode: 2,
      stderr: refusal("out/a.deb"),
    });
  });
});

describe("the reason why nothing can be written is named", () => {
  const isRoot = process.getuid?.() === 0;
  const canMount = isRoot && mounted("-t", "tmpfs", "tmpfs");

  /** Mounts on a new folder, until the end of the file. @returns undefined if this machine does not allow it */
  function mounted(...options: string[]): string | undefined {
    const folder = temporaryFolder();
    try {
      execFileSync("mount", [...options, folder], { stdio: "ignore" });
    } catch {
      return undefined;
    }
    afterFile(() => void execFileSync("umount", ["--lazy", folder]));
    return folder;
  }

  test("if dist, or a folder above it, is a link to nothing", async () => {
    const { folder, run } = project(smallCatalog);
    symlinkSync("/nowhere/at/all", join(folder, "dist"));
    const said = (out: string, link: string) =>
      `error[file-access] cannot write ${out}: ${link} is a link to something that is not there\n  hint: Repair or remove the link.`;
    expect(await run("build")).toMatchObject({ exitCode: 2, stderr: said("dist", "dist") });
    expect(await run("build", "--out", "dist/below")).toMatchObject({
      exitCode: 2,
      stderr: said("dist/below", "dist"),
    });
  });

  test.runIf(canMount)("if the checkout is read-only", async () => {
    const { folder, succeed } = project({ ...smallCatalog, "out/a.msi": "a" });
    const place = mounted("--bind", folder) ?? "";
    await succeed("new", "26.12"); // Its lock file exists from now on.
    execFileSync("mount", ["-o", "remount,ro,bind", place]);
    const said = async (...args: string[]) => (await relcat(place, args)).stderr;
    const end = "the file system is read-only\n  hint: Choose another place.";
    expect(await said("build")).toMatch(`error[file-access] cannot write dist: ${end}`);
    expect(await said("cut", "--all")).toBe(`error[file-access] cannot lock releases: ${end}`);
    expect(await said("ingest", "--release", "26.12.001", "out/a.msi", "--out", "sub/m.json")).toContain(
      `error[file-access] cannot write sub/m.json: ${end}`,
    );
    expect((await relcat(place, ["check"])).exitCode).toBe(0);
  });

  test.runIf(canMount)("if the disk at the target is full", async () => {
    const full = mounted("-t", "tmpfs", "-o", "size=64k", "tmpfs") ?? "";
    const end = "no space is left\n  hint: Free some, then run the command again.";
    const { run, write } = project({ ...smallCatalog, "out/big.msi": "a".repeat(100_000) });
    write("releases/catalog.yaml", { require: {}, sites: { x: { url: `dir:${full}/site` } } });
    write("releases/26.09.001/manifests/big.json", {
      release: "26.09.001",
      artifacts: [{ name: "big.msi", package_type: "msi", sha256: "unknown" }],
    });
    const target = `${full}/site/files/26.09.001/big.msi`;
    expect(await run("upload", "out/big.msi", "--site", "x", "--release", "26.09.001")).toMatchObject({
      exitCode: 2,
      stderr: `error[file-access] cannot write ${target}: ${end}`,
    });
    writeFileSync(join(full, "fill"), Buffer.alloc(60_000));
    const built = await run("build", "--out", join(full, "dist"));
    expect([built.exitCode, built.stderr]).toEqual([2, expect.stringContaining(`: ${end}`)]);
  });
});

describe("cut fails with a hint", () => {
  test("if the lock file is not a lock", async () => {
    const { run } = project({ ...smallCatalog, "releases/.relcat-lock": "mine\n".repeat(400) });
    expect(await run("cut", "--all")).toMatchObject({
      exitCode: 2,
      stderr:
        "error[file-access] cannot lock releases/.relcat-lock: it is a file of another program\n" +
        "  hint: It contains only the lock: make sure that no relcat is running there, and remove it.",
    });
  });

  test("if a folder has the name of the lock", async () => {
    const { folder, run } = project(smallCatalog);
    mkdirSync(join(folder, "releases/.relcat-lock"));
    expect(await run("cut", "--all")).toMatchObject({
      exitCode: 2,
      stderr:
        "error[file-access] cannot lock releases/.relcat-lock: it cannot be opened\n" +
        "  hint: Check the permissions of the folder and of the file, and the free space.",
    });
  });
});

/** @module-tag long */
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { relcat, repository, temporaryFolder } from "../../support/run.ts";
import { fixtures, image, revision, selfCheck } from "./ingesting.ts";

const fixture = (path: string) => join(repository, fixtures, path);

/** A project whose release 26.08.002 is open, with the fixtures' configuration and one client to ingest. */
function openRelease(): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "releases/26.08.002"), { recursive: true });
  mkdirSync(join(folder, "dist"));
  writeFileSync(join(folder, "releases/26.08.002/release.yaml"), "version: 26.08.002\ndate: 2026-08-19\n");
  copyFileSync(fixture("catalog.yaml"), join(folder, "releases/catalog.yaml"));
  copyFileSync(fixture("plain/client-x86_64.rpm"), join(folder, "dist/client-x86_64.rpm"));
  return folder;
}

const manifests = (folder: string) => {
  const place = join(folder, "releases/26.08.002/manifests");
  return existsSync(place) ? readdirSync(place) : [];
};

const release = ["--release", "26.08.002"];

test("ingest writes the manifest into its release, under a name of the job and of its files", async () => {
  const folder = openRelease();
  const { stdout, stderr, exitCode } = await relcat(folder, [
    "ingest",
    ...release,
    "--job",
    "linux",
    "dist/client-x86_64.rpm",
  ]);
  expect({ stdout, stderr, exitCode }).toMatchInlineSnapshot(`
    {
      "exitCode": 0,
      "stderr": "dist/client-x86_64.rpm warning[package-metadata] client-x86_64.rpm gets no package metadata: client-x86_64.rpm ends at byte 41, expected 96 bytes from 0 on
      hint: It can be released, but package repositories cannot list it.
    Next: relcat check",
      "stdout": "Wrote releases/26.08.002/manifests/linux-c1cf757f.json with 1 artifact
      rpm  client-x86_64.rpm  41 bytes  e0a16ad07d2bffc3cb3721f80111e54455459f56fdaba86c0b0becdf513cde9f",
    }
  `);
  expect(manifests(folder)).toEqual(["linux-c1cf757f.json"]);
});

test("ingest changes nothing the second time, replaces the manifest for new bytes, and keeps it for other files", async () => {
  const folder = openRelease();
  const ingest = async (...args: string[]) =>
    JSON.parse((await relcat(folder, ["ingest", ...release, ...args, "--json"])).stdout);
  const first = await ingest("dist");
  expect(first).toMatchInlineSnapshot(`
    {
      "artifacts": [
        {
          "file": "client-x86_64.rpm",
          "package_type": "rpm",
          "sha256": "e0a16ad07d2bffc3cb3721f80111e54455459f56fdaba86c0b0becdf513cde9f",
          "size": 41,
        },
      ],
      "dry_run": false,
      "file": "releases/26.08.002/manifests/build-c1cf757f.json",
      "left_out": [],
      "release": "26.08.002",
      "result": "written",
      "schema_version": 1,
      "warnings": [
        {
          "code": "package-metadata",
          "column": 1,
          "file": "dist/client-x86_64.rpm",
          "hint": "It can be released, but package repositories cannot list it.",
          "line": 1,
          "message": "client-x86_64.rpm gets no package metadata: client-x86_64.rpm ends at byte 41, expected 96 bytes from 0 on",
          "severity": "warning",
        },
      ],
    }
  `);
  const bytes = readFileSync(join(folder, first.file));
  expect((await ingest("dist/client-x86_64.rpm", "dist")).result).toBe("unchanged");
  expect(readFileSync(join(folder, first.file)).equals(bytes)).toBe(true);
  writeFileSync(join(folder, "dist/client-x86_64.rpm"), "rebuilt\n");
  expect(await ingest("dist")).toMatchObject({ result: "replaced", file: first.file });
  writeFileSync(join(folder, "dist/other.rpm"), "another\n");
  const other = await ingest("dist/other.rpm");
  const job = await ingest("--job", "linux", "dist/other.rpm");
  expect([other.result, job.result]).toEqual(["written", "written"]);
  expect(new Set([first.file, other.file, job.file]).size).toBe(3);
});

test("ingest refuses a second manifest of the same files in one release, with --job and with --out", async () => {
  const folder = openRelease();
  const named = "releases/26.08.002/manifests/clients.json";
  const ingest = (...args: string[]) =>
    relcat(folder, ["ingest", ...release, "--job", "clients", ...args, "dist"]);
  expect((await ingest("--out", named)).exitCode).toBe(0);
  expect(await ingest()).toMatchObject({
    exitCode: 1,
    stderr:
      `error[artifact-conflict] ${named} has the same artifacts already, and a second manifest would conflict with it\n` +
      `  hint: Write into it with --out ${named}, or remove it first.`,
  });
  expect((await ingest("--out", named)).exitCode).toBe(0);
  expect(manifests(folder)).toEqual(["clients.json"]);
  rmSync(join(folder, named));
  await ingest();
  const { exitCode, stderr } = await ingest("--out", named);
  expect({ exitCode, stderr }).toEqual({
    exitCode: 1,
    stderr: expect.stringContaining("clients-c1cf757f.json"),
  });
  expect(manifests(folder)).toEqual(["clients-c1cf757f.json"]);
});

test("ingest without an open release writes nothing, and names relcat new", async () => {
  const folder = openRelease();
  const { stderr, exitCode } = await relcat(folder, ["ingest", "--release", "26.08.003", "dist"]);
  expect({ stderr, exitCode }).toMatchInlineSnapshot(`
    {
      "exitCode": 1,
      "stderr": "error[version-unknown] there is no release 26.08.003 in releases/
      hint: Open it with relcat new 26.08, or write the manifest elsewhere with --out FILE.",
    }
  `);
});

test("--out writes a file or standard output in a repository without releases", async () => {
  const folder = temporaryFolder();
  copyFileSync(fixture("plain/client-x86_64.rpm"), join(folder, "client-x86_64.rpm"));
  const args = ["ingest", ...release, "--config", fixture("catalog.yaml"), "client-x86_64.rpm", "--out"];
  const { stdout, stderr } = await relcat(folder, [...args, "out/manifest.json"]);
  expect({ stdout, stderr }).toMatchInlineSnapshot(`
    {
      "stderr": "client-x86_64.rpm warning[package-metadata] client-x86_64.rpm gets no package metadata: client-x86_64.rpm ends at byte 41, expected 96 bytes from 0 on
      hint: It can be released, but package repositories cannot list it.
    Next: hand out/manifest.json over, into releases/26.08.002/manifests/",
      "stdout": "Wrote out/manifest.json with 1 artifact
      rpm  client-x86_64.rpm  41 bytes  e0a16ad07d2bffc3cb3721f80111e54455459f56fdaba86c0b0becdf513cde9f",
    }
  `);
  const printed = await relcat(folder, [...args, "-"]);
  expect(`${printed.stdout}\n`).toBe(readFileSync(join(folder, "out/manifest.json"), "utf8"));
  expect((await relcat(folder, [...args, "out/manifest.json"])).stdout).toContain(
    "Unchanged: out/manifest.json",
  );
  // A lock file would make the work tree dirty.
  expect(readdirSync(folder)).toEqual(["client-x86_64.rpm", "out"]);
  expect(readdirSync(join(folder, "out"))).toEqual(["manifest.json"]);
});

test("--config accepts a URL", async () => {
  const config = readFileSync(fixture("catalog.yaml"));
  const redirects = new Map<string, string>();
  const server = createServer((request, response) => {
    const moved = redirects.get(request.url ?? "");
    if (moved) return void response.writeHead(302, { location: moved }).end();
    response.statusCode = request.url === "/catalog.yaml?ref=main" ? 200 : 404;
    response.end(response.statusCode === 200 ? config : "");
  });
  onTestFinished(() => void server.close());
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const folder = openRelease();
  const args = (url: string) => ["ingest", ...release, "--config", url, "--out", "-", "dist"];
  expect((await relcat(folder, args(`${base}/catalog.yaml?ref=main`))).exitCode).toBe(0);
  redirects.set("/moved", "/catalog.yaml?ref=main");
  expect((await relcat(folder, args(`${base}/moved`))).exitCode).toBe(0);
  // To relcat, this is another machine, whose answer anyone on the way could replace.
  const other = base.replace("127.0.0.1", "[::ffff:7f00:1]");
  redirects.set("/away", `${other}/back`).set("/back", `${base}/catalog.yaml?ref=main`);
  const away = await relcat(folder, args(`${base}/away`));
  expect([away.exitCode, away.stderr]).toEqual([
    2,
    expect.stringContaining(`error[usage] ${other}/back is not an https URL`),
  ]);
  const refused = await relcat(folder, args(`${base}/none.yaml`));
  expect([refused.exitCode, refused.stderr.replaceAll(base, "<server>")]).toMatchInlineSnapshot(`
    [
      5,
      "error[network] <server>/none.yaml answered 404 Not Found
      hint: Check the URL and the network, then run the command again.",
    ]
  `);
  const plaintext = await relcat(folder, args("http://config.example.com/catalog.yaml"));
  expect([plaintext.exitCode, plaintext.stderr]).toMatchInlineSnapshot(`
    [
      2,
      "error[usage] http://config.example.com/catalog.yaml is not an https URL
      hint: Over http, anyone on the network path could change the content.",
    ]
  `);
});

test("ingest refuses to run without files, and with a job's name that is not a file name", async () => {
  const folder = openRelease();
  const nothing = await relcat(folder, ["ingest", ...release]);
  const job = await relcat(folder, ["ingest", ...release, "--job", "../kvm", "dist"]);
  expect([nothing.exitCode, nothing.stderr, job.exitCode, job.stderr]).toMatchInlineSnapshot(`
    [
      2,
      "error[usage] nothing to ingest
      hint: Give build outputs: JSON of Nix, Hydra or GoReleaser, an output folder, files for download.",
      2,
      "error[usage] --job "../kvm" is not 1 to 64 letters, digits, dots, dashes and underscores
      hint: For example: --job kvm.",
    ]
  `);
});

test("--rev ci and --rev git read the environment and the repository", async () => {
  const folder = openRelease();
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", folder, ...args], { encoding: "utf8" }).trim();
  writeFileSync(join(folder, ".gitignore"), ".relcat-*\n");
  git("init", "--quiet");
  git("add", ".");
  git("-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "--quiet", "--message", "all");
  const inputs = [
    fixture("nix-build/array.json"),
    fixture(image.file),
    "--set",
    `attestation.cryptolib_post.expected_hash=${selfCheck}`,
  ];
  const rev = async (source: string, env: Record<string, string>) => {
    const { stdout, stderr } = await relcat(
      folder,
      ["ingest", ...release, "--rev", source, "--out", "-", ...inputs],
      { env },
    );
    return stdout ? JSON.parse(stdout).artifacts[0].vendor.rev : stderr.split(" ")[0];
  };
  expect(await rev("ci", { GITHUB_SHA: revision, GITHUB_EVENT_NAME: "push" })).toBe(revision);
  expect(await rev("ci", { GITHUB_SHA: revision, GITHUB_EVENT_NAME: "pull_request" })).toBe(
    "error[revision-unsure]",
  );
  expect(await rev("git", {})).toBe(git("rev-parse", "HEAD"));
  mkdirSync(join(folder, "releases/26.08.002/manifests"));
  writeFileSync(join(folder, "releases/26.08.002/manifests/build.json"), "{}");
  expect(await rev("git", {})).toBe(git("rev-parse", "HEAD"));
  writeFileSync(join(folder, "dist/new"), "");
  expect(await rev("git", {})).toBe("error[revision-unsure]");
});

test("a forged signature ends with the status of a failed verification", async () => {
  const folder = openRelease();
  const key = `cache.example.com-1:${Buffer.alloc(32, 7).toString("base64")}`;
  writeFileSync(join(folder, "catalog.yaml"), `nix: { trusted_keys: ["${key}"] }\n`);
  const args = ["ingest", ...release, "--config", "catalog.yaml", fixture("narinfo/forged.narinfo"), "dist"];
  expect((await relcat(folder, args)).exitCode).toBe(6);
});

test("an image must have the release's revision", async () => {
  const folder = openRelease();
  writeFileSync(
    join(folder, "releases/26.08.002/release.yaml"),
    `version: 26.08.002\ndate: 2026-08-19\nrevs: { controller: "${"0".repeat(40)}" }\n`,
  );
  const inputs = [
    fixture("nix-build/array.json"),
    fixture(image.file),
    "--set",
    `attestation.cryptolib_post.expected_hash=${selfCheck}`,
  ];
  const { stderr } = await relcat(folder, ["ingest", ...release, "--rev", revision, ...inputs]);
  expect(stderr).toContain("error[revision-unlisted]");
  expect(manifests(folder)).toEqual([]);
});

test("twenty concurrent jobs write a file each", async () => {
  const folder = openRelease();
  const jobs = Array.from({ length: 20 }, (_, index) => `job-${index}`);
  const results = await Promise.all(
    jobs.map((job) => relcat(folder, ["ingest", ...release, "--job", job, "dist"])),
  );
  expect(results.filter(({ exitCode }) => exitCode !== 0).map(({ stderr }) => stderr)).toEqual([]);
  expect(manifests(folder)).toHaveLength(20);
  expect((await relcat(folder, ["check"])).exitCode).toBe(0);
});

test("a link to an output is read as its target", async () => {
  const folder = openRelease();
  const output = fixture("hydra-products/nix/store/asxd5d93x5rxmj6c9w970l1k36dj2rqq-controller-qcow-efi");
  symlinkSync(output, join(folder, "result"));
  const args = [
    "ingest",
    ...release,
    "--rev",
    revision,
    "--set",
    `attestation.cryptolib_post.expected_hash=${selfCheck}`,
    "--out",
    "-",
    "result",
  ];
  const { stdout, exitCode } = await relcat(folder, args);
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout).artifacts[0].store.path).toBe(image.path);
});

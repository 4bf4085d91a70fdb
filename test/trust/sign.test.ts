/** @module-tag long */
import {
  appendFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { execa } from "execa";
import { beforeAll, describe, expect, test } from "vitest";
import { startOrigin } from "../../service/catalog/node.ts";
import { temporaryFolder } from "../support/run.ts";
import { differences, readTree } from "../support/tree.ts";
import { Forger, host } from "../verify/support.ts";
import {
  inTime,
  onlineKey,
  type SignedProject,
  serveFiles,
  signedProject,
  start,
  tufClient,
} from "./support.ts";

const day = 24 * 3_600_000;

const json = (project: SignedProject, path: string) =>
  JSON.parse(readFileSync(join(project.dist, path), "utf8"));

describe("a signed site", () => {
  let project: SignedProject;
  let url: string;
  const root = () => join(project.folder, "releases/trust/1.root.json");
  beforeAll(async () => {
    project = await signedProject();
    await project.sign();
    url = await serveFiles(project.dist);
  });

  test("lets another program find, fetch and check every target", async () => {
    const versions = Object.keys(json(project, "build.json").files).flatMap(
      (path) => /^api\/v1\/release\/([^/]+)\/index\.json$/.exec(path)?.[1] ?? [],
    );
    const targets = [
      ...["index", "latest", "files"].map((name) => `catalog/${name}.json`),
      ...versions.flatMap((version) => [
        `releases/${version}/release.json`,
        `releases/${version}/files.json`,
      ]),
    ];
    expect(versions.length).toBeGreaterThan(4);
    await inTime(start + day, async () => {
      const { client } = tufClient(url, root());
      await client.refresh();
      for (const path of targets) {
        const target = await client.getTargetInfo(path);
        expect(target, path).toBeDefined();
        if (target) await client.downloadTarget(target);
      }
      expect(await client.getTargetInfo("releases/26.08.001/other.json")).toBeUndefined();
      expect(await client.getTargetInfo("elsewhere/index.json")).toBeUndefined();
    });
  });

  test("lists every file of the build and of sign in exactly one signed list", () => {
    const tree = readTree(project.dist);
    const lists = [...tree].filter(([path]) => /^targets\/.*\.files\.json$/.test(path));
    const listed = lists.flatMap(([, bytes]) => Object.keys(JSON.parse(String(bytes)).files));
    expect(listed).toHaveLength(new Set(listed).size);
    const own = [...tree.keys()].filter((path) => !/^(metadata|targets)\//.test(path));
    expect(listed.sort()).toEqual(own.sort());
  });

  test("has checksums that the stock ssh-keygen checks", async () => {
    const folder = join(project.dist, "releases/26.08.001");
    const args = [
      "-Y",
      "verify",
      "-f",
      "../../allowed_signers",
      "-I",
      "releases@downloads.example.com",
      "-n",
      "file",
    ];
    const input = readFileSync(join(folder, "SHA256SUMS"));
    const check = (bytes: Uint8Array) =>
      execa("ssh-keygen", [...args, "-s", "SHA256SUMS.sig"], { cwd: folder, input: bytes, reject: false });
    expect((await check(input)).exitCode).toBe(0);
    expect((await check(Buffer.concat([input, Buffer.from("\n")]))).exitCode).not.toBe(0);
  });

  test("has the provenance of each release", () => {
    const { payload } = json(project, "releases/26.08.001/provenance.json");
    const statement = JSON.parse(Buffer.from(payload, "base64").toString());
    const sums = readFileSync(join(project.dist, "releases/26.08.001/SHA256SUMS"), "utf8").trim().split("\n");
    const subjects = statement.subject.map(
      ({ name, digest }: { name: string; digest: { sha256: string } }) => `${digest.sha256}  ${name}`,
    );
    expect(subjects.sort()).toEqual(sums.sort());
    expect(statement).toMatchObject({
      _type: "https://in-toto.io/Statement/v1",
      predicateType: "https://slsa.dev/provenance/v1",
      predicate: { runDetails: { builder: { id: "https://ci.example.com/builder" } } },
    });
    const [revision] = statement.predicate.buildDefinition.resolvedDependencies;
    expect(revision).toEqual({
      uri: "git+https://git.example.com/product",
      digest: { gitCommit: expect.stringMatching(/^[0-9a-f]{40}$/) },
    });
  });

  test("is served by relcat serve with the files of sign", async () => {
    const origin = await startOrigin({
      folder: project.dist,
      host: "127.0.0.1",
      port: 0,
      clock: () => 0,
      log: () => {},
    });
    const status = async (path: string) => (await fetch(`${origin.url}/${path}`)).status;
    await inTime(start + day, () => tufClient(origin.url, root()).client.refresh());
    expect(await status("releases/26.08.001/SHA256SUMS.sig")).toBe(200);
    expect(await status("allowed_signers")).toBe(200);
    expect(await status("metadata/2.root.json")).toBe(404);
    await origin.close();
  });

  test("does not change when it is signed again, and keeps these files after another build", async () => {
    const before = readTree(project.dist);
    expect(await project.sign()).toContain("0 files written");
    await project.relcat(["build", "--released"]);
    expect([...readTree(project.dist)]).toEqual([...before]);
  });
});

test("has the same bytes for the same keys, input and time", async () => {
  const project = await signedProject();
  await project.sign();
  const before = readTree(project.dist);
  rmSync(join(project.dist, "metadata"), { recursive: true });
  rmSync(join(project.dist, "targets"), { recursive: true });
  await project.sign();
  expect([...readTree(project.dist)]).toEqual([...before]);
});

test("on another machine, versions continue from the live site, at an address or in a folder", async () => {
  const project = await signedProject();
  await project.sign();
  const live = join(temporaryFolder(), "live");
  cpSync(project.dist, live, { recursive: true });
  const url = await serveFiles(live);
  const fresh = async (...args: string[]) => {
    for (const folder of ["metadata", "targets"]) rmSync(join(project.dist, folder), { recursive: true });
    await project.sign(...args);
    return json(project, "metadata/timestamp.json").signed.version;
  };
  const later = ["--now", new Date(start + 5 * day).toISOString()];
  expect(await fresh("--live", url)).toBe(1);
  expect(readFileSync(join(project.dist, "metadata/timestamp.json"))).toEqual(
    readFileSync(join(live, "metadata/timestamp.json")),
  );
  expect(await fresh("--live", url, ...later)).toBe(2);
  // A leftover of an interrupted publish: its version is skipped.
  cpSync(join(live, "metadata/1.snapshot.json"), join(live, "metadata/7.snapshot.json"));
  expect(await fresh("--live", live, "--now", new Date(start + 10 * day).toISOString())).toBe(2);
  expect(readdirSync(join(project.dist, "metadata"))).toContain("8.snapshot.json");
  const { exitCode, stderr } = await project.relcat(
    ["sign", "--live", "http://127.0.0.1:1"],
    onlineKey(project.keys),
  );
  expect([exitCode, stderr]).toEqual([
    5,
    expect.stringContaining("error[network] http://127.0.0.1:1/metadata/timestamp.json"),
  ]);
});

test("live metadata without an end is not read to its end", async () => {
  const project = await signedProject();
  let sent = 0;
  const pieces = function* () {
    for (; sent < 200; sent++) yield Buffer.alloc(1 << 20);
  };
  const url = await host(
    () => project.dist,
    (_path, _request, response) => {
      pipeline(Readable.from(pieces()), response).catch(() => {});
      return true;
    },
  );
  const { exitCode, stderr } = await project.relcat(["sign", "--live", url], onlineKey(project.keys));
  expect([exitCode, stderr]).toEqual([5, expect.stringContaining("has more than 8388608 bytes")]);
  expect(sent).toBeLessThan(100);
});

test("if the live metadata has the highest version, nothing is signed", async () => {
  const project = await signedProject();
  await project.sign();
  const live = join(temporaryFolder(), "live");
  cpSync(project.dist, live, { recursive: true });
  new Forger(live, project).timestamp((timestamp) => {
    timestamp.version = Number.MAX_SAFE_INTEGER;
  });
  const before = readTree(project.dist);
  const later = new Date(start + 5 * day).toISOString();
  const { exitCode, stderr } = await project.relcat(
    ["sign", "--live", live, "--now", later],
    onlineKey(project.keys),
  );
  expect([exitCode, stderr]).toEqual([
    1,
    "error[versions-exhausted] the live timestamp metadata has the version 9007199254740991, and no number is left above it\n" +
      "  hint: The online key signed a number that relcat never reaches on its own. Rotate that key: docs/runbooks/version-numbers-exhausted.md",
  ]);
  expect(differences(before, readTree(project.dist))).toEqual([]);
});

describe("sign refuses", () => {
  let project: SignedProject;
  const refused = async (env = onlineKey(project.keys)) => {
    const { exitCode, stderr } = await project.relcat(["sign"], env);
    return `${exitCode} ${stderr}`;
  };
  beforeAll(async () => {
    project = await signedProject();
  });

  test("a missing key, one that others can read, and another one", async () => {
    expect(await refused({ RELCAT_ONLINE_KEY: "" })).toMatch(
      /^2 error\[key-unusable\] RELCAT_ONLINE_KEY is not set/,
    );
    expect(await refused({ RELCAT_ONLINE_KEY: "nonsense" })).toMatch(
      /^2 error\[key-unusable\] .*not a private key in PEM/,
    );
    expect(await refused(onlineKey(project.keys, "targets.pem"))).toMatch(
      /^2 error\[key-untrusted\] the online key/,
    );
  });

  test("another key in the file that catalog.yaml names", async () => {
    const config = join(project.folder, "releases/catalog.yaml");
    const before = readFileSync(config, "utf8");
    const file = join(project.keys, "targets.pem");
    writeFileSync(
      config,
      before.replace(/^trust: .*$/m, `trust: {profile: simple, online: {file: ${file}}}`),
    );
    const said = await refused({ RELCAT_ONLINE_KEY: "" });
    writeFileSync(config, before);
    expect(said).toContain("error[key-untrusted] ");
    expect(said).toContain(
      `Was the key rotated? Then ${file} still has the old one: give it the newest online-*.pem`,
    );
  });

  test("a build that was changed, or is missing", async () => {
    const page = join(project.dist, "index.html");
    const before = readFileSync(page);
    appendFileSync(page, " ");
    expect(await refused()).toMatch(/^1 error\[build-changed\] .*index\.html is not what the build made/);
    writeFileSync(page, before);
    const { exitCode, stderr } = await project.relcat(["sign", "--out", "nowhere"], onlineKey(project.keys));
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("error[folder-missing]")]);
  });

  test("a provisional build", async () => {
    writeFileSync(
      join(project.folder, "releases/26.09.001/notes/late.yaml"),
      "component: server\nkind: fix\ntext: Late.\n",
    );
    const manifest = join(project.folder, "releases/26.10.001");
    await project.relcat(["new", "26.10", "--date", "2026-10-02"]);
    expect(existsSync(manifest)).toBe(true);
    await project.relcat(["build"]);
    expect(await refused()).toMatch(
      /^1 error\[build-provisional\] .*26\.10\.001[\s\S]*relcat build --released/,
    );
    rmSync(manifest, { recursive: true });
    await project.relcat(["build", "--released"]);
  });

  test("a project without trust or without a root", async () => {
    const config = join(project.folder, "releases/catalog.yaml");
    const text = readFileSync(config, "utf8");
    writeFileSync(config, text.replace(/^trust: .*$/m, "trust: none"));
    expect(await refused()).toMatch(/^2 error\[trust-missing\] catalog\.yaml has trust: none/);
    writeFileSync(config, text);
    rmSync(join(project.folder, "releases/trust"), { recursive: true });
    expect(await refused()).toMatch(
      /^2 error\[trust-missing\] releases\/trust has no root[\s\S]*relcat trust init/,
    );
  });
});

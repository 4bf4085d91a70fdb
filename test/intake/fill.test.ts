import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { pathOf } from "../support/artifacts.ts";
import { type Project, project } from "../support/project.ts";

const [first, second] = ["26.10.001", "26.11.001"];
const files = { "agent.deb": "deb/unsigned-xz.deb", "acme-1.2.3.tgz": "helm/acme-1.2.3.tgz" };
const provenance = "acme-1.2.3.tgz.prov";

const digest = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

/** The entry of a file in a manifest, without metadata. */
function artifact(name: keyof typeof files, type: string) {
  const bytes = readFileSync(pathOf(files[name]));
  return { name, package_type: type, sha256: digest(bytes), size: bytes.length };
}

const yaml = (version: string) =>
  `\ufeff# Written by hand\nrelease: ${version}\nartifacts:\n  - ${stringify(artifact("agent.deb", "deb")).trim().replaceAll("\n", "\n    ")} # keep me\n`;
const json = (version: string) => ({
  release: version,
  artifacts: [artifact("agent.deb", "deb"), artifact("acme-1.2.3.tgz", "helm")],
});

/** Two cut releases without metadata: one has a JSON manifest, the other a YAML one with comments. */
function older(): Project {
  const made = project({
    "releases/catalog.yaml": { require: {}, base_url: "https://downloads.example.com", feeds: { apt: {} } },
    [`releases/${first}/release.yaml`]: { version: first, date: "2026-10-21" },
    [`releases/${second}/release.yaml`]: { version: second, date: "2026-11-21" },
    [`releases/${second}/manifests/linux.json`]: `${JSON.stringify(json(second), null, 2)}\n`,
  });
  mkdirSync(join(made.folder, `releases/${first}/manifests`), { recursive: true });
  writeFileSync(join(made.folder, `releases/${first}/manifests/linux.yaml`), yaml(first));
  mkdirSync(join(made.folder, "out"));
  for (const [name, path] of Object.entries(files)) cpSync(pathOf(path), join(made.folder, "out", name));
  cpSync(pathOf(`helm/${provenance}`), join(made.folder, "out", provenance));
  return made;
}

const manifests = (made: Project) => [
  made.read(`releases/${first}/manifests/linux.yaml`),
  made.read(`releases/${second}/manifests/linux.json`),
];

describe("ingest --fill", () => {
  let made: Project;
  beforeAll(async () => {
    made = older();
    await made.succeed("cut", "--all", "--yes", "--now", "2026-11-22T10:00:00Z");
  });

  test("adds metadata and provenance to cut releases, and keeps the rest of each manifest", async () => {
    const before = manifests(made);
    const { stdout } = await made.succeed("ingest", "--fill", first, second, "--artifacts", "out");
    expect(stdout).toContain("Added to 3 artifacts:\n");
    expect(stdout).toContain(`releases/${second}/manifests/linux.json  acme-1.2.3.tgz  package, documents`);
    const [byHand, fromJob] = manifests(made) as [string, string];
    expect(byHand.startsWith(before[0]?.split(" # keep me")[0] ?? "-")).toBe(true);
    expect(byHand).toContain("# keep me");
    expect(byHand).toContain("    package:\n      type: deb\n      arch: amd64\n      control: |");
    const { artifacts } = JSON.parse(fromJob);
    expect(artifacts[0].package).toMatchObject({ type: "deb", arch: "amd64" });
    expect(artifacts[1].documents).toMatchObject([{ format: "helm-prov", file: provenance }]);
    for (const each of artifacts) {
      delete each.package;
      delete each.documents;
    }
    expect(`${JSON.stringify({ release: second, artifacts }, null, 2)}\n`).toBe(before[1]);
    // Both releases have the same deb, which is listed once.
    expect((await made.json("status", "--offline")).document.not_in_feeds).toMatchObject([
      { version: first, command: null, reason: expect.stringContaining("as the file with the id 2") },
    ]);
    await made.succeed("check", "--artifacts", "out");
    await made.succeed("build", "--released");
    const again = await made.succeed("ingest", "--fill", first, second, "--artifacts", "out");
    expect(again.stdout).toContain(`Nothing to add to ${first}, ${second}.`);
  });
});

test("the metadata is what ingest itself would write", async () => {
  const made = older();
  await made.succeed("ingest", "--fill", second, "--artifacts", "out");
  const filled = JSON.parse(manifests(made)[1] ?? "").artifacts;
  const { stdout } = await made.succeed("ingest", "--release", second, "--out", "-", "out");
  for (const { name, package: stated, documents } of JSON.parse(stdout).artifacts) {
    const own = filled.find((each: { name: string }) => each.name === name);
    expect([name, own.package, own.documents]).toEqual([name, stated, documents]);
  }
});

test("a dry run writes nothing, and --json lists what it would add", async () => {
  const made = older();
  const before = manifests(made);
  const { document } = await made.json("ingest", "--fill", first, "--artifacts", "out", "--dry-run");
  expect(document).toEqual({
    schema_version: 1,
    filled: [
      {
        manifest: `releases/${first}/manifests/linux.yaml`,
        version: first,
        file: "agent.deb",
        members: ["package"],
      },
    ],
    absent: [],
    warnings: [],
    dry_run: true,
  });
  expect(manifests(made)).toEqual(before);
});

test("files that are not there are named, and the others are filled", async () => {
  const made = older();
  rmSync(join(made.folder, "out/acme-1.2.3.tgz"));
  const { stdout, stderr } = await made.succeed("ingest", "--fill", second, "--artifacts", "out");
  expect(stdout).toContain("Added to 1 artifact:");
  expect(stderr).toContain(`Not in out: ${second}/acme-1.2.3.tgz.`);
});

describe("nothing is written", () => {
  async function refused(made: Project, ...args: string[]) {
    const before = manifests(made);
    const { exitCode, stderr } = await made.run("ingest", ...args);
    expect(manifests(made)).toEqual(before);
    return [exitCode, stderr] as const;
  }

  test("if one of the files has other bytes than its record", async () => {
    const made = older();
    writeFileSync(join(made.folder, "out/acme-1.2.3.tgz"), "other");
    const [status, text] = await refused(made, "--fill", first, second, "--artifacts", "out");
    expect(status).toBe(1);
    expect(text).toMatch(
      /releases\/26\.11\.001\/manifests\/linux\.json:\d+:\d+ error\[checksum-mismatch\] acme-1\.2\.3\.tgz of 26\.11\.001 has the SHA-256 \w+ there, expected \w+\n/,
    );
  });

  test("if no file is there", async () => {
    const made = older();
    mkdirSync(join(made.folder, "empty"));
    const [status, text] = await refused(made, "--fill", first, "--artifacts", "empty");
    expect([status, text]).toEqual([
      1,
      expect.stringContaining("error[artifact-missing] empty does not have agent.deb of 26.10.001\n"),
    ]);
  });

  test("if a manifest would become too large", async () => {
    const made = older();
    const path = `releases/${second}/manifests/linux.json`;
    writeFileSync(join(made.folder, path), made.read(path) + "\n".repeat(4 * 1024 * 1024 - 700));
    const [status, text] = await refused(made, "--fill", second, "--artifacts", "out");
    expect(status).toBe(1);
    expect(text).toMatch(
      /linux\.json:1:1 error\[file-size\] the file has \d+ bytes, expected at most 4194304\n/,
    );
  });

  test("for wrong arguments", async () => {
    const made = older();
    const wrong = [
      [["--fill", "26.12.001", "--artifacts", "out"], "error[version-unknown]"],
      [["--fill", first], "--fill needs the artifacts"],
      [["--fill", first, "--artifacts", "out", "--from", "x"], "both say where the artifacts are"],
      [["--fill", first, "--artifacts", "out", "--job", "kvm"], "and --job is for new ones"],
      [["out", "--fill", first], "and out is for new ones"],
      [["--from", "prod", "out"], "--from is the site that serves the artifacts of --fill, which is missing"],
      [
        ["--fill", first, "--from", "nowhere"],
        'error[site-unknown] "nowhere" is not a site of catalog.yaml, an address or a folder',
      ],
    ] as const;
    for (const [args, message] of wrong) expect((await refused(made, ...args))[1]).toContain(message);
  });
});

describe("--from", () => {
  let url: string;
  const requested: string[] = [];
  const server = createServer(({ url: path = "" }, response) => {
    requested.push(path);
    const name = path.split("/").at(-1) ?? "";
    const known: Record<string, string> = { ...files, [provenance]: `helm/${provenance}` };
    const file = known[name];
    response.statusCode = file === undefined || !path.startsWith("/base/files/") ? 404 : 200;
    response.end(file === undefined ? "" : readFileSync(pathOf(file)));
  });
  beforeAll(async () => {
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/base`;
  });
  afterAll(() => {
    server.close();
  });

  test("reads the artifacts from a site by its URL, also the provenance of a chart", async () => {
    const [bySite, byFolder] = [older(), older()];
    await bySite.succeed("ingest", "--fill", second, "--from", `${url}/`);
    expect(requested).toContain(`/base/files/${second}/${provenance}`);
    await byFolder.succeed("ingest", "--fill", second, "--artifacts", "out");
    expect(manifests(bySite)).toEqual(manifests(byFolder));
  });

  test("reads the artifacts from the folder of a site", async () => {
    const made = older();
    cpSync(join(made.folder, "out"), join(made.folder, `www/files/${first}`), { recursive: true });
    const { stdout } = await made.succeed("ingest", "--fill", first, "--from", "www");
    expect(stdout).toContain("Added to 1 artifact:");
  });
});

/** @module-tag long */
import { cpSync, mkdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { pathOf } from "../support/artifacts.ts";
import { signersConfig } from "../support/inspected-project.ts";
import { release } from "../support/project.ts";
import { repository } from "../support/run.ts";
import { type Forge, forge, type Machine } from "./ci-forge.ts";

const version = "26.11.001";
const signed = "deb/signed-ed25519.deb";

/** A project with signers, whose build copies its files to built/. */
const start = (): Promise<Forge> =>
  forge({
    "releases/catalog.yaml": {
      ...signersConfig(),
      base_url: "https://downloads.example.com",
      sites: { prod: { url: "dir:site" } },
    },
    "releases/signers/ed25519.asc": certificate("ed25519.asc"),
    "releases/signers/codesign-ca.crt": certificate("codesign-ca.crt"),
    build: "#!/bin/sh\nmkdir -p out\ncp built/* out/\n",
    ...release(version, []),
  });

const certificate = (name: string) =>
  readFileSync(join(repository, "test/fixtures/artifacts/keys", name), "latin1");

function put(machine: Machine, folder: string, file: string, name = basename(file)): void {
  mkdirSync(join(machine.folder, folder), { recursive: true });
  cpSync(pathOf(file), join(machine.folder, folder, name));
}

/** A build job, up to its ingest. */
async function build(at: Forge, file: string) {
  const machine = await at.clone();
  put(machine, "built", file);
  await machine.succeed("build", version, "clients-linux");
  return { machine, ingested: await machine.step("ingest", version, "clients-linux", "out") };
}

/** The job that proposes a release. @param packages files by name @param change of the manifest in transit */
async function collect(
  at: Forge,
  packages: Readonly<Record<string, string>>,
  change = (manifest: string) => manifest,
) {
  const { machine: builder } = await build(at, signed);
  const machine = await at.clone();
  machine.write("handed/clients-linux.json", change(builder.read("manifests/clients-linux.json")));
  for (const [name, file] of Object.entries(packages)) put(machine, "../packages", file, name);
  await machine.succeed("release-branch", version);
  const body = join(machine.folder, "../plan.md");
  return { machine, collected: await machine.step("collect", version, "handed", body, "../packages") };
}

const unsaid = (manifest: string) => manifest.replace(/,\s*"inspected": \{[^}]*\}/, "");

test("a build job with an unsigned package fails at ingest, and again at upload", async () => {
  const { machine, ingested } = await build(await start(), "deb/unsigned-xz.deb");
  expect(ingested.exitCode).toBe(1);
  expect(ingested.stderr).toContain(
    "error[policy-refused] unsigned-xz.deb is refused by the policy of deb: it is unsigned",
  );
  const artifacts = [
    { name: "unsigned-xz.deb", package_type: "deb", sha256: "unknown", min_os_version: "22.04" },
  ];
  machine.write("manifests/clients-linux.json", { release: version, artifacts });
  const { exitCode, stderr } = await machine.step("upload", "clients-linux");
  expect(stderr).toContain("error[policy-refused] unsigned-xz.deb is refused by the policy of deb");
  expect(exitCode).toBe(1);
});

test("a signed package is ingested, uploaded and proposed", async () => {
  const at = await start();
  const { machine, ingested } = await build(at, signed);
  expect(ingested.exitCode).toBe(0);
  await machine.succeed("upload", "clients-linux");
  expect(JSON.parse(machine.read("manifests/clients-linux.json")).artifacts[0].inspected.verdict).toBe("ok");
  const { machine: proposing, collected } = await collect(at, { "signed-ed25519.deb": signed });
  expect(collected.exitCode).toBe(0);
  expect(proposing.read("releases/ledger.jsonl")).toContain("signed-ed25519.deb");
});

test("without the package the job's manifest counts, and a missing inspection is an error in the log", async () => {
  const at = await start();
  expect((await collect(at, {})).collected.exitCode).toBe(0);
  const { machine, collected } = await collect(at, {}, unsaid);
  expect(collected.exitCode).toBe(1);
  expect(collected.stderr).toContain(
    "error[inspection-missing] signed-ed25519.deb of 26.11.001 was not inspected",
  );
  expect(machine.read("../plan.md")).toContain("## Plan with refused artifacts");
  expect((await collect(at, { "signed-ed25519.deb": signed }, unsaid)).collected.exitCode).toBe(0);
});

test("collect detects false claims of a job by the bytes of its package", async () => {
  const at = await start();
  const { collected } = await collect(at, { "signed-ed25519.deb": "deb/signed-attacker.deb" });
  expect(collected.stderr).toContain(
    "error[checksum-mismatch] ../packages/signed-ed25519.deb has the SHA-256 ",
  );
  expect(collected.exitCode).toBe(1);
});

import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { pathOf } from "../support/artifacts.ts";
import { type Project, project } from "../support/project.ts";
import { relcat, temporaryFolder } from "../support/run.ts";
import { onlineKey } from "../trust/support.ts";

/** A signed site with a disk of 26.08.001 and an archive of 26.09.001. */
let made: Project;
const version = ["26.08.001", "26.09.001"] as const;

async function release(of: string, name: string, fixture: string): Promise<void> {
  made.write(`releases/${of}/release.yaml`, { version: of, date: "2026-08-19" });
  mkdirSync(join(made.folder, "out"), { recursive: true });
  cpSync(pathOf(`vm/${fixture}`), join(made.folder, "out", name));
  await made.succeed("ingest", "--release", of, join("out", name));
  await made.succeed("cut", of, "--now", `20${of.slice(0, 2)}-${of.slice(3, 5)}-20T10:00:00Z`);
}

beforeAll(async () => {
  made = project({
    "releases/catalog.yaml": {
      ...{ product: "Acme", require: {}, trust: "simple", base_url: "https://downloads.example.com/base" },
      feeds: { incus: {} },
      sites: { prod: { url: "dir:dist" } },
      ingest: [{ match: "*.incus.tar.xz", package_type: "incus" }],
    },
  });
  await release(version[0], "vm a-amd64.qcow2", "acme-1.2.3.qcow2");
  await release(version[1], "vm.incus.tar.xz", "acme-1.2.3-incus.tar.xz");
  const keys = join(temporaryFolder(), "keys");
  await made.succeed("trust", "init", keys);
  await made.succeed("build", "--released");
  for (const [of, name] of [
    [version[0], "vm a-amd64.qcow2"],
    [version[1], "vm.incus.tar.xz"],
  ] as const)
    cpSync(join(made.folder, "out", name), join(made.folder, "dist/files", of, name));
  const { exitCode, stderr } = await relcat(made.folder, ["sign"], { env: onlineKey(keys) });
  expect(exitCode, stderr).toBe(0);
});

test("a site with an image server is verified, with the digests of its images", async () => {
  const verified = await made.run("verify", "dist", "--artifacts");
  expect([verified.exitCode, verified.stdout]).toEqual([0, expect.stringContaining("2 downloads")]);
  const [name = ""] = made.list(`releases/${version[0]}/manifests`);
  const manifest = `releases/${version[0]}/manifests/${name}`;
  const written = made.read(manifest);
  made.write(manifest, written.replace(/("combined_sha256": )"[0-9a-f]{64}"/, `$1"${"a".repeat(64)}"`));
  const { stdout, stderr } = await made.run("verify", "dist", "--artifacts");
  made.write(manifest, written);
  expect(stdout + stderr).toContain(
    `vm%20a-amd64.qcow2 is not what was ingested: package.incus.combined_sha256 in its manifest is aaaa`,
  );
});

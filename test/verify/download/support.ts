import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { project, release } from "../../support/project.ts";
import { relcat, temporaryFolder } from "../../support/run.ts";
import { onlineKey, type SignedProject } from "../../trust/support.ts";

export const hash = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest("hex");

/** Files for download that are large enough for several parts. */
export const bytesOf = (name: string): Buffer => Buffer.alloc(300_000, `${name} `);

const entry = (name: string, package_type: string, rest: object = {}) => ({
  name,
  package_type,
  sha256: hash(bytesOf(name)),
  size: bytesOf(name).length,
  ...rest,
});

const msi = (name: string, arch: string) =>
  entry(name, "msi", {
    package: {
      type: "msi",
      product_name: "Client",
      manufacturer: "Example",
      product_version: "26.8.2",
      product_code: "{12345678-1234-1234-1234-123456789012}",
      arch,
      scope: "machine",
    },
  });

export const names = {
  old: "client-old_26.08.001_2004.deb",
  new: "client-new_26.08.001_2204.deb",
  later: "client_26.08.002_2204.deb",
  chart: "chart-26.08.001.tgz",
  gone: "client-26.08.001.rpm",
  instead: "client-26.08.002.rpm",
  unsized: "client-26.08.001.tar.xz",
  arm: "client-26.08.002.aarch64.pkg",
  amd: "client-26.08.002.x86_64.pkg",
  core: "client-core-26.08.002.pkg",
  msi32: "client-26.08.001-x86.msi",
  msiArm: "client-26.08.002-arm64.msi",
  msi64: "client-26.08.002-x64.msi",
};

/** A signed catalog with its files for download, at an address. */
export async function downloads(baseUrl: string): Promise<SignedProject & { artifacts: string }> {
  const { xz, ...deb } = { xz: "xz", old: { max_os_version: "20.04" }, new: { min_os_version: "22.04" } };
  const { size: _, ...unsized } = entry(names.unsized, xz);
  const self = project({
    "releases/catalog.yaml": {
      base_url: baseUrl,
      artifact_url: `${baseUrl}/files/{version}/{file}`,
      authority: "example.com",
      require: {},
      trust: "simple",
    },
    ...release("26.08.001", [
      msi(names.msi32, "i386"),
      entry(names.old, "deb", deb.old),
      entry(names.new, "deb", deb.new),
      entry(names.chart, "helm"),
      entry(names.gone, "rpm"),
      unsized,
    ]),
    ...release("26.08.002", [
      entry(names.later, "deb", deb.new),
      entry(names.instead, "rpm"),
      entry(names.arm, "pkg", { gui_only: true }),
      entry(names.amd, "pkg", { gui_only: true }),
      entry(names.core, "pkg", { headless: true }),
      msi(names.msiArm, "arm64"),
      msi(names.msi64, "amd64"),
    ]),
  });
  const keys = join(temporaryFolder(), "keys");
  await self.succeed("cut", "--all");
  const { document } = await self.json("list", "package_type=rpm");
  const ids = Object.fromEntries(
    (document.records as { id: number; name: string }[]).map((record) => [record.name, record.id]),
  );
  await self.succeed(
    "retract",
    String(ids[names.gone]),
    "--reason",
    "Does not start.",
    "--replaced-by",
    String(ids[names.instead]),
    "--yes",
  );
  await self.succeed("trust", "init", keys);
  await self.succeed("build", "--released");
  const run: SignedProject["relcat"] = (args, env = {}) => relcat(self.folder, args, { env });
  const sign = async (...args: string[]) => {
    const { exitCode, stderr, stdout } = await run(["sign", ...args], onlineKey(keys));
    expect(exitCode, stderr).toBe(0);
    return stdout;
  };
  await sign();
  const artifacts = temporaryFolder();
  for (const name of Object.values(names)) {
    const file = join(artifacts, "files", /26\.08\.\d{3}/.exec(name)?.[0] ?? "", name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, bytesOf(name));
  }
  return { folder: self.folder, keys, dist: join(self.folder, "dist"), relcat: run, sign, artifacts };
}

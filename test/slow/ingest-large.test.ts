import { copyFileSync, mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import { repository, temporaryFolder } from "../support/run.ts";

/** The command as it is installed, compiled: stripping types while running takes memory of its own. */
async function installed(): Promise<string> {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "cli"));
  for (const file of ["cli/relcat.mjs", "package.json"])
    copyFileSync(join(repository, file), join(folder, file));
  symlinkSync(join(repository, "node_modules"), join(folder, "node_modules"));
  const compiler = join(repository, "node_modules/.bin/tsc");
  await execa(compiler, ["-p", "tsconfig.build.json", "--outDir", join(folder, "build")], {
    cwd: repository,
  });
  return join(folder, "cli/relcat.mjs");
}

test("6 GiB are ingested in less than 100 MB of memory", async () => {
  const folder = temporaryFolder();
  const peak = join(folder, "peak");
  writeFileSync(join(folder, "client.rpm"), "");
  truncateSync(join(folder, "client.rpm"), 6 * 1024 ** 3);
  const memory = join(repository, "test/support/peak-memory.mjs");
  const args = ["ingest", "--release", "26.08.002", "--set", "package_type=rpm", "--out", "-", "client.rpm"];
  const { stdout } = await execa(process.execPath, ["--import", memory, await installed(), ...args], {
    cwd: folder,
    env: { PEAK_MEMORY: peak },
  });
  // Of six binary gigabytes of zeros, as sha256sum has it.
  const sha256 = "5c32c2b28999325bc5ad39d6530bcb46fbdf1f86375a991b7269764c50b0d109";
  expect(JSON.parse(stdout).artifacts[0]).toMatchObject({ sha256, size: 6442450944 });
  expect(Number(readFileSync(peak, "utf8"))).toBeLessThan(100_000_000);
}, 180_000);

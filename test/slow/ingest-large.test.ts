import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { beforeAll, expect, test } from "vitest";
import { repository, temporaryFolder } from "../support/run.ts";

const size = 6 * 1024 ** 3;
/** Of so many zeros, as `openssl dgst -sha256` has it. */
const sha256 = "5c32c2b28999325bc5ad39d6530bcb46fbdf1f86375a991b7269764c50b0d109";

let folder: string;

beforeAll(() => {
  folder = temporaryFolder();
  writeFileSync(join(folder, "large.rpm"), "");
  truncateSync(join(folder, "large.rpm"), size);
  writeFileSync(join(folder, "small.rpm"), "x");
});

/** Runs Node and returns what it printed and the most memory it held, in bytes. */
async function run(args: readonly string[]): Promise<{ stdout: string; peak: number }> {
  const report = join(folder, "peak");
  const preload = join(repository, "test/support/peak-memory.mjs");
  const options = { cwd: folder, env: { PEAK_MEMORY: report } };
  const { stdout } = await execa(process.execPath, ["--import", preload, ...args], options);
  return { stdout, peak: Number(readFileSync(report, "utf8")) };
}

test("6 GiB are hashed in less than 100 MB of memory", async () => {
  const module = join(repository, "pipeline/outside/hash-file.ts");
  const script = `const { hashFile } = await import(${JSON.stringify(module)});
    console.log(JSON.stringify(await hashFile("large.rpm")));`;
  const { stdout, peak } = await run(["--input-type=module", "--eval", script]);
  expect(JSON.parse(stdout)).toEqual({ sha256, size });
  expect(peak).toBeLessThan(100_000_000);
}, 180_000);

test("ingesting 6 GiB takes hardly more memory than ingesting one byte", async () => {
  const ingest = (file: string) =>
    run([
      join(repository, "cli/relcat.mjs"),
      ...["ingest", "--release", "26.08.002", "--set", "package_type=rpm", "--out", "-", file],
    ]);
  const small = await ingest("small.rpm");
  const large = await ingest("large.rpm");
  expect(JSON.parse(large.stdout).artifacts[0]).toMatchObject({ sha256, size });
  expect(large.peak - small.peak).toBeLessThan(20_000_000);
}, 180_000);

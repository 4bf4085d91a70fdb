import { copyFileSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { beforeAll, expect, test } from "vitest";
import { peakMemory } from "../support/peak-memory.ts";
import { repository, temporaryFolder } from "../support/run.ts";

const size = 6 * 1024 ** 3;
/** Hash of this many zeros, from `openssl dgst -sha256`. */
const sha256 = "5c32c2b28999325bc5ad39d6530bcb46fbdf1f86375a991b7269764c50b0d109";

let folder: string;
let installed: string;

/** The compiled program without its source, as in build jobs; needs `npm run compile`. */
beforeAll(() => {
  folder = temporaryFolder();
  writeFileSync(join(folder, "large.rpm"), "");
  truncateSync(join(folder, "large.rpm"), size);
  writeFileSync(join(folder, "small.rpm"), "x");
  installed = temporaryFolder();
  mkdirSync(join(installed, "cli"));
  for (const file of ["cli/relcat.mjs", "package.json"])
    copyFileSync(join(repository, file), join(installed, file));
  symlinkSync(join(repository, "build"), join(installed, "build"));
});

/** Ingests one file, and returns the manifest and the most memory the process held, in bytes. */
async function ingest(file: string) {
  const peak = peakMemory();
  const args = ["ingest", "--release", "26.08.002", "--set", "package_type=rpm", "--out", "-", file];
  const { stdout } = await execa(
    process.execPath,
    [...peak.nodeArgs, join(installed, "cli/relcat.mjs"), ...args],
    {
      cwd: folder,
      // Node's compilation without a cache, as in a new container, needs the most memory.
      env: { ...peak.env, NODE_COMPILE_CACHE: temporaryFolder() },
    },
  );
  return { manifest: JSON.parse(stdout), peak: peak.read() };
}

test("ingest of 6 GiB needs less than 110 MB of memory, and little more than for one byte", async () => {
  const large = await ingest("large.rpm");
  expect(large.manifest.artifacts[0]).toMatchObject({ sha256, size });
  expect(large.peak).toBeLessThan(110_000_000);
  // Most of it is the thread that hashes.
  expect(large.peak - (await ingest("small.rpm")).peak).toBeLessThan(25_000_000);
}, 180_000);

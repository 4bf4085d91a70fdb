import { statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { beforeAll, expect, test } from "vitest";
import { often } from "../support/effort.ts";
import { gptDisk, partitionTypes } from "../support/images.ts";
import { peakMemory } from "../support/peak-memory.ts";
import { repository, temporaryFolder } from "../support/run.ts";

/** Bytes of a disk, which exceed the memory that each test allows. */
const large = often(4 * 2 ** 30, 2 ** 28);
let folder: string;
beforeAll(() => {
  folder = temporaryFolder();
});

/** An empty disk with an EFI system partition. */
function emptyDisk(name: string, size: number): string {
  const path = join(folder, name);
  writeFileSync(path, gptDisk([[partitionTypes.esp]]));
  truncateSync(path, size);
  return path;
}

/** Inspects a file in a separate process, and measures its peak memory in bytes. */
async function inspect(path: string) {
  const peak = peakMemory();
  const script = join(repository, "test/support/inspect-file.ts");
  const { stdout } = await execa(process.execPath, [...peak.nodeArgs, script, path], { env: peak.env });
  return { ...JSON.parse(stdout), size: statSync(path).size, peak: peak.read() };
}

test("a large disk is read once, with bounded memory", async () => {
  const { inspection, read, size, peak } = await inspect(emptyDisk("disk.raw", large));
  expect(inspection).toMatchObject({
    type: "raw",
    verdict: "ok",
    facts: { boot: "efi", virtual_size: size },
  });
  expect(read / size).toBeLessThan(1.001);
  expect(peak).toBeLessThan(150_000_000);
});

test.each([
  ["zstd", ["zstd", "-q", "-k"], "zst"],
  ["gzip", ["gzip", "-1", "-k"], "gz"],
  ["xz", ["xz", "-1", "-k"], "xz"],
] as const)(
  "a disk that is compressed with %s needs bounded memory",
  async (compression, [command, ...args], ending) => {
    const disk = emptyDisk(`packed-${compression}.raw`, large);
    await execa(command, [...args, disk]);
    const { inspection, peak } = await inspect(`${disk}.${ending}`);
    expect(inspection).toMatchObject({
      type: "raw",
      verdict: "ok",
      facts: { compression, boot: "efi", unpacked_size: large },
    });
    expect(peak).toBeLessThan(200_000_000);
  },
);

test("many disks in one archive need the memory of one", async () => {
  const size = 20_000_000;
  const names = Array.from({ length: 12 }, (_, index) => `d${index}.raw`);
  for (const name of names) emptyDisk(name, size);
  const references = names
    .map((name) => `<File ovf:href="${name}" ovf:id="${name}" ovf:size="${size}"/>`)
    .join("");
  writeFileSync(join(folder, "a.ovf"), `<Envelope><References>${references}</References></Envelope>`);
  await execa("tar", ["--format=ustar", "-cf", "a.ova", "a.ovf", ...names], { cwd: folder });
  const { inspection, peak } = await inspect(join(folder, "a.ova"));
  expect(inspection).toMatchObject({ type: "ova", verdict: "ok" });
  expect(peak).toBeLessThan(200_000_000);
});

test("an incompressible disk is read once", async () => {
  const path = join(folder, "noise.raw");
  const unpacked = often(200_000_000, 80_000_000);
  await execa("sh", ["-c", `head -c ${unpacked} /dev/urandom > ${path} && xz -0 -k -T2 ${path}`]);
  const { inspection, read, size, peak } = await inspect(`${path}.xz`);
  expect(inspection).toMatchObject({ verdict: "ok", facts: { unpacked_size: unpacked } });
  // In addition to the pass, the few bytes before each chunk with its length.
  expect(read / size).toBeLessThan(1.1);
  expect(peak).toBeLessThan(200_000_000);
});

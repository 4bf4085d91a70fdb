import { expect, test } from "vitest";
import { largeCatalog } from "../support/large.ts";
import { peakMemory } from "../support/peak-memory.ts";
import { project } from "../support/project.ts";
import { spawnRelcat } from "../support/run.ts";

/** Node and the program with its templates need half of it. */
const mostMegabytes = 300;

async function measured(folder: string): Promise<number> {
  const { read, ...options } = peakMemory();
  const { exitCode, stderr } = await spawnRelcat(folder, ["build"], options);
  expect(exitCode, stderr).toBe(0);
  return Math.round(read() / 1024 ** 2);
}

test("a build of 10,000 records frees the memory of each release", async () => {
  const catalog = largeCatalog();
  const settings = { ...Object(catalog["releases/catalog.yaml"]), precompress: ["gz", "br"] };
  const { folder, read, write } = project({ ...catalog, "releases/catalog.yaml": settings });
  expect(await measured(folder), "from nothing").toBeLessThan(mostMegabytes);
  const changed = "releases/26.12.001/release.yaml";
  write(changed, read(changed).replace("one of many", "one of very many"));
  expect(await measured(folder), "one release changed").toBeLessThan(mostMegabytes);
});

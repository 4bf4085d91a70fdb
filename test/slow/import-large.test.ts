import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Live, largeCatalog } from "../support/live-catalog.ts";
import { peakMemory } from "../support/peak-memory.ts";
import { spawnRelcat, temporaryFolder } from "../support/run.ts";

const mostMegabytes = 700;

/** Runs a command that must succeed within its limit of memory. */
async function measured(folder: string, args: readonly string[]) {
  const { read, ...options } = peakMemory();
  const result = await spawnRelcat(folder, args, options);
  const megabytes = read() / 1024 ** 2;
  const figures = `${args[0]}: ${Math.round(megabytes)} MB`;
  expect(result.exitCode, `${figures}\n${result.stderr}`).toBe(0);
  expect(megabytes, figures).toBeLessThan(mostMegabytes);
  return result.stdout;
}

const built = (folder: string): Live[] =>
  JSON.parse(readFileSync(join(folder, "dist/api/v1/package/index.json"), "utf8"));
const byId = (records: readonly Live[]) => records.toSorted((a, b) => a.id - b.id);

test("25,000 records import and build equal, and a later state adds its new records", async () => {
  const folder = temporaryFolder();
  const records = largeCatalog(25_000);
  const [newest] = records;
  const earlier = records.filter(({ version }) => version !== newest?.version);
  writeFileSync(join(folder, "live.json"), JSON.stringify(earlier));
  expect(await measured(folder, ["import", "live.json"])).toContain(`Imported ${earlier.length} new records`);
  writeFileSync(join(folder, "live.json"), JSON.stringify(records));
  const added = records.length - earlier.length;
  expect(await measured(folder, ["import", "live.json"])).toContain(
    `Imported ${added} new records, ${earlier.length} unchanged into 1 release`,
  );
  await measured(folder, ["build", "--released"]);
  const list = built(folder);
  // The order of the list: versions descending, then ids.
  expect(list.map(({ id }) => id)).toEqual(records.map(({ id }) => id));
  expect(byId(list)).toEqual(byId(records));
});

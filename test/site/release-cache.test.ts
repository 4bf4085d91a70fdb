import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { build, loadCatalog } from "../../pipeline/index.ts";
import { openBuildMemory } from "../../pipeline/journal/build-memory.ts";
import { type Cache, cacheIn } from "../../pipeline/journal/cache.ts";
import { lookAt, noLook } from "../../pipeline/journal/file-stats.ts";
import { outputTable } from "../../pipeline/journal/output-table.ts";
import { copyProject, temporaryFolder } from "../support/run.ts";

const surroundings = { clock: 0, pid: process.pid, onWait: () => {} };
const remembering = { program: "tested", inputs: { listings: "", looks: new Float64Array() } };

/** A project whose releases are in the cache, and read out of it. */
async function recalled() {
  const project = copyProject("site/small");
  const folder = join(project, "releases");
  await build(folder, join(project, "dist"), {}, { ...surroundings, remembering });
  const memory = openBuildMemory(folder, join(project, "dist"), undefined, surroundings, remembering);
  const catalog = await loadCatalog(folder, {}, undefined, memory?.remember);
  const artifacts = catalog.releases.flatMap((release) => release.artifacts);
  return { project, folder, artifacts };
}

test("whoever takes the cache away during a build takes nothing out of it", async () => {
  const { project, artifacts } = await recalled();
  const { releases } = await loadCatalog(join(project, "releases"));
  rmSync(join(project, ".relcat-cache"), { recursive: true });
  expect(artifacts.length).toBeGreaterThan(2);
  expect(artifacts.map((artifact) => artifact.details())).toEqual(
    releases.flatMap((release) => release.artifacts.map((artifact) => artifact.details())),
  );
});

test("whoever also changes a manifest meanwhile is told so", async () => {
  const { project, folder, artifacts } = await recalled();
  rmSync(join(project, ".relcat-cache"), { recursive: true });
  const [artifact] = artifacts;
  const manifest = artifact?.origin.manifest ?? "";
  writeFileSync(manifest, readFileSync(manifest, "utf8").replaceAll(artifact?.file ?? "", "other.rpm"));
  expect(() => artifact?.details()).toThrow(
    `the files of ${folder}/${artifact?.content.version} were changed while relcat read them`,
  );
});

/** A folder with one file, and a table that notes it. */
function noted() {
  const [folder, out] = [temporaryFolder(), temporaryFolder()];
  const cache = cacheIn(folder, process.pid, 0) as Cache;
  writeFileSync(join(out, "index.html"), "old");
  const sha256 = createHash("sha256").update("old").digest("hex");
  const look = lookAt(join(out, "index.html")) ?? noLook;
  const files = [{ path: "index.html", sha256, size: 3, look }];
  const table = outputTable(cache, out, "relcat 1");
  table.keep("entrances", "key", files);
  return { folder, out, cache, files, table };
}

const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());

test("what one program made of the same is nothing to another", () => {
  const { cache, out, files, table } = noted();
  table.save();
  table.end();
  expect(outputTable(cache, out, "relcat 1").recall("entrances", "key")).toMatchObject(files);
  expect(outputTable(cache, out, "relcat 1").recall("entrances", "another")).toBeUndefined();
  expect(outputTable(cache, out, "relcat 2").recall("entrances", "key")).toBeUndefined();
});

test("what a build that failed had noted is gone", () => {
  const { folder, cache, out, table } = noted();
  expect(filesIn(folder)).toHaveLength(1);
  table.end();
  expect(filesIn(folder)).toEqual([]);
  expect(outputTable(cache, out, "relcat 1").recall("entrances", "key")).toBeUndefined();
});

test("whoever takes the cache away before a build ends has it end all the same", () => {
  const { folder, cache, out, table } = noted();
  rmSync(folder, { recursive: true });
  table.save();
  table.end();
  expect(outputTable(cache, out, "relcat 1").recall("entrances", "key")).toBeUndefined();
});

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { buildCatalog, loadCatalog } from "../../pipeline/index.ts";
import { filesIn } from "../../pipeline/project/authored-files.ts";
import { manyReleases } from "../support/large.ts";
import { project } from "../support/project.ts";
import { readSiblings } from "../support/tree.ts";

/** Files that are given, not said to lie in the folder, are read on one thread. */
const onOneThread = (folder: string) => filesIn(folder);

test("two threads build what one builds, to the byte", async () => {
  const made = project(manyReleases());
  await made.succeed("build");
  const folder = join(made.folder, "releases");
  const { site } = await buildCatalog(folder, {}, onOneThread(folder));
  const expected: Record<string, string> = {};
  for (const { files } of [...site.leaves, ...site.indexes])
    for (const { path, chunks } of files) {
      const hash = createHash("sha256");
      for (const chunk of chunks) hash.update(chunk);
      expected[path] = hash.digest("hex");
    }
  const built: { files: Record<string, { sha256: string }> } = JSON.parse(made.read("dist/build.json"));
  const files = Object.entries(built.files);
  expect(Object.fromEntries(files.map(([path, { sha256 }]) => [path, sha256]))).toEqual(expected);
  for (const [path, { sha256 }] of files)
    expect(
      createHash("sha256")
        .update(made.read(`dist/${path}`))
        .digest("hex"),
      path,
    ).toBe(sha256);
  expect(site.releaseCount).toBe(180);
});

test("every file is counted, and nothing of the work is left", async () => {
  const made = project(manyReleases());
  const { document } = await made.json("build");
  const { files } = JSON.parse(made.read("dist/build.json"));
  // build.json itself is written and in no list.
  expect(document.files).toEqual({ written: Object.keys(files).length + 1, unchanged: 0, removed: 0 });
  expect(made.list("dist")).toContain("build.json");
  const again = await made.json("build", "--now", "2026-10-01T00:00:00Z");
  expect(again.document.files).toMatchObject({ removed: 0 });
});

test("what is wrong with releases is told in their order, whoever reads them", async () => {
  const made = project(manyReleases());
  for (const version of ["26.06.001", "26.07.080", "26.07.168", "26.07.170"])
    made.write(`releases/${version}/manifests/all.json`, { release: version, artifacts: [{ name: 3 }] });
  const folder = join(made.folder, "releases");
  const { problems } = await loadCatalog(folder);
  expect(problems).toEqual((await loadCatalog(folder, {}, onOneThread(folder))).problems);
  expect(problems.length).toBeGreaterThan(4);
});

test("a file that cannot be written is an error in the same words, among the first and the last", async () => {
  const made = project(manyReleases());
  await made.succeed("build");
  for (const version of ["26.06.001", "26.07.170"]) {
    const file = `dist/api/v1/release/${version}/index.json`;
    for (const path of [file, ".relcat-cache"]) rmSync(join(made.folder, path), { recursive: true });
    mkdirSync(join(made.folder, file, "in-the-way"), { recursive: true });
    const { exitCode, stdout, stderr } = await made.run("build");
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toMatch(`error[file-access] cannot write ${file}: `);
    rmSync(join(made.folder, file), { recursive: true });
    await made.succeed("build");
  }
});

const decode = { gz: gunzipSync, br: brotliDecompressSync };

test("every sibling is its file compressed, whoever makes it; one that cannot be written is an error in the same words", async () => {
  const made = project(manyReleases());
  await made.succeed("build");
  const dist = join(made.folder, "dist");
  const siblings = [...readSiblings(dist)];
  for (const [path, bytes] of siblings) {
    const [file, encoding] = [path.slice(0, -3), path.slice(-2) as keyof typeof decode];
    expect(decode[encoding](bytes).equals(readFileSync(join(dist, file))), path).toBe(true);
  }
  const paths = siblings.map(([path]) => path).sort();
  const compressed = siblings.reduce((sum, [path]) => sum + statSync(join(dist, path.slice(0, -3))).size, 0);
  expect(compressed, "a thread is worth its start").toBeGreaterThan(2 ** 20);
  for (const path of [paths.at(0), paths.at(-1)] as string[]) {
    for (const [other] of siblings) rmSync(join(dist, other), { recursive: true, force: true });
    mkdirSync(join(dist, path, "in-the-way"), { recursive: true });
    const { exitCode, stdout, stderr } = await made.run("build");
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toMatch(`error[file-access] cannot write dist/${path}: `);
  }
});

/** @module-tag long */
import { appendFileSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import { expect, test } from "vitest";
import { relcat, sampleWithoutFeeds } from "../support/run.ts";
import { jsonOf, readSiblings, readTree } from "../support/tree.ts";

const decode = { gz: gunzipSync, br: brotliDecompressSync, zst: zstdDecompressSync };

const partsOf = (sibling: string) => {
  const at = sibling.lastIndexOf(".");
  return { file: sibling.slice(0, at), encoding: sibling.slice(at + 1) as keyof typeof decode };
};

async function built(folder: string, ...options: string[]) {
  const { exitCode, stdout, stderr } = await relcat(folder, ["build", ...options]);
  expect(exitCode, stderr).toBe(0);
  const dist = join(folder, "dist");
  return { dist, stdout, tree: readTree(dist), siblings: readSiblings(dist) };
}

const edit = (folder: string) => {
  const path = join(folder, "releases/26.07.001/release.yaml");
  writeFileSync(path, readFileSync(path, "utf8").replace("are packaged anew", "are packaged again"));
};

test("large files are also kept as gzip and brotli, with the same time, and are not listed", async () => {
  const folder = sampleWithoutFeeds();
  const { dist, tree, siblings } = await built(folder);
  const large = [...tree]
    .filter(
      ([path, { length }]) => length >= 8192 && path !== "build.json" && !path.startsWith("search/hash/"),
    )
    .map(([path]) => path);
  expect([...siblings.keys()].sort()).toEqual(large.flatMap((path) => [`${path}.br`, `${path}.gz`]).sort());
  for (const [path, bytes] of siblings) {
    const { file, encoding } = partsOf(path);
    expect(decode[encoding](bytes).equals(tree.get(file) ?? bytes), path).toBe(true);
    expect(statSync(join(dist, path)).mtimeMs).toBe(statSync(join(dist, file)).mtimeMs);
  }
  const listed = Object.keys(jsonOf(tree, "build.json").files);
  expect(listed.filter((path) => siblings.has(path))).toEqual([]);
});

test("an unchanged file keeps its siblings, and a changed one gets new ones", async () => {
  const folder = sampleWithoutFeeds();
  const before = await built(folder);
  // The number alone may be given to the next file that is made.
  const identity = (path: string) => {
    const { ino, ctimeNs } = statSync(join(before.dist, path), { bigint: true });
    return `${ino} ${ctimeNs}`;
  };
  const identities = new Map([...before.siblings.keys()].map((path) => [path, identity(path)]));
  edit(folder);
  const after = await built(folder);
  const changed = [...after.tree]
    .filter(([path, bytes]) => !before.tree.get(path)?.equals(bytes))
    .map(([path]) => path);
  expect(changed).toContain("releases/26.07.001/index.html");
  for (const [path, bytes] of after.siblings) {
    const { file, encoding } = partsOf(path);
    expect(decode[encoding](bytes).equals(after.tree.get(file) ?? bytes), path).toBe(true);
    expect(identity(path) === identities.get(path), path).toBe(!changed.includes(file));
  }
});

test("siblings are made and removed with the configuration, and with their files", async () => {
  const folder = sampleWithoutFeeds();
  const config = join(folder, "releases/catalog.yaml");
  await built(folder);
  appendFileSync(config, "precompress: [zst]\n");
  const other = await built(folder);
  expect(other.stdout).toContain(" 0 files written,");
  expect(new Set([...other.siblings.keys()].map((path) => partsOf(path).encoding))).toEqual(new Set(["zst"]));
  writeFileSync(config, readFileSync(config, "utf8").replace("precompress: [zst]", "precompress: []"));
  expect([...(await built(folder)).siblings.keys()]).toEqual([]);
});

test("the siblings of a removed file are removed", async () => {
  const folder = sampleWithoutFeeds();
  const { dist } = await built(folder);
  expect(statSync(join(dist, "page/26.09/index.html.gz")).isFile()).toBe(true);
  rmSync(join(folder, "releases/26.09.001"), { recursive: true });
  const ledger = join(folder, "releases/ledger.jsonl");
  const kept = readFileSync(ledger, "utf8")
    .split("\n")
    .filter((line) => !line.includes('"26.09.001"'));
  writeFileSync(ledger, kept.join("\n"));
  const { siblings } = await built(folder);
  expect([...siblings.keys()].filter((path) => path.includes("26.09"))).toEqual([]);
  expect(statSync(join(dist, "page/26.09"), { throwIfNoEntry: false })).toBe(undefined);
});

test("a sibling with another time is built again", async () => {
  const folder = sampleWithoutFeeds();
  const { dist } = await built(folder);
  const stale = join(dist, "index.html.gz");
  writeFileSync(stale, "not this site's");
  utimesSync(stale, 1, 1);
  const { tree, siblings } = await built(folder, "--check-out");
  expect(gunzipSync(siblings.get("index.html.gz") ?? "").equals(tree.get("index.html") ?? Buffer.of())).toBe(
    true,
  );
});

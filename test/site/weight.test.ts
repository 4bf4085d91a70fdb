import { createHash } from "node:crypto";
import { brotliCompressSync } from "node:zlib";
import { expect, test } from "vitest";
import { artifact, project, release } from "../support/project.ts";
import { readTree } from "../support/tree.ts";

const limit = 30_000;
const hash = (text: string) => createHash("sha256").update(text).digest("hex");

const signed = (name: string, type: string) => ({
  ...artifact(name, type, "a", { size: 48_213_504, min_os_version: "22.04" }),
  sha256: hash(name),
  description: `Client for a system that takes ${type} packages`,
  attestation: {
    key_id: hash("key").slice(0, 40),
    sha256: hash(name),
    signature: { signer: "Release key <releases@example.com>", display: name, fingerprint: hash(name) },
    cryptolib_post: { expected_hash: hash(`${name} itself`).toUpperCase() },
  },
});

test("a page of 25 records has less than 30 kB, with style and script", { tags: ["long"] }, async () => {
  const version = "26.08.001";
  const artifacts = Array.from({ length: 25 }, (_, index) => signed(`client-${index}_${version}.deb`, "deb"));
  const made = project({
    "releases/catalog.yaml": { product: "Example", require: {} },
    ...release(version, artifacts, { summary: "What is new, in a sentence or two." }),
  });
  await made.succeed("build");
  const tree = readTree(`${made.folder}/dist`);
  const cost = (path: string) => brotliCompressSync(tree.get(path) ?? "").length;
  const loaded = [...tree.keys()].filter((path) => /^assets\/.*\.(css|js)$/.test(path));
  expect(loaded).toHaveLength(4);
  const assets = loaded.reduce((sum, path) => sum + cost(path), 0);
  for (const path of ["index.html", "page/26.08/index.html", `releases/${version}/index.html`]) {
    expect(tree.get(path)?.toString().split(".deb</bdi>").length, path).toBeGreaterThan(25);
    expect(cost(path) + assets, path).toBeLessThan(limit);
  }
  expect(cost("api/v1/package/index.html") + assets).toBeLessThan(limit);
});

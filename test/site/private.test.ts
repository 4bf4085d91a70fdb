import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { xz } from "@napi-rs/lzma";
import fc from "fast-check";
import { expect, test } from "vitest";
import { feedPath } from "../../pipeline/documents/feeds/paths.ts";
import { build } from "../../pipeline/index.ts";
import { everyFeed } from "../support/all-feeds.ts";
import { often } from "../support/effort.ts";
import { temporaryFolder } from "../support/run.ts";
import { readSiblings, readTree } from "../support/tree.ts";
import { rpmOf } from "./feeds/rpms.ts";

const hidden = fc.oneof(
  fc.constant({ exclude_from_api: true }),
  fc.constantFrom(7, "acme").map((account) => ({ only_for_account: account })),
  fc.constant({ exclude_from_api: true, only_for_account: "acme" }),
);
const artifact = fc.record({
  token: fc.stringMatching(/^[0-9a-f]{16}$/),
  privacy: fc.option(hidden, { freq: 1 }),
  type: fc.constantFrom("rpm", "deb", "helm", "incus"),
});

const baseUrl = "https://downloads.example.com";

/** The `package` of a manifest, with a name that only feeds and pages repeat. */
function metadataOf(type: string, name: string): object {
  const control = `Package: ${name}\nVersion: 1\nArchitecture: amd64\nDescription: An agent`;
  if (type === "deb") return { type, arch: "amd64", control };
  if (type === "rpm") return rpmOf({ name });
  if (type === "helm") return { type, chart: { apiVersion: "v2", name, version: "1.0.0" } };
  return { type: "image", arch: "amd64", format: "incus", content: "container" };
}

/** Text of a file, decompressed. */
const textOf = (path: string, bytes: Buffer): string =>
  String(path.endsWith(".gz") ? gunzipSync(bytes) : path.endsWith(".xz") ? xz.decompressSync(bytes) : bytes);

test("private records are in no file of a site with every package feed", { tags: ["long"] }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(artifact, { minLength: 1, maxLength: 8 }), async (drawn) => {
      const folder = temporaryFolder();
      mkdirSync(join(folder, "releases/26.01.001/manifests"), { recursive: true });
      const artifacts = drawn.map(({ token, privacy, type }, index) => ({
        name: `n${index}${token}.${type}`,
        file: `f${index}${token}.${type}`,
        package_type: type,
        size: 7,
        package: metadataOf(type, `p${index}${token}`),
        description: `d${index}${token}`,
        sha256: `${token}${"0".repeat(47 - token.length)}${index}`.padEnd(64, token[0]),
        url: `${baseUrl}/u${index}${token}/file`,
        ...privacy,
      }));
      writeFileSync(
        join(folder, "releases/26.01.001/release.yaml"),
        "version: 26.01.001\ndate: 2026-01-15\n",
      );
      writeFileSync(
        join(folder, "releases/26.01.001/manifests/m.json"),
        JSON.stringify({ release: "26.01.001", artifacts }),
      );
      writeFileSync(
        join(folder, "releases/catalog.yaml"),
        JSON.stringify({
          product: "Example",
          base_url: baseUrl,
          require: {},
          feeds: everyFeed,
          hosts: ["nginx"],
        }),
      );
      await build(
        join(folder, "releases"),
        join(folder, "dist"),
        {},
        { clock: 0, pid: process.pid, onWait: () => {} },
      );

      const dist = join(folder, "dist");
      const files = [...readTree(dist), ...readSiblings(dist)].filter(([path]) => !path.endsWith(".br"));
      const text = (some: typeof files) =>
        some.map(([path, bytes]) => `${path}\n${textOf(path, bytes)}`).join("\n");
      const site = text(files);
      const feeds = text(files.filter(([path]) => feedPath(path) !== undefined));
      for (const [index, { privacy, type, token }] of drawn.entries()) {
        const { name, file, description, sha256, url } = artifacts[index] ?? artifacts[0] ?? fail();
        const seen = [name, file, description, sha256, url].map((text) => site.includes(text));
        expect(seen).toEqual(seen.map(() => privacy === null));
        const own = `p${index}${token}`;
        expect(site.includes(own)).toBe(privacy === null && type !== "incus");
        // Lists of images have no name of the image in them.
        if (type !== "incus") expect(feeds.includes(own)).toBe(privacy === null);
      }
    }),
    { numRuns: often(60, 12) },
  );
});

const fail = () => {
  throw new Error("no artifact");
};

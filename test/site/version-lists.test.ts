import { join } from "node:path";
import { expect, test } from "vitest";
import { project } from "../support/project.ts";
import { jsonOf, readTree, textOf } from "../support/tree.ts";

const manifest = (release: string, ...files: string[]) => ({
  release,
  artifacts: files.map((file) => ({ name: file, package_type: "deb", sha256: "a".repeat(64), size: 1 })),
});

/** A project of three cut releases, the first of which is the highest, and an open one. */
async function made() {
  const made = project({
    "releases/catalog.yaml": { product: "Acme", base_url: "https://example.com", require: {} },
  });
  for (const [version, hour] of [
    ["26.08.010", "10"],
    ["26.08.009", "11"],
    ["25.12.001", "12"],
  ] as const) {
    made.write(`releases/${version}/release.yaml`, {
      version,
      date: `20${version.slice(0, 5).replace(".", "-")}-19`,
    });
    made.write(`releases/${version}/manifests/packages.yaml`, manifest(version, `tool_${version}_amd64.deb`));
    await made.succeed("cut", version, "--now", `2026-08-19T${hour}:00:00.123456Z`);
  }
  made.write("releases/26.09.001/release.yaml", { version: "26.09.001", date: "2026-09-01" });
  made.write("releases/26.09.001/manifests/packages.yaml", manifest("26.09.001", "tool_26.09.001_amd64.deb"));
  const build = async () => {
    await made.succeed("build");
    return readTree(join(made.folder, "dist"));
  };
  return { ...made, build };
}

test("lists are oldest first by number, and have no open release", async () => {
  const { build } = await made();
  const tree = await build();
  expect(textOf(tree, "api/v1/versions.txt")).toBe("25.12.001\n26.08.009\n26.08.010\n");
  const { releases, homepage } = jsonOf(tree, "api/v1/versions.json");
  expect(homepage).toBe("https://example.com/");
  expect(releases.map(({ version }: { version: string }) => version)).toEqual([
    "25.12.1",
    "26.8.9",
    "26.8.10",
  ]);
  expect(releases[2]).toEqual({
    version: "26.8.10",
    releaseTimestamp: "2026-08-19T10:00:00Z",
    isStable: true,
    changelogUrl: "https://example.com/releases/26.08.010/",
    tag: "26.08.010",
  });
  expect(jsonOf(tree, "api/v1/release/index.json").releases[0]).not.toHaveProperty("released_at");
});

test("a withdrawn release is deprecated, and its time stays", async () => {
  const { build, succeed, write } = await made();
  await succeed(
    "retract",
    "26.08.009",
    "--reason",
    "Loses its settings",
    "--yes",
    "--now",
    "2026-08-20T00:00:00Z",
  );
  write("releases/26.08.010/manifests/more.yaml", manifest("26.08.010", "more_26.08.010_arm64.deb"));
  await succeed("cut", "26.08.010", "--now", "2026-08-21T00:00:00Z");
  const tree = await build();
  const { releases } = jsonOf(tree, "api/v1/versions.json");
  expect(releases[1]).toMatchObject({
    tag: "26.08.009",
    releaseTimestamp: "2026-08-19T11:00:00Z",
    isDeprecated: true,
  });
  expect(releases[2]).toMatchObject({ tag: "26.08.010", releaseTimestamp: "2026-08-19T10:00:00Z" });
  expect(releases[2]).not.toHaveProperty("isDeprecated");
  expect(textOf(tree, "api/v1/versions.txt")).toBe("25.12.001\n26.08.010\n");
  const exact = { semver: "26.8.10", released_at: "2026-08-19T10:00:00.123456Z" };
  expect(jsonOf(tree, "api/v1/release/26.08.010/index.json")).toMatchObject(exact);
  expect(jsonOf(tree, "api/v1/release/index.json").releases[1]).toMatchObject(exact);
  expect(textOf(tree, "sitemap.xml")).toContain(
    `releases/26.08.010/</loc><lastmod>${exact.released_at}</lastmod>`,
  );
  expect(textOf(tree, "feed.atom")).toContain(`<published>${exact.released_at}</published>`);
});

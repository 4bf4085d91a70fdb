import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { allFeeds, type FeedProject, packagesOf } from "../support/all-feeds.ts";
import { artifact } from "../support/project.ts";
import { lastingFolder, relcat, temporaryFolder } from "../support/run.ts";
import { copyOf } from "./support.ts";

let made: FeedProject;
/** The site with one release. */
let first: string;

beforeAll(async () => {
  made = await allFeeds();
  await made.publish("26.08.001", packagesOf("1.0", "1234"));
  first = join(lastingFolder(), "first");
  cpSync(made.dist, first, { recursive: true });
  const unread = artifact("old-1.rpm", "rpm", "9", { size: 9 });
  const security = { notes: { server: { fix: [{ text: "CVE-2026-1234 is closed.", security: true }] } } };
  await made.publish("26.09.001", [...packagesOf("2.0", "5678"), unread], security);
});

async function verify(place: string) {
  const { exitCode, stdout, stderr } = await relcat(made.folder, [
    ...["verify", place, "--root", "releases/trust/1.root.json", "--trust-dir", temporaryFolder()],
  ]);
  return { exitCode, text: stdout + stderr };
}

test("a site with every feed is verified, and says why a record is in no index", async () => {
  expect(await verify(made.dist)).toMatchObject({ exitCode: 0 });
  const { feeds } = JSON.parse(made.read("dist/api/v1/feeds.json"));
  const reason = "its manifest does not contain the metadata of the package";
  expect(feeds).toEqual(
    ["apt", "yum", "helm", "incus"].map((feed) => ({
      feed,
      left_out: feed === "yum" ? [{ id: 9, file: "old-1.rpm", reason }] : [],
    })),
  );
});

/** Files that clients read, of each feed. */
const read = [
  "dists/stable/InRelease",
  "dists/stable/Release.gpg",
  "dists/stable/main/binary-amd64/Packages",
  "dists/stable/main/binary-amd64/Packages.xz",
  "yum/stable.mirrorlist",
  "yum/stable/repodata/repomd.xml",
  "charts/index.yaml",
  "v2/charts/agent/tags/list",
  "streams/v1/index.json",
  "streams/v1/images.json",
];

describe("every file that clients read is named by verify if", () => {
  test("it was tampered with", async () => {
    const copy = copyOf(made.dist);
    for (const path of read) writeFileSync(join(copy, path), `${readFileSync(join(copy, path))} `);
    const { exitCode, text } = await verify(copy);
    expect(exitCode).toBe(6);
    for (const path of read) expect(text).toContain(`  ${path} is not what was signed`);
  });

  test("it is an older one that was signed, in one feed at a time", { tags: ["long"] }, async () => {
    for (const path of read) {
      const copy = copyOf(made.dist);
      expect(readFileSync(join(copy, path))).not.toEqual(readFileSync(join(first, path)));
      cpSync(join(first, path), join(copy, path));
      const { exitCode, text } = await verify(copy);
      expect([path, exitCode === 0]).toEqual([path, false]);
      expect(text).toContain(`  ${path} is not what was signed`);
    }
  });
});

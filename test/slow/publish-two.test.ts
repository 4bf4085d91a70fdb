import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openSettings, publishSite, RelcatError } from "../../pipeline/index.ts";
import { bucketProject, publicTree } from "../publish/bucket-support.ts";
import { type PublishingProject, publishingProject } from "../publish/support.ts";
import { often } from "../support/effort.ts";
import { temporaryFolder } from "../support/run.ts";
import { type S3Fake, startS3Fake } from "../support/s3-fake.ts";
import { differences, readTree, type Tree } from "../support/tree.ts";

const minutes = 60_000;
const rounds = often(100, 8);

/** Two builds that are not the live one, each signed to follow it. */
async function twoBuilds(project: PublishingProject): Promise<void> {
  await project.succeed("publish", "prod");
  const release = join(project.folder, "releases/26.08.001/release.yaml");
  const text = readFileSync(release, "utf8");
  for (const name of ["one", "two"]) {
    writeFileSync(release, text.replace("**in bulk**.", `**in bulk**, and ${name}.`));
    await project.succeed("build", "--released", "--out", name);
    await project.succeed("sign", "--site", "prod", "--out", name);
  }
}

/** Runs both in this process, interleaved at every request. @returns the winner, and the other's message */
async function race(project: PublishingProject): Promise<{ winners: string[]; refusals: unknown[] }> {
  const names = ["one", "two"];
  const cwd = process.cwd();
  process.chdir(project.folder);
  // The SDK reads credentials from the environment of the process.
  Object.assign(process.env, project.secrets);
  try {
    const options = { environment: process.env, now: Date.now };
    const opened = await openSettings("releases");
    const results = await Promise.allSettled(
      names.map((name) => publishSite(opened, name, "prod", options, { pid: process.pid, onWait: () => {} })),
    );
    return {
      winners: names.filter((_, index) => results[index]?.status === "fulfilled"),
      refusals: results.flatMap((result) => (result.status === "rejected" ? [result.reason] : [])),
    };
  } finally {
    process.chdir(cwd);
  }
}

const isRefusal = (error: unknown) => error instanceof RelcatError && error.exitStatus === 3;

/** Public files of a build folder. */
function publicPart(folder: string): Tree {
  const tree = readTree(folder);
  tree.delete("metadata/signed.json");
  return tree;
}

const missing = (live: Tree, build: Tree) =>
  [...build].filter(([path, bytes]) => !live.get(path)?.equals(bytes)).map(([path]) => path);

test(
  "one of two publishers to a folder succeeds, and the other changes nothing",
  async () => {
    const project = await publishingProject();
    await twoBuilds(project);
    const start = join(temporaryFolder(), "www");
    const copy = { recursive: true, preserveTimestamps: true, verbatimSymlinks: true } as const;
    cpSync(project.www, start, copy);
    const wins = new Map<string, number>();
    for (let round = 0; round < rounds; round++) {
      rmSync(project.www, { recursive: true });
      cpSync(start, project.www, copy);
      const { winners, refusals } = await race(project);
      expect(winners, String(refusals)).toHaveLength(1);
      expect(refusals.every(isRefusal), String(refusals)).toBe(true);
      const [winner = ""] = winners;
      wins.set(winner, (wins.get(winner) ?? 0) + 1);
      const live = readTree(join(project.www, "current"));
      expect(missing(live, publicPart(join(project.folder, winner)))).toEqual([]);
    }
    expect([...wins.values()].reduce((sum, count) => sum + count)).toBe(rounds);
  },
  15 * minutes,
);

let fake: S3Fake;
beforeAll(async () => {
  fake = await startS3Fake();
});
afterAll(() => fake.stop());

test(
  "one of two publishers to a bucket succeeds, and the other changes nothing",
  async () => {
    const project = await bucketProject(fake);
    await twoBuilds(project);
    const start = new Map(fake.bucket.objects);
    for (let round = 0; round < rounds; round++) {
      fake.bucket.objects.clear();
      for (const [key, object] of start) fake.bucket.objects.set(key, object);
      const { winners, refusals } = await race(project);
      expect(winners, String(refusals)).toHaveLength(1);
      expect(refusals.every(isRefusal), String(refusals)).toBe(true);
      const live = publicTree(fake);
      expect(missing(live, publicPart(join(project.folder, winners[0] ?? "")))).toEqual([]);
      const loser = winners[0] === "one" ? "two" : "one";
      const left = missing(live, publicPart(join(project.folder, loser)));
      expect(left).toContain("releases/26.08.001/index.html");
      expect(differences(live, publicTree(fake))).toEqual([]);
    }
  },
  15 * minutes,
);

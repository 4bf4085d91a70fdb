import { cpSync, existsSync, readlinkSync, rmSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bucketProject, prefix, publicTree, serveBucket } from "../publish/bucket-support.ts";
import { type PublishingProject, page, publishingProject, publishText } from "../publish/support.ts";
import { often } from "../support/effort.ts";
import { countCalls, killedAt } from "../support/interrupt.ts";
import { program, temporaryFolder } from "../support/run.ts";
import { type S3Fake, startS3Fake } from "../support/s3-fake.ts";
import { brokenLinks, differences, readTree, type Tree } from "../support/tree.ts";

const minutes = 60_000;
const root = "releases/trust/1.root.json";

/** A withdrawal, which adds, changes and removes files. */
async function change(project: PublishingProject): Promise<void> {
  await project.succeed("publish", "prod");
  await project.succeed("retract", "7", "--reason", "Does not start.", "--yes");
  await project.succeed("build", "--released");
  // The present time, so that verify accepts a site between two builds as being published.
  await project.succeed("sign", "--site", "prod");
}

/** Some of many positions and all of the last ones; under .ci/nightly all of them. */
const places = (count: number, every: number, last: number): number[] =>
  Array.from({ length: count }, (_, index) => index + 1).filter(
    (place) => place % often(1, every) === 0 || place > count - last,
  );

test(
  "a publish to a folder that is killed before any write leaves the old site or the new one, and the next one finishes",
  async () => {
    const project = await publishingProject();
    await change(project);
    const live = join(project.www, "current");
    const before = readTree(live);
    const start = join(temporaryFolder(), "www");
    cpSync(project.www, start, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
    await project.succeed("publish", "prod");
    const after = readTree(live);
    const again = () => {
      rmSync(project.www, { recursive: true });
      cpSync(start, project.www, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
    };
    again();
    const calls = await countCalls(project.folder, ["publish", "prod"]);
    expect(calls).toBeGreaterThan(100);
    let sawOld = 0;
    for (const call of places(calls, 70, 8)) {
      again();
      await killedAt(call, project.folder, ["publish", "prod"]);
      const tree = readTree(live);
      const isOld = differences(tree, before).length === 0;
      if (isOld) sawOld++;
      else expect(differences(tree, after), `killed at ${call}`).toEqual([]);
      if (call % 6 === 0) await project.succeed("verify", live, "--root", root, "--trust-dir", `s${call}`);
      await project.succeed("publish", "prod");
      expect(differences(readTree(live), after), `after ${call}`).toEqual([]);
    }
    expect(sawOld).toBeGreaterThan(often(5, 2));
    expect(sawOld).toBeLessThan(places(calls, 70, 8).length);
    expect(existsSync(join(project.www, readlinkSync(live)))).toBe(true);
  },
  20 * minutes,
);

test("a rollback that was killed is finished by the next one", async () => {
  const project = await publishingProject();
  await publishText(project, "First.");
  await publishText(project, "Bad.");
  Object.assign(process.env, project.secrets);
  const rollback = ["rollback", "prod", "--reason", "odd page", "--yes"];
  for (let call = 400; project.state().state === "done"; call += 25)
    await killedAt(call, project.folder, rollback);
  expect(project.state()).toMatchObject({ state: "publishing", action: "rollback" });
  expect(page(project)).toContain("Bad.");
  await project.succeed(...rollback);
  expect(page(project)).toContain("First.");
  await project.succeed("verify", join(project.www, "current"), "--root", root, "--trust-dir", "state");
});

describe("a publish to a bucket", () => {
  let fake: S3Fake;
  let project: PublishingProject;
  let url: string;
  let before: Tree;
  let after: Tree;
  let start: Map<string, ReturnType<S3Fake["bucket"]["objects"]["get"]>>;
  let requests: number;

  beforeAll(async () => {
    fake = await startS3Fake();
    project = await bucketProject(fake);
    url = await serveBucket(fake);
    await change(project);
    before = publicTree(fake);
    start = new Map(fake.bucket.objects);
    fake.log.length = 0;
    await project.succeed("publish", "prod");
    requests = fake.log.length;
    after = publicTree(fake);
  }, minutes);
  afterAll(() => fake.stop());

  const again = () => {
    fake.bucket.objects.clear();
    for (const [key, object] of start) if (object) fake.bucket.objects.set(key, object);
  };

  /** Runs a publish that dies when its request number `at` arrives, or has taken effect. */
  async function killed(at: number, when: "before" | "after"): Promise<void> {
    let seen = 0;
    const child = execa(process.execPath, [program, "publish", "prod"], {
      cwd: project.folder,
      reject: false,
      env: project.secrets,
    });
    fake[when] = () => {
      if (++seen === at) child.kill("SIGKILL");
    };
    const { signal } = await child;
    fake[when] = () => {};
    expect(signal, `request ${at}`).toBe("SIGKILL");
  }

  test.each(["before", "after"] as const)(
    "leaves each object old or new and every link valid if it is killed %s any request, and the next one finishes",
    async (when) => {
      expect(requests).toBeGreaterThan(30);
      let sawOld = 0;
      for (const at of places(requests, 11, 3)) {
        again();
        await killed(at, when);
        const tree = publicTree(fake);
        const odd = [...tree].filter(
          ([path, bytes]) => !before.get(path)?.equals(bytes) && !after.get(path)?.equals(bytes),
        );
        expect(
          odd.map(([path]) => path),
          `request ${at}`,
        ).toEqual([]);
        expect(brokenLinks(tree, project.baseUrl), `request ${at}`).toEqual([]);
        if (differences(tree, before).length === 0) sawOld++;
        if (at % 6 === 0) {
          const { exitCode, stderr } = await project.run(
            ...["verify", url, "--root", root, "--trust-dir", `${when}${at}`],
          );
          expect(exitCode, stderr).toBe(0);
        }
        await project.succeed("publish", "prod");
        const own = (path: string) => after.has(path) || !/^(metadata|targets)\//.test(path);
        expect(differences(publicTree(fake), after).filter(own), `after request ${at}`).toEqual([]);
        expect([...fake.bucket.objects.keys()].filter((key) => key === `${prefix}current.json`)).toHaveLength(
          1,
        );
      }
      expect(sawOld).toBeGreaterThan(0);
    },
    20 * minutes,
  );
});

/** @module-tag long */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { publishSteps } from "../../pipeline/documents/publish-turn.ts";
import { isNightly } from "../support/effort.ts";
import { type S3Fake, startS3Fake } from "../support/s3-fake.ts";
import { differences, readTree } from "../support/tree.ts";
import {
  ageObjects,
  bucketProject,
  prefix,
  publicTree,
  serveBucket,
  uploadArtifacts,
} from "./bucket-support.ts";
import {
  type Action,
  act,
  actions,
  type Clock,
  forgetSignatures,
  inProject,
  leaseEnd,
  liveProject,
  overtaken,
  signAndPublish,
} from "./paused.ts";
import type { PublishingProject } from "./support.ts";

type Objects = S3Fake["bucket"]["objects"];

let fake: S3Fake;
let project: PublishingProject;
let url: string;
let earlier: string;
let start: Objects;

beforeAll(async () => {
  fake = await startS3Fake();
  project = await bucketProject(fake, "keep: {builds: 3, days: 0}");
  url = await serveBucket(fake);
  earlier = await liveProject(
    project,
    () => uploadArtifacts(project, fake),
    () => ageObjects(fake),
  );
  start = new Map(fake.bucket.objects);
});
afterAll(() => fake.stop());

function putBack(objects: Objects): void {
  fake.bucket.objects.clear();
  for (const [key, object] of objects) fake.bucket.objects.set(key, object);
}

/** Files of a build that differ for readers. */
function odd(out: string): string[] {
  const built = readTree(join(project.folder, out));
  built.delete("metadata/signed.json");
  const live = publicTree(fake);
  return differences(built, new Map([...live].filter(([path]) => built.has(path))));
}

const state = () => JSON.parse(fake.bucket.objects.get(`${prefix}current.json`)?.bytes.toString() ?? "");

/** Every publish in the history can be restored. */
function expectBooks(): void {
  const { state: phase, history } = state();
  expect(phase).toBe("done");
  const names = [...history].flatMap(({ files, bundles }: { files: string; bundles: string[] }) => [
    `${prefix}state/${files}.json.gz`,
    ...bundles.map((bundle) => `${prefix}state/${bundle}.bundle.gz`),
  ]);
  expect(names.filter((name) => !fake.bucket.objects.has(name))).toEqual([]);
}

/** A request that was sent under an earlier state, and arrives later. */
const unfenced = new Set(["put-document", "put-timestamp", "remove", "prune-remove"]);

/** Repairs a broken site in each way. @returns the files that still differ */
async function mended(clock: Clock): Promise<Record<string, string[]>> {
  const broken = new Map(fake.bucket.objects);
  const ways = {
    publish: () => signAndPublish("two", clock),
    refresh: () => act("refresh", earlier, clock),
    repair: () => signAndPublish("two", clock, undefined, true),
  };
  const left: Record<string, string[]> = {};
  for (const [way, mend] of Object.entries(ways)) {
    putBack(broken);
    await mend();
    left[way] = odd("two").filter((path) => !path.startsWith("metadata/"));
  }
  return left;
}

const notReached: Record<Action, readonly string[]> = {
  publish: ["sign"],
  rollback: [],
  // Only the timestamp is old enough to be renewed, and no build leaves the history.
  refresh: ["put-immutable", "put-document", "remove", "prune-remove"],
};
const cases = actions.flatMap((action) =>
  publishSteps.s3.filter((step) => !notReached[action].includes(step)).map((step) => [action, step] as const),
);

/** By day, each step is tried in one action, by turns. The rollback that removes a file has an assertion of its own. */
const tried = publishSteps.s3.flatMap((step, index) => {
  const all = cases.filter(([, other]) => other === step);
  const turn = step === "remove" ? all.findIndex(([action]) => action === "rollback") : index % all.length;
  return all.filter((_, each) => isNightly || each === turn);
});

test.each(tried)(
  "a %s that is overtaken before the step %s ends with status 3, and its damage is repaired",
  async (action, step) => {
    putBack(start);
    forgetSignatures(project);
    const clock = { ahead: 0 };
    await inProject(project, async () => {
      const late = await overtaken(
        step,
        (onStep) => act(action, earlier, clock, onStep),
        async () => {
          clock.ahead = leaseEnd;
          ageObjects(fake);
          await signAndPublish("two", clock);
        },
      );
      const code = action === "publish" && step === "look" ? "site-newer" : "site-taken";
      expect(late).toMatchObject({ code, exitStatus: 3 });
      expectBooks();
      const broken = odd("two");
      if (!unfenced.has(step)) expect(broken).toEqual([]);
      if (action === "rollback" && step === "remove") expect(broken).not.toEqual([]);
      if (broken.length > 0) {
        const { exitCode, stderr } = await project.run(
          ...["verify", url, "--root", "releases/trust/1.root.json", "--trust-dir", `${action}-${step}`],
        );
        expect(exitCode, stderr).toBe(6);
        expect(stderr).toContain(broken[0]);
        expect(await mended(clock)).toEqual({ publish: [], refresh: [], repair: [] });
      }
      ageObjects(fake);
      await act(action, earlier, clock);
      expectBooks();
      const out = { publish: "one", refresh: "two", rollback: undefined }[action];
      if (out) expect(odd(out)).toEqual([]);
      else expect(state().history[0]).toMatchObject({ build: earlier, action });
    });
  },
);

/** @module-tag long */
import { cpSync, existsSync, readdirSync, readlinkSync, rmSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { publishSteps } from "../../pipeline/documents/publish-turn.ts";
import { some } from "../support/effort.ts";
import { copying } from "../support/project.ts";
import { temporaryFolder } from "../support/run.ts";
import { differences, readTree } from "../support/tree.ts";
import {
  type Action,
  act,
  actions,
  forgetSignatures,
  inProject,
  leaseEnd,
  liveProject,
  overtaken,
  signAndPublish,
} from "./paused.ts";
import { type PublishingProject, publishingProject } from "./support.ts";

let project: PublishingProject;
let earlier: string;
let start: string;

beforeAll(async () => {
  project = await publishingProject({
    sites: (folder) => `  prod: {url: "dir:${folder}/www", keep: {builds: 3}}\n`,
  });
  earlier = await liveProject(project);
  start = join(temporaryFolder(), "www");
  cpSync(project.www, start, copying);
});

/** Makes the published builds an hour old, because younger ones are not removed. */
function age(): void {
  const hourAgo = Date.now() / 1000 - 3600;
  for (const name of readdirSync(join(project.www, "builds")))
    utimesSync(join(project.www, "builds", name), hourAgo, hourAgo);
}

/** Files of a build that differ for readers. */
function odd(out: string): string[] {
  const built = readTree(join(project.folder, out));
  built.delete("metadata/signed.json");
  const live = readTree(join(project.www, "current"));
  return differences(built, new Map([...live].filter(([path]) => built.has(path))));
}

function expectWhole(): void {
  const { state, history } = project.state();
  expect(state).toBe("done");
  expect(readlinkSync(join(project.www, "current"))).toBe(`builds/${history[0]?.files}`);
  for (const { files } of history) expect(existsSync(join(project.www, "builds", files)), files).toBe(true);
}

const notReached: Record<Action, readonly string[]> = { publish: ["sign"], rollback: [], refresh: [] };
const cases = actions.flatMap((action) =>
  publishSteps.dir
    .filter((step) => !notReached[action].includes(step))
    .map((step) => [action, step] as const),
);

test.each(some(cases, 9))(
  "a %s that is overtaken before the step %s leaves the site complete and ends with status 3",
  async (action, step) => {
    rmSync(project.www, { recursive: true });
    cpSync(start, project.www, copying);
    age();
    forgetSignatures(project);
    await inProject(project, async () => {
      const late = await overtaken(
        step,
        (onStep) => act(action, earlier, undefined, onStep),
        async () => {
          age();
          await signAndPublish("two", { ahead: leaseEnd });
        },
      );
      const code = action === "publish" && step === "look" ? "site-newer" : "site-taken";
      expect(late).toMatchObject({ code, exitStatus: 3 });
      expectWhole();
      expect(odd("two")).toEqual([]);
      age();
      await act(action, earlier, { ahead: leaseEnd });
      expectWhole();
      const out = { publish: "one", refresh: "two", rollback: undefined }[action];
      if (out) expect(odd(out)).toEqual([]);
      else expect(project.state().history[0]).toMatchObject({ build: earlier, action });
    });
  },
);

import { join } from "node:path";
import { beforeAll, beforeEach, test } from "vitest";
import { tryExample } from "./paste.ts";
import { projectExamples } from "./projects.ts";
import { type ReleasesWorld, releasesWorld } from "./releases-world.ts";
import { siteExamples } from "./sites.ts";

let made: ReleasesWorld;
beforeAll(async () => {
  made = await releasesWorld();
});
beforeEach(() => made.restore());

test.each(Object.entries({ ...projectExamples, ...siteExamples }))(
  "the example in the help of relcat %s works when it is pasted",
  async (command, example) => {
    const clone = join(made.folder, "releases");
    if (example.before) await made.succeed(example.before, { cwd: clone });
    const place = { cwd: join(clone, example.in ?? "."), env: made.env };
    await tryExample(command.split(" ").filter(Boolean), example, place);
  },
);

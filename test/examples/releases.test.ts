import { join } from "node:path";
import { beforeAll, beforeEach, test } from "vitest";
import type { Example } from "./example.ts";
import { tryExample } from "./paste.ts";
import { projectExamples } from "./projects.ts";
import { type ReleasesWorld, releasesWorld } from "./releases-world.ts";
import { siteExamples } from "./sites.ts";

let made: ReleasesWorld;
beforeAll(async () => {
  made = await releasesWorld();
});
beforeEach(() => made.restore());

const examples = Object.entries({ ...projectExamples, ...siteExamples });
/** They pack relcat and ask npm for a lock file, which takes seconds. */
const packs = ([command]: (typeof examples)[number]) => ["", "init"].includes(command);
const works = "the example in the help of relcat %s works when it is pasted";

test.each(examples.filter((example) => !packs(example)))(works, tryInClone);
test.each(examples.filter(packs))(works, { tags: ["long"] }, tryInClone);

async function tryInClone(command: string, example: Example): Promise<void> {
  const clone = join(made.folder, "releases");
  if (example.before) await made.succeed(example.before, { cwd: clone });
  const place = { cwd: join(clone, example.in ?? "."), env: made.env };
  await tryExample(command.split(" ").filter(Boolean), example, place);
}

import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { ExecaError } from "execa";
import { artifactsPerRelease } from "./artifacts.ts";
import { addRelease, type Project, withdrawAdded } from "./catalog.ts";
import { requireSameOutputs, requireSameSite } from "./compare.ts";
import { type Contender, type Field, ours } from "./contenders.ts";
import { type Entry, type Group, repeated } from "./rounds.ts";
import { type Command, measuredRuns, mostTimes, timesFor } from "./runs.ts";

export const cold = "relcat, its whole site";
export const added = "one release added";
export const unchanged = "nothing changed";
export const nothing = "node -e 0";

export const sizeTitle = (releases: number): string =>
  `${releases.toLocaleString("en")} × ${artifactsPerRelease}`;

/**
 * Everybody's builds of one catalog. The first round compares what they made: nobody wins by leaving something out.
 * @param relcat the path of the installed relcat.mjs
 */
export async function buildsOf(
  project: Project,
  { contenders }: Field,
  relcat: string,
  work: string,
): Promise<Group> {
  const reference = await makeReference(project, contenders, work);
  const entries: Entry[] = [];
  for (const { name, isCompared, command } of contenders) {
    const outs = join(work, "outs");
    const compare = isCompared ? () => requireSameOutputs(reference, join(outs, "1")) : undefined;
    const asked = await command(project.folder, project.releases * artifactsPerRelease);
    entries.push(repeated(name, asked, outs, compare));
  }
  entries.push(wholeSite(project, relcat, work, reference));
  return { title: sizeTitle(project.releases), entries };
}

/** The outputs as relcat makes them, which the others' are compared with. */
async function makeReference(
  { folder, releases }: Project,
  contenders: readonly Contender[],
  work: string,
): Promise<string> {
  const command = await contenders.find(({ name }) => name === ours)?.command(folder, 0);
  if (!command) throw new Error(`${ours} is no contender`);
  const outs = join(work, "outs");
  await measuredRuns(command, 1, outs);
  const reference = join(work, `reference-${releases}`);
  rmSync(reference, { recursive: true, force: true });
  renameSync(join(outs, "1"), reference);
  return reference;
}

/**
 * Builds as the installed package makes them: of everything, after one release was added, and of what is built already.
 * @param reference outputs that the first round compares the site with
 */
export function wholeSite(project: Project, relcat: string, work: string, reference?: string): Entry {
  const outs = join(work, "outs");
  const command = siteCommand(project, relcat);
  const idle: Command = { ...command, argv: [process.execPath, "-e", "0"] };
  const build = () => measuredRuns(command, 1, outs);
  let times = 1;
  return {
    async run(round) {
      withdrawAdded(project);
      const ofAll = await build();
      if (round === 0 && reference) requireSameSite(reference, join(project.folder, "dist"));
      addRelease(project);
      const ofOne = await build();
      // What changed within the last two seconds is never taken for unchanged by its times.
      await wait(2500);
      const settled = await build();
      if (round === 0) times = timesFor(settled);
      return {
        [cold]: ofAll,
        [added]: ofOne,
        [unchanged]: await measuredRuns(command, times, outs),
        [nothing]: await measuredRuns(idle, mostTimes, outs),
      };
    },
  };
}

/** One cold build, for a size at which the others would take hours. Where it fails, the rest of the run still counts. */
export function coldBuild(project: Project, { leftOut }: Field, relcat: string, work: string): Group {
  const title = sizeTitle(project.releases);
  const run: Entry["run"] = async (round) => {
    if (round !== 1) return {};
    withdrawAdded(project);
    try {
      return { [cold]: await measuredRuns(siteCommand(project, relcat), 1, join(work, "outs")) };
    } catch (error) {
      leftOut.push(`${title}: the build failed, ${error instanceof ExecaError ? error.shortMessage : error}`);
      return {};
    }
  };
  return { title, entries: [{ run }] };
}

const siteCommand = ({ folder }: Project, relcat: string): Command => ({
  argv: [process.execPath, relcat, "build", "--released"],
  cwd: folder,
  env: { NODE_COMPILE_CACHE: undefined },
});

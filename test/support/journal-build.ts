import { join } from "node:path";
import { build } from "../../pipeline/index.ts";
import { type BuildCall, beforeBuild } from "../../pipeline/journal/unchanged-build.ts";
import { repository } from "./run.ts";

/** The call of `relcat build` in a project. */
export const buildCallOf = (project: string, changed: Partial<BuildCall> = {}): BuildCall => ({
  words: ["build"],
  program: "tested",
  own: repository,
  folder: join(project, "releases"),
  out: join(project, "dist"),
  cache: join(project, ".relcat-cache"),
  pid: process.pid,
  clock: 0,
  ...changed,
});

/** Builds as the command line does, with the journal. @param report or a function that is called before the journal is written */
export async function buildWithJournal(call: BuildCall, report: unknown = "nothing to do"): Promise<void> {
  const remembering = beforeBuild(call);
  const { clock, pid, onCacheFailure } = call;
  await build(
    call.folder,
    call.out,
    {},
    {
      clock,
      pid,
      onWait: () => {},
      onCacheFailure,
      remembering,
      report: async () => (typeof report === "function" ? report() : report),
    },
  );
}

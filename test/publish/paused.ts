import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lease, type PublishStep } from "../../pipeline/documents/publish-turn.ts";
import {
  metadataAtSite,
  openSettings,
  publishSite,
  refreshSite,
  rollbackSite,
} from "../../pipeline/index.ts";
import { signProved } from "../../pipeline/trust/sign-site.ts";
import { sha256 } from "./forged-site.ts";
import { addRelease, type PublishingProject } from "./support.ts";

export type Action = "publish" | "rollback" | "refresh";
export const actions: readonly Action[] = ["publish", "rollback", "refresh"];

/** A copy of the releases folder, made before a release was withdrawn. */
const beforeWithdrawal = "before-withdrawal";

const context = { pid: process.pid, onWait: () => {} };

/** How far the clock of a publisher is ahead, in milliseconds. */
export interface Clock {
  ahead: number;
}

const options = (clock: Clock = { ahead: 0 }) => ({
  environment: process.env,
  now: () => Date.now() + clock.ahead,
});

/**
 * Publishes three builds to a site that keeps three, and makes two more, `one` and `two`, which differ in a page.
 * Each publish adds, changes and removes documents, and so does a rollback to the second build.
 * @param upload uploads the artifacts of `dist`
 * @param age makes the published builds old
 * @returns the id of the second build
 */
export async function liveProject(
  project: PublishingProject,
  upload = () => {},
  age = () => {},
): Promise<string> {
  const publish = async () => {
    await project.make();
    upload();
    age();
    return (await project.json("publish", "prod")).build;
  };
  await publish();
  const release = join(project.folder, "releases/26.08.001/release.yaml");
  const text = readFileSync(release, "utf8");
  const write = (more: string) => writeFileSync(release, text.replace("**in bulk**.", `**in bulk**${more}.`));
  write(" again");
  const second = await publish();
  await addRelease(project, "26.09.001");
  await publish();
  cpSync(join(project.folder, "releases"), join(project.folder, beforeWithdrawal), { recursive: true });
  await project.succeed("retract", "26.09.001", "--reason", "Does not start.", "--yes");
  for (const name of ["one", "two"]) {
    write(`, and ${name}`);
    await project.succeed("build", "--released", "--out", name);
  }
  return second;
}

/** The builds are as on a new machine: signed for no earlier state of the site. */
export function forgetSignatures(project: PublishingProject): void {
  for (const name of ["one", "two"])
    for (const part of ["metadata", "targets"])
      rmSync(join(project.folder, name, part), { recursive: true, force: true });
}

/** Runs `work` in the project's folder and environment, because the SDK reads credentials of the process. */
export async function inProject<T>(project: PublishingProject, work: () => Promise<T>): Promise<T> {
  const cwd = process.cwd();
  process.chdir(project.folder);
  Object.assign(process.env, project.secrets);
  try {
    return await work();
  } finally {
    process.chdir(cwd);
  }
}

/** Signs a build as the successor of the live one, and publishes it, even during a hold. */
export async function signAndPublish(
  out: string,
  clock?: Clock,
  onStep?: (step: PublishStep) => unknown,
  repair = false,
) {
  const { environment, now } = options(clock);
  const project = await openSettings("releases");
  const live = await metadataAtSite(project, "prod", { environment, pid: process.pid });
  // There is one checkout here, but each build came from its own.
  const proved = sha256(readFileSync(join(out, "build.json")));
  await signProved(project, out, proved, { live, environment, now: now() }, context);
  const request = {
    ...options(clock),
    releaseHold: true,
    repair,
    ...(onStep && { onStep: stopping(onStep) }),
  };
  return publishSite(project, out, "prod", request, context);
}

const stopping = (onStep: (step: PublishStep) => unknown) => async (step: PublishStep) => {
  await onStep(step);
};

/** One publisher, which publishes `one`, restores an earlier build, or renews the signatures. */
export async function act(
  action: Action,
  to: string,
  clock?: Clock,
  onStep?: (step: PublishStep) => unknown,
) {
  const request = { ...options(clock), ...(onStep && { onStep: stopping(onStep) }) };
  if (action === "publish") return signAndPublish("one", clock, onStep);
  // The daily job of a checkout before the withdrawal. After it, nothing would be signed.
  if (action === "refresh")
    return refreshSite(await openSettings(beforeWithdrawal), "prod", request, context);
  return rollbackSite(
    await openSettings("releases"),
    "prod",
    { ...request, to, reason: "odd page" },
    context,
  );
}

/** Stops a publisher, with all its parallel work, before a step until it is released. */
function stopAt(target: PublishStep) {
  const reached = Promise.withResolvers<void>();
  const resumed = Promise.withResolvers<void>();
  let isStopped = false;
  return {
    reached: reached.promise,
    resume: () => resumed.resolve(),
    onStep: async (step: PublishStep) => {
      if (step === target) {
        isStopped = true;
        reached.resolve();
      }
      if (isStopped) await resumed.promise;
    },
  };
}

/**
 * Stops a publisher before a step; meanwhile its lease ends, and another one publishes `two`.
 * @param clock of both
 * @returns the result of the late publisher
 */
export async function overtaken(
  step: PublishStep,
  work: (onStep: (step: PublishStep) => Promise<void>) => Promise<unknown>,
  takeOver: () => Promise<unknown>,
): Promise<unknown> {
  const { reached, resume, onStep } = stopAt(step);
  const late = work(onStep).then(
    () => "done",
    (error: unknown) => error,
  );
  await Promise.race([
    reached,
    late.then((end) => Promise.reject(new Error(`never at ${step}`, { cause: end }))),
  ]);
  try {
    await takeOver();
  } finally {
    resume();
  }
  return late;
}

export const leaseEnd = lease + 60_000;

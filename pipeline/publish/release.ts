import { failure } from "../../shared/errors.ts";
import { findLedgerBase } from "../ledger/ledger-base.ts";
import { type ProjectSettings, siteNamed } from "../project/settings.ts";
import { isInRepository } from "../system/git/git.ts";
import { branchOf, pushHead } from "../system/git/git-head.ts";
import { isAncestor } from "../system/git/git-merge.ts";
import { openPublishing, type SiteAccess } from "./open-publishing.ts";

/** How a site's settings decide the steps of a release. */
export interface ReleaseSteps {
  baseUrl: string;
  settles: boolean;
  /** The base branch of the ledger. */
  base: string;
  isCommitted: boolean;
  /** Reason why nothing is signed; undefined: the site is signed. */
  unsigned: string | undefined;
}

/** @throws RelcatError site-unknown */
export async function releaseSteps(
  project: ProjectSettings,
  name: string,
  access: SiteAccess,
): Promise<ReleaseSteps> {
  const { folder, config } = project;
  const site = siteNamed(config, name);
  const isCommitted = isInRepository(folder);
  const { baseUrl, settles } = site;
  const steps = { baseUrl, settles, base: config.ledgerBase, isCommitted, unsigned: undefined };
  if (config.trust.profile === "none") return { ...steps, unsigned: "catalog.yaml has trust: none" };
  if (settles) return steps;
  // A site whose readers check signatures must stay signed.
  const stored = await (await openPublishing(project, name, access)).store.readState();
  return { ...steps, unsigned: stored?.state.signed ? undefined : `${name} has settles: false` };
}

/** True if new ledger lines must reach a base branch before a site that settles shows them. */
export const needsPush = async ({ folder, config }: ProjectSettings): Promise<boolean> =>
  (await findLedgerBase(folder, config.ledgerBase))?.found.base !== undefined;

/** The commands that bring the commits of this checkout to the base branch, in order. */
export async function commandsToPush(project: ProjectSettings): Promise<string[]> {
  const { base, remote, branch, here } = await branchesOf(project);
  const merge = (await isAncestor(project.folder, base, "HEAD")) ? [] : [`git merge ${base}`];
  if (remote === undefined || here === undefined) return [...merge, `merge the commit into ${base}`];
  const push = [...merge, `git push ${remote} ${here}`];
  return here === branch
    ? push
    : [...push, `merge ${here} into ${branch}`, `git switch ${branch} && git pull`];
}

/**
 * Pushes this checkout to the branch of `ledger.base`. @throws RelcatError usage, ledger-unpushed
 * @param isTrial asks the remote whether it would accept a push, before anything is cut
 */
export async function pushBranch(project: ProjectSettings, isTrial: boolean): Promise<void> {
  const { base, remote, branch, here } = await branchesOf(project);
  if (remote === undefined || branch === undefined || branch !== here)
    throw failure(
      "usage",
      `--push works on the branch of ${base}, and ${here ?? "no branch"} is checked out here`,
      "Switch to that branch, or leave --push out.",
    );
  const refusal = await pushHead(project.folder, remote, branch, isTrial);
  if (refusal === undefined) return;
  throw failure(
    "ledger-unpushed",
    `git push ${remote} ${branch} was refused: ${refusal}`,
    `${isTrial ? "Nothing was cut or published." : "The cut is committed here, and nothing was published."} If a merge conflicts in the ledger: relcat ledger rebase && git add ${project.folder}/ledger.jsonl && git commit`,
  );
}

/** The branch of `ledger.base`, and the one that is checked out. */
async function branchesOf({ folder, config: { ledgerBase: base } }: ProjectSettings) {
  const [, remote, branch] = /^([^/]+)\/(.+)$/.exec(base) ?? [];
  return { base, remote, branch, here: await branchOf(folder) };
}

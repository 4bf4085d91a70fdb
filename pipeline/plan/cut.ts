import type { Plan } from "../documents/plan.ts";
import type { Catalog } from "../ledger/catalog.ts";
import { type Cut, type CutOptions, refuseCut } from "../ledger/cut.ts";
import { deliverLedger, type LedgerSurroundings, readLedgerNow } from "../ledger/ledger-file.ts";
import { exists, requireFolder } from "../system/files.ts";
import { commit, movedAway, requireRepository, uncommitted } from "../system/git/git.ts";
import { withLock } from "../system/lock.ts";
import { type Decided, type PlanRequest, planCatalog } from "./plan.ts";
import { throwRefused } from "./refused.ts";
import { refuseOtherLedger, refuseStale } from "./stale.ts";

/** How to cut; with a plan, its versions and its date count. */
export interface CutRequest extends CutOptions {
  commit?: boolean;
  /** Folder with the artifacts, to look at them again; default: what was found when they were ingested counts. */
  artifacts?: string | undefined;
  /** Made earlier: exactly its lines are written, or none. */
  plan?: Plan | undefined;
  /** Compare with the settled revision too, for a plan that people read; default: with the ledger alone. */
  compare?: boolean;
  /** Called with what is about to be written; what it throws leaves the ledger as it is. */
  confirm?: ((due: Cut, catalog: Catalog) => Promise<void>) | undefined;
}

/** A commit that was made of a cut. */
export interface CutCommit {
  /** Abbreviated. */
  id: string | undefined;
  /** Other files of the folder that differ from it, relative to the folder. */
  left: string[];
}

/**
 * Makes releases permanent: appends the lines of a plan to the ledger and, where asked, commits them.
 * @throws RelcatError with every problem; plan-stale; see refuseCut and throwRefused
 */
export async function cut(
  folder: string,
  request: CutRequest,
  surroundings: LedgerSurroundings,
): Promise<Decided & { commit: CutCommit | undefined }> {
  requireFolder(folder);
  if (request.commit) await requireRepository(folder);
  return withLock(folder, surroundings.pid, surroundings.onWait, async () => {
    const decided = request.plan
      ? await decideAgain(folder, request.plan, request.artifacts, surroundings)
      : await planCatalog(folder, planned(request), surroundings);
    const { plan, cut: due, catalog } = decided;
    await surroundings.proveLedger?.(catalog.ledger);
    refuseCut(catalog, due, { ...request, versions: plan.versions ?? undefined });
    throwRefused(decided.refused);
    await request.confirm?.(due, catalog);
    deliverLedger(folder, due);
    const lines = [...due.events, ...plan.lines];
    const done = request.commit ? await commitCut(folder, lines, plan.versions ?? [], catalog) : undefined;
    return { ...decided, commit: done };
  });
}

const planned = ({ versions, artifacts, compare = false }: CutRequest): PlanRequest => ({
  versions,
  artifacts,
  documents: compare,
  ledger: compare ? "instead-of-failing" : "only",
});

/** Decided a second time from what is there now: only what comes out the same is what people saw. */
async function decideAgain(
  folder: string,
  plan: Plan,
  artifacts: string | undefined,
  surroundings: LedgerSurroundings,
): Promise<Decided> {
  refuseOtherLedger(plan, readLedgerNow(folder).text);
  const time = { clock: surroundings.clock, explicitTime: { name: "the plan", value: plan.at } };
  const versions = plan.versions ?? undefined;
  const request: PlanRequest = { versions, artifacts, documents: false, ledger: "only" };
  const fresh = await planCatalog(folder, request, time);
  refuseStale(plan, fresh.plan);
  // Whether artifacts are refused is asked of today, and of the folder that is given now.
  return { ...fresh, plan: { ...plan, refused: fresh.plan.refused } };
}

/** Commits the ledger and the folders of what was cut, with the notes that moved into them, and nothing else. */
async function commitCut(
  folder: string,
  lines: Cut["events"],
  chosen: readonly string[],
  { ledger }: Catalog,
): Promise<CutCommit> {
  const versions = new Set(lines.flatMap((event) => (event.event === "add" ? [event.version] : [])));
  const subject = versions.size > 0 ? `Cut ${[...versions].join(", ")}` : "Cut revisions";
  const revised = lines.flatMap((event) => ledger.byId.get(event.id)?.add.version ?? []);
  const folders = [...new Set([...versions, ...revised, ...chosen])].sort();
  const undone =
    lines.length > 0 ? "The ledger is written; commit it by hand once git works." : "Nothing was cut.";
  const moved = await movedAway(folder, "next/notes", (name) =>
    // biome-ignore lint/plugin: checked versions and notes that the folder itself has.
    folders.some((version) => exists(`${folder}/${version}/notes/${name}`)),
  );
  // biome-ignore lint/plugin: checked versions.
  const present = ["ledger.jsonl", ...folders].filter((path) => exists(`${folder}/${path}`));
  // An exclusion alone would mean everything else.
  const id =
    present.length === 0
      ? undefined
      : await commit(folder, [...present, ":(exclude).relcat-*"], subject, undone, moved);
  return { id, left: await uncommitted(folder) };
}

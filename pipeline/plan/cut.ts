import type { Plan } from "../documents/plan.ts";
import type { Catalog } from "../ledger/catalog.ts";
import { type Cut, type CutOptions, refuseCut } from "../ledger/cut.ts";
import { deliverLedger, type LedgerSurroundings, readLedgerNow } from "../ledger/ledger-file.ts";
import { refuseUncommitted, uncommittedSources } from "../ledger/uncommitted.ts";
import { exists, requireFolder } from "../system/files.ts";
import { commit, git, movedAway, requireRepository, uncommitted } from "../system/git/git.ts";
import { withWriteLock } from "../system/lock.ts";
import { commitMessage } from "./commit-message.ts";
import { type Decided, type PlanRequest, planCatalog } from "./plan.ts";
import { throwRefused } from "./refused.ts";
import { refuseOtherLedger, refuseStale } from "./stale.ts";

/** Options of a cut. With a plan, the versions and the date come from the plan. */
export interface CutRequest extends CutOptions {
  commit?: boolean;
  /** Refuse uncommitted files that a site would show after the cut and its commit. */
  requireCommitted?: boolean;
  /** Folder with the artifacts to inspect again; default: the results recorded at ingest. */
  artifacts?: string | undefined;
  /** An earlier plan: exactly its lines are written, or nothing. */
  plan?: Plan | undefined;
  /** Also compare with the settled revision, for a readable plan; default: only with the ledger. */
  compare?: boolean;
  /** Called before writing; an exception leaves the ledger unchanged. */
  confirm?: ((due: Cut, catalog: Catalog) => Promise<void>) | undefined;
}

/** The commit of a cut. */
export interface CutCommit {
  /** Abbreviated commit id. */
  id: string | undefined;
  subject: string;
  /** Other uncommitted files of the folder, relative to it. */
  left: string[];
}

/**
 * Makes releases permanent: appends the lines of a plan to the ledger and, on request, commits them.
 * @throws RelcatError with every problem; plan-stale; see refuseCut and throwRefused
 */
export async function cut(
  folder: string,
  request: CutRequest,
  surroundings: LedgerSurroundings,
): Promise<Decided & { commit: CutCommit | undefined }> {
  requireFolder(folder);
  if (request.commit) await requireRepository(folder);
  return withWriteLock(folder, surroundings, async () => {
    const decided = request.plan
      ? await decideAgain(folder, request.plan, request.artifacts, surroundings)
      : await planCatalog(folder, planned(request), surroundings);
    const { plan, cut: due, catalog } = decided;
    await surroundings.proveLedger?.(catalog.ledger);
    refuseCut(catalog, due, { ...request, versions: plan.versions ?? undefined });
    throwRefused(decided.refused);
    const lines = [...due.events, ...plan.lines];
    const folders = versionsOf(lines, plan.versions ?? [], catalog);
    if (request.requireCommitted) {
      const sources = await uncommittedSources(
        folder,
        new Set([...catalog.ledger.versions].filter((version) => !folders.has(version))),
      );
      refuseUncommitted(
        folder,
        sources.filter((path) => path !== "ledger.jsonl"),
      );
    }
    await request.confirm?.(due, catalog);
    deliverLedger(folder, due, surroundings.dryRun);
    const isCommitted = request.commit && !surroundings.dryRun;
    const done = isCommitted ? await commitCut(folder, lines, folders) : undefined;
    return { ...decided, commit: done };
  });
}

const planned = ({ versions, artifacts, compare = false }: CutRequest): PlanRequest => ({
  versions,
  artifacts,
  documents: compare,
  ledger: compare ? "instead-of-failing" : "only",
});

/** Plans again from the current state, which must give the same result that people reviewed. */
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
  // Refused artifacts depend on the current date and folder, so they are not compared.
  return { ...fresh, plan: { ...plan, refused: fresh.plan.refused } };
}

/** Versions that a cut changes, whose folders it commits. */
export function versionsOf(
  lines: Cut["events"],
  chosen: readonly string[],
  { ledger }: Catalog,
): Set<string> {
  const cut = lines.flatMap(
    (line) => ("version" in line ? line.version : ledger.byId.get(line.id)?.add.version) ?? [],
  );
  return new Set([...cut, ...chosen].sort());
}

/** Commits only the ledger, the folders of cut releases, and the notes moved into them. */
async function commitCut(
  folder: string,
  lines: Cut["events"],
  folders: ReadonlySet<string>,
): Promise<CutCommit> {
  const committed = await git(folder, ["show", "HEAD:./ledger.jsonl"]);
  const before = committed.exitCode === 0 ? committed.stdout : "";
  const { subject, body } = commitMessage(before, readLedgerNow(folder), [...folders]);
  const undone =
    lines.length > 0 ? "The ledger was written; commit it by hand once git works." : "Nothing was cut.";
  const moved = await movedAway(folder, "next/notes", (name) =>
    // biome-ignore lint/plugin: validated versions, and note names listed from the folder.
    [...folders].some((version) => exists(`${folder}/${version}/notes/${name}`)),
  );
  // biome-ignore lint/plugin: validated versions.
  const present = ["ledger.jsonl", ...folders].filter((path) => exists(`${folder}/${path}`));
  // Without a positive pathspec, an exclusion selects everything else.
  const id =
    present.length === 0
      ? undefined
      : await commit(folder, [...present, ":(exclude).relcat-*"], `${subject}\n\n${body}`, undone, moved);
  return { id, subject, left: await uncommitted(folder, "new") };
}

import { failure } from "../../shared/errors.ts";
import type { LedgerEvent } from "../documents/ledger.ts";
import type { Plan } from "../documents/plan.ts";
import type { Catalog } from "../ledger/catalog.ts";
import { type Cut, type CutOptions, refuseCut } from "../ledger/cut.ts";
import { compareGrowth } from "../ledger/growth.ts";
import { digest, type Ledger, readLedger } from "../ledger/ledger.ts";
import { deliverLedger, type LedgerContext, readLedgerNow } from "../ledger/ledger-file.ts";
import { refuseUncommitted, uncommittedSources } from "../ledger/uncommitted.ts";
import { exists, requireFolder } from "../system/files.ts";
import { git, uncommitted } from "../system/git/git.ts";
import { commit, movedAway, requireRepository } from "../system/git/git-commit.ts";
import { withWriteLock } from "../system/lock.ts";
import { type Decided, type PlanRequest, planCatalog } from "./plan.ts";
import { throwRefused } from "./refused.ts";

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

/** Makes releases permanent. @throws RelcatError with every problem; plan-stale; see refuseCut and throwRefused */
export async function cut(folder: string, request: CutRequest, context: LedgerContext) {
  requireFolder(folder);
  return withWriteLock(folder, context, async () => {
    const decided = request.plan
      ? await decideAgain(folder, request.plan, request.artifacts, context)
      : await planCatalog(folder, planned(request), context);
    const { plan, cut: due, catalog } = decided;
    await context.proveLedger?.(catalog.ledger);
    refuseCut(catalog, due, { ...request, versions: plan.versions ?? undefined });
    throwRefused(decided.refused);
    if (request.commit) await requireRepository(folder);
    const lines = [...due.events, ...plan.lines];
    const folders = versionsOf(lines, plan.versions ?? [], catalog);
    if (request.requireCommitted) {
      const built = [...catalog.ledger.versions].filter((version) => !folders.has(version));
      const sources = await uncommittedSources(folder, new Set(built));
      const others = sources.filter((path) => path !== "ledger.jsonl");
      refuseUncommitted(folder, others);
    }
    await request.confirm?.(due, catalog);
    deliverLedger(folder, due, context.dryRun);
    const isCommitted = request.commit && !context.dryRun;
    return { ...decided, commit: isCommitted ? await commitCut(folder, lines, folders) : undefined };
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
  context: LedgerContext,
): Promise<Decided> {
  const known = digest(readLedgerNow(folder).text());
  // With the lines of the plan in the ledger, a repeated job writes nothing.
  if (known !== plan.ledger.before && known !== plan.ledger.after)
    throw stale(["the ledger has other lines"]);
  const time = { clock: context.clock, explicitTime: { name: "the plan", value: plan.at } };
  const versions = plan.versions ?? undefined;
  const request: PlanRequest = { versions, artifacts, documents: false, ledger: "only" };
  const fresh = await planCatalog(folder, request, time);
  refuseStale(plan, fresh.plan);
  // Refused artifacts depend on the current date and folder, so they are not compared.
  return { ...fresh, plan: { ...plan, refused: fresh.plan.refused } };
}

/** Versions that a cut changes, whose folders it commits. */
export function versionsOf(lines: Cut["events"], chosen: readonly string[], { ledger }: Catalog) {
  const cut = lines.flatMap(
    (line) => ("version" in line ? line.version : ledger.byId.get(line.id)?.add.version) ?? [],
  );
  return new Set([...cut, ...chosen].sort());
}

/**
 * Commits only the ledger, the folders of cut releases, and the notes moved into them.
 * @returns its abbreviated id and subject, and the other uncommitted files of the folder, relative to it
 */
async function commitCut(folder: string, lines: Cut["events"], folders: ReadonlySet<string>) {
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
  const paths = [...present, ":(exclude).relcat-*"];
  const message = `${subject}\n\n${body}`;
  const id = present.length === 0 ? undefined : await commit(folder, paths, message, undone, moved);
  return { id, subject, left: await uncommitted(folder, "new") };
}

const maxSubject = 72;

/**
 * Names what happened to the ledger since the last commit, but no private record, because the subject is printed.
 * @param before text of the committed ledger
 * @param versions releases whose files are committed
 */
function commitMessage(before: string, ledger: Ledger, versions: readonly string[]) {
  const { common } = compareGrowth(ledger, before);
  const lost = readLedger({ file: ledger.file, text: before }).ledger.events.slice(common);
  const undone = lost.flatMap((event) => (event.event === "add" ? [event.version] : []));
  const changes = Object.groupBy(ledger.events.slice(common), (event) => headingOf(event, ledger));
  const things = [
    ...(undone.length > 0 ? [`Undo the cut of ${[...new Set(undone)].join(", ")}`] : []),
    ...Object.entries(changes)
      .sort(([a], [b]) => Number(b.startsWith("Halt")) - Number(a.startsWith("Halt")))
      .map(([heading, events = []]) => describe(heading, events, ledger)),
  ];
  const [first = `Update ${versions.join(", ") || "releases"}`, ...others] = things;
  const more = others.length === 0 ? "" : ` and ${others.length} more`;
  // After a reason, "and 1 more" would read as a part of it.
  const head = more ? first.replace(/(\(\d\d\.\d\d\.\d{3}\)): .*/s, "$1") : first;
  const isShort = head.length + more.length <= maxSubject;
  const subject = `${isShort ? head : `${head.slice(0, maxSubject - more.length - 1).toWellFormed()}…`}${more}`;
  return {
    subject,
    body: isShort && others.length === 0 ? "" : things.map((thing) => `- ${thing}`).join("\n"),
  };
}

/** Events with the same heading are one thing; the heading has a place for the names of the records. */
function headingOf(event: LedgerEvent, { byId }: Ledger): string {
  if (event.event === "reserve") return `Reserve the ids below ${event.next_id}`;
  if (event.event === "add") return `Cut ${event.version}`;
  if (event.event === "promote") return `Promote VERSIONS into ${event.channel}`;
  if (event.event === "resume") return `Resume ${event.version} in ${event.channel}`;
  if (event.event === "halt") return `Halt in ${event.channel} (${event.version}): ${event.reason}`;
  const version = byId.get(event.id)?.add.version ?? "";
  if (event.event === "revise") return `Revise NAME (${version})`;
  if (event.event === "reinstate") return `Reinstate NAME (${version})`;
  return `Withdraw NAME (${version}): ${event.reason}`;
}

function describe(heading: string, events: readonly LedgerEvent[], { byId }: Ledger): string {
  const [first] = events;
  if (first?.event === "promote")
    return heading.replace("VERSIONS", events.length === 1 ? first.version : `${events.length} releases`);
  if (first === undefined || !("id" in first)) return heading;
  const records = new Set(events.map((event) => ("id" in event ? event.id : undefined))).size;
  const entry = byId.get(first.id);
  const only = entry?.private ? "a private record" : (entry?.add.name ?? "");
  return heading.replace("NAME", () => (records > 1 ? `${records} records` : only));
}

/** @param fresh made now, for the same versions and date @throws RelcatError plan-stale, naming the differences */
function refuseStale(plan: Plan, fresh: Plan): void {
  const reasons = differences(plan.content, fresh.content);
  // Lines that are already written are not planned again.
  const isSame =
    fresh.ledger.before === plan.ledger.after ||
    (fresh.ledger.after === plan.ledger.after && JSON.stringify(fresh.lines) === JSON.stringify(plan.lines));
  if (reasons.length > 0) throw stale(reasons);
  if (!isSame) throw stale(["this version of relcat would write other ledger lines"]);
}

function differences(before: Plan["content"], after: Plan["content"]): string[] {
  const versions = [...new Set([...Object.keys(before.releases), ...Object.keys(after.releases)])].sort();
  const changed = versions.filter((version) => before.releases[version] !== after.releases[version]);
  const releases = `${changed.join(", ")} ${changed.length === 1 ? "has" : "have"} other content`;
  return [
    ...(before.configuration === after.configuration ? [] : ["catalog.yaml has changed"]),
    ...(changed.length === 0 ? [] : [releases]),
  ];
}

const stale = (reasons: readonly string[]) =>
  failure(
    "plan-stale",
    `the plan no longer applies: ${reasons.join("; ")}`,
    "Nothing was written. Make a new plan (relcat plan --out FILE), review it, and cut that one.",
  );

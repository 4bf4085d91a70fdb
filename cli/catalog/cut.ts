import {
  type Catalog,
  type Cut,
  type CutRequest,
  cut,
  type LedgerEvent,
  newFeedGaps,
  type Plan,
  readPlan,
  requireTarget,
  writeText,
} from "../../pipeline/index.ts";
import type { OutputDocument } from "../output/outputs.ts";
import { table } from "../terminal/cells.ts";
import { summarize as summarizeJob } from "../terminal/github.ts";
import { afterDryRun, answer, commandContext, type Host, say, sayNext } from "../terminal/host.ts";
import { renderProblems } from "../terminal/render.ts";
import { confirmOrRefuse, UsageError } from "../terminal/usage.ts";
import { count, listed } from "../terminal/words.ts";
import { type LedgerGuardOptions, ledgerGuard } from "./ledger-guard.ts";
import { planMarkdown } from "./plan-markdown.ts";
import { type RecordRow, recordTable } from "./records.ts";

export interface CutOptions extends LedgerGuardOptions {
  all?: true;
  allowIncomplete?: true;
  allowRevise?: number;
  plan?: string;
  commit?: true;
  artifacts?: string;
  body?: string;
  yes?: true | undefined;
  dryRun?: true | undefined;
  now?: string;
  requireCommitted?: boolean;
  /** Asks in place of the usual question. */
  confirm?: CutRequest["confirm"];
}

/** Result of a cut. Private records are counted but not named, because the output is often public. */
export type CutSummary = Omit<OutputDocument<"cut">, "dry_run">;

export async function cutReleases(
  versions: readonly string[],
  options: CutOptions,
  host: Host,
): Promise<void> {
  const { commit = false, body, dryRun, now } = options;
  if (body !== undefined && dryRun)
    throw new UsageError(
      "--body writes a file, but --dry-run writes nothing",
      "relcat plan --format markdown prints the same.",
    );
  if (body !== undefined) requireTarget(body);
  const plan = options.plan === undefined ? undefined : await planToCut(options.plan, versions, now);
  const chosen = versions.length > 0 ? versions : undefined;
  if (options.all && (chosen || plan)) {
    const other = plan ? "--plan" : "a version";
    throw new UsageError(`--all cuts every release, but ${other} selects some`, "Give one of them.");
  }
  const isChosen = chosen !== undefined || plan !== undefined || options.all === true || dryRun === true;
  const confirmCut =
    options.confirm ?? (isChosen ? undefined : confirmAll(commit ? " and commit" : "", options.yes, host));
  const confirm: CutRequest["confirm"] = async (due, catalog) => {
    if (!chosen && !plan && (options.all || options.yes)) refuseLate(due, catalog);
    const dropped = catalog.problems.filter(({ code }) => code === "artifact-dropped");
    host.messages.write(renderProblems(dropped, host));
    await confirmGaps(due, catalog, options, host);
    await confirmCut?.(due, catalog);
  };
  const compare = body !== undefined;
  const guard = ledgerGuard(options, host);
  const request = { ...options, versions: chosen, plan, compare, confirm };
  const process = { ...commandContext(host, now), proveLedger: guard.proveRelease, dryRun };
  const done = await cut(host.releases, request, process);
  const summary = summarize(done.cut, done.catalog, done.commit);
  if (body !== undefined) writeBody(body, done, host);
  if (!dryRun) summarizeJob(host, (limit, measure) => planMarkdown(done.plan, limit, measure));
  const isRepeated = plan !== undefined && plan.ledger.before !== plan.ledger.after;
  const empty = emptyReleases(done.catalog, plan?.versions ?? chosen);
  answer<"cut">(host, { ...summary, dry_run: dryRun ?? false }, () =>
    afterDryRun(describe(summary, empty, isRepeated), dryRun),
  );
  if (summary.added.length + summary.private.added > 0 && !dryRun) {
    say(host, `Until ${summary.settled_by} has these ledger lines, their ids may still change.`);
  }
  await guard.report(done.catalog.ledger);
  const left = done.commit?.left ?? [];
  if (left.length > 0) say(host, `Not committed, of ${host.releases}/: ${listed(left, 5)}.`);
  sayNext(host, nextAfter(done.cut, summary, host), dryRun);
}

/** A manifest in the wrong folder would add to an old release. @throws UsageError */
function refuseLate({ events }: Cut, { ledger: { versions } }: Catalog): void {
  const late = events.flatMap((event) =>
    event.event === "add" && versions.has(event.version) ? `${event.file} to ${event.version}` : [],
  );
  if (late.length === 0) return;
  throw new UsageError(
    `without a version only open releases are cut, and this would be added to a cut one: ${listed(late, 5)}`,
    "Is the manifest in the wrong folder? To add it on purpose, name its release.",
  );
}

/**
 * Without versions, all open releases become permanent, so an accidental Enter must not suffice. In a script, --yes
 * means one release, so that another one that was opened since is not cut.
 * @param andThen continues the question
 */
export const confirmAll =
  (andThen: string, yes: true | undefined, host: Host) =>
  async ({ events }: Cut, { ledger }: Catalog): Promise<void> => {
    const versions = events.map((event) =>
      event.event === "add" ? event.version : (ledger.byId.get(event.id)?.add.version ?? ""),
    );
    const due = [...new Set(versions)].sort().map((version) => {
      const records = versions.filter((each) => each === version).length;
      return { version, records: count(records, "record") };
    });
    const isClear = yes && due.length === 1 && !host.environment.CI;
    if (!host.confirm && !isClear) {
      const named = due.map(({ version, records }) => `${version} (${records})`);
      throw new UsageError(
        `${yes ? "--yes alone does not choose versions" : "no versions were given"}, and there is no terminal to ask on; nothing was cut`,
        named.length === 0
          ? "Name versions, or give --all. There is nothing to cut now."
          : `Name versions, or give --all to cut all of these: ${listed(named, 10)}.`,
        "not-confirmed",
      );
    }
    if (due.length === 0) return;
    say(
      host,
      `To be made permanent:\n${table(due.map(({ version, records }) => [`  ${version}`, records]))}`,
    );
    await confirmOrRefuse(`Cut ${due.length === 1 ? "it" : "them"}${andThen}?`, yes, host);
  };

/** A cut is permanent, so people decide whether a package may be missing from a feed. A plan lists these packages. */
async function confirmGaps(
  { events }: Cut,
  catalog: Catalog,
  { yes, plan, dryRun }: CutOptions,
  host: Host,
): Promise<void> {
  const due = new Set(events.flatMap((event) => (event.event === "add" ? [event.id] : [])));
  const gaps = newFeedGaps(catalog).filter(({ id }) => due.has(id));
  if (gaps.length === 0) return;
  say(
    host,
    `Not in a package feed:\n${table(gaps.map(({ feed, version, file, reason }) => [`  ${feed}`, version, file, reason]))}`,
  );
  if (plan !== undefined || dryRun) return;
  const them = gaps.length === 1 ? "this package" : `these ${gaps.length} packages`;
  await confirmOrRefuse(`No machine can install ${them} from the feed. Cut anyway?`, yes, host);
}

/** The plan determines versions and date, so options must not repeat them. */
async function planToCut(file: string, versions: readonly string[], now: string | undefined): Promise<Plan> {
  if (versions.length === 0 && now === undefined) return readPlan(file);
  throw new UsageError(
    `a plan already sets the versions and the time of a cut, but ${now === undefined ? "versions were" : "--now was"} given too`,
    "Leave them out, or cut without --plan.",
  );
}

function writeBody(file: string, { plan, cut: { events } }: { plan: Plan; cut: Cut }, host: Host): void {
  try {
    writeText(file, planMarkdown(plan));
  } catch (error) {
    if (events.length > 0) say(host, "The ledger was written, but its description was not:");
    throw error;
  }
}

function nextAfter({ events }: Cut, { commit }: CutSummary, { releases }: Host): string {
  if (events.length === 0) return "relcat build --released";
  return commit === null
    ? `commit ${releases}/, then relcat build --released`
    : "git push, then relcat build --released";
}

function summarize(
  { events, at }: Cut,
  { ledger, config }: Catalog,
  commit: Awaited<ReturnType<typeof cut>>["commit"],
): CutSummary {
  const isHidden = (event: LedgerEvent) => "private" in event && event.private === true;
  const adds = events.filter((event) => event.event === "add");
  const revisions = events.filter((event) => event.event === "revise");
  return {
    at,
    added: adds.filter((event) => !isHidden(event)).map(row),
    revised: revisions.flatMap((event) => {
      const entry = ledger.byId.get(event.id);
      return entry && !isHidden(event) ? [row(entry.add)] : [];
    }),
    private: { added: adds.filter(isHidden).length, revised: revisions.filter(isHidden).length },
    commit: commit?.id ?? null,
    subject: commit?.id === undefined ? null : commit.subject,
    settled_by: config.ledgerBase,
  };
}

const row = ({ id, version, package_type, name, file }: RecordRow): RecordRow => ({
  id,
  version,
  package_type,
  name,
  file,
});

function emptyReleases({ releases, ledger }: Catalog, chosen: readonly string[] | undefined): string[] {
  const empty = releases.filter(
    ({ version, artifacts }) => artifacts.length === 0 && !ledger.versions.has(version),
  );
  return empty.map(({ version }) => version).filter((version) => chosen?.includes(version) ?? true);
}

function describe(summary: CutSummary, empty: readonly string[], isRepeated: boolean): string {
  const { added, revised, private: hidden, at, commit, subject } = summary;
  const blocks: string[] = [];
  if (added.length + revised.length + hidden.added + hidden.revised === 0) {
    const lacking = `${listed(empty)} ${empty.length === 1 ? "has" : "have"} no artifacts yet`;
    const why = isRepeated
      ? "the ledger already has the lines of this plan"
      : "everything is already permanent";
    blocks.push(`Nothing to cut: ${isRepeated || empty.length === 0 ? why : lacking}.`);
  }
  if (added.length > 0) blocks.push(`New ids, dated ${at}:\n${recordTable(added)}`);
  if (revised.length > 0) blocks.push(`Revised, dated ${at}:\n${recordTable(revised)}`);
  if (hidden.added > 0) blocks.push(`${count(hidden.added, "private record")} got an id.`);
  if (hidden.revised > 0) blocks.push(`${count(hidden.revised, "private record")} revised.`);
  if (commit !== null) blocks.push(`Committed as ${commit}: ${subject}`);
  return blocks.join("\n");
}

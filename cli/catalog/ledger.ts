import { openSettings, type RebasedLedger, rebaseLedger } from "../../pipeline/index.ts";
import type { OutputDocument } from "../output/outputs.ts";
import { table } from "../terminal/cells.ts";
import { afterDryRun, answer, commandContext, type Host, say, sayNext } from "../terminal/host.ts";
import { count } from "../terminal/words.ts";

export async function rebase(
  { onto, dryRun, now }: { onto?: string; dryRun?: true; now?: string },
  host: Host,
): Promise<void> {
  const base = onto ?? (await openSettings(host.releases)).config.ledgerBase;
  const done = await rebaseLedger(host.releases, base, { ...commandContext(host, now), dryRun });
  const summary = summarize(done);
  answer<"ledger-rebase">(host, { ...summary, dry_run: dryRun ?? false }, () =>
    afterDryRun(describe(done, summary), dryRun),
  );
  for (const version of done.rebase.cutTwice)
    say(
      host,
      `Both sides cut records of ${version}: check that it is one release, not two with the same number.`,
    );
  for (const id of done.rebase.overtaken)
    say(
      host,
      `Left out: our revision of id ${id}, which ${done.onto.name} withdrew or published in the meantime.`,
    );
  for (const { event, version, channel } of done.rebase.dropped)
    say(
      host,
      `Left out: our ${event} of ${version} in ${channel}, which ${done.onto.name} has already, or no longer allows.`,
    );
  sayNext(host, nextAfter(done, base, `${host.releases}/ledger.jsonl`), dryRun);
}

/** Result of a rebase. Private records are counted but not named, because the output is often public. */
type RebaseSummary = Omit<OutputDocument<"ledger-rebase">, "dry_run">;

function summarize({
  rebase: { events, moved, overtaken, dropped, cutTwice },
  onto,
}: RebasedLedger): RebaseSummary {
  const open = moved.filter(({ add }) => !add.private);
  return {
    onto: onto.name,
    at: events.find((event) => !("imported" in event))?.at ?? null,
    lines: events.length,
    moved: open.map(({ from, to, add, alreadyThere }) => {
      const { version, package_type, name, file } = add;
      return { from, to, version, package_type, name, file, already_there: alreadyThere };
    }),
    private: moved.length - open.length,
    left_out: overtaken,
    left_out_changes: dropped,
    cut_twice: cutTwice,
  };
}

function describe({ rebase: { before, after } }: RebasedLedger, summary: RebaseSummary): string {
  const { onto, at, lines, moved, private: hidden } = summary;
  if (before === after) return `Nothing to rebase: the ledger already begins with every line of ${onto}.`;
  const dated = at === null ? "" : `, dated ${at} or later`;
  const ours =
    lines === 0
      ? "none of our lines are left to add"
      : `${count(lines, "line")} of ours follow${lines === 1 ? "s" : ""}${dated}`;
  const rows = moved.map(({ from, to, version, package_type, file, already_there }) => [
    `  ${from} → ${to}`,
    version,
    package_type,
    already_there ? `${file} (${onto} has it)` : file,
  ]);
  return [
    `Kept the lines of ${onto}; ${ours}${rows.length > 0 ? ":" : "."}`,
    ...(rows.length > 0 ? [table(rows)] : []),
    ...(hidden > 0 ? [`${count(hidden, "private record")} got a new id.`] : []),
  ].join("\n");
}

/** A plan contains ids and dates, which the rebase may change. */
const planAgain = "; earlier plans no longer apply: run relcat plan";

function nextAfter(
  { operation, isMerged, rebase: { before, after } }: RebasedLedger,
  base: string,
  ledgerFile: string,
): string {
  if (operation)
    return `git add ${ledgerFile}, then git ${operation} --continue, then relcat check --ledger-base ${base}${planAgain}`;
  if (!isMerged)
    return `commit ${ledgerFile}, then git merge ${base} to get the releases of its lines${planAgain}`;
  return before === after ? "relcat check" : `relcat check, then commit ${ledgerFile}${planAgain}`;
}

import {
  decideRetract,
  type RecordChoice,
  readLedgerNow,
  retract,
  selectRecords,
} from "../../pipeline/index.ts";
import { isVersion } from "../../shared/version.ts";
import { adviceOn, isId } from "../terminal/arguments.ts";
import { answer, commandContext, type Host, say, sayNext } from "../terminal/host.ts";
import { reasonOf } from "../terminal/option-values.ts";
import { confirmOrRefuse, UsageError } from "../terminal/usage.ts";
import { count } from "../terminal/words.ts";
import { type LedgerGuardOptions, ledgerGuard } from "./ledger-guard.ts";
import { listRecords } from "./records.ts";

interface RetractCommandOptions extends LedgerGuardOptions {
  reason: string;
  type?: string;
  name?: string;
  replacedBy?: number | "none";
  now?: string;
  dryRun?: true;
  yes?: true;
}

export async function retractRecords(
  targets: readonly string[],
  options: RetractCommandOptions,
  host: Host,
): Promise<void> {
  const reason = reasonOf(
    options.reason,
    "Give the reason in one line: everyone who has the package will read it.",
  );
  const choice = choiceOf(targets, options);
  const ledger = readLedgerNow(host.releases);
  const guard = ledgerGuard(options, host);
  await guard.prove(ledger);
  const { entries, alreadyRetracted } = selectRecords(ledger, choice);
  const replacedBy = options.replacedBy === "none" ? null : options.replacedBy;
  const retraction = { ids: entries.map((entry) => entry.add.id), reason, replacedBy };
  // Validated before the confirmation, so that users do not confirm what is then refused.
  const due = decideRetract(ledger, retraction, ledger.newest).events;
  say(host, `To be retracted: ${count(entries.length, "record")}`);
  listRecords(entries, host);
  if (alreadyRetracted > 0) say(host, `Unchanged: ${alreadyRetracted} already withdrawn.`);
  const { dryRun, now } = options;
  if (due.length > 0 && !dryRun)
    await confirmOrRefuse(`Retract ${entries.length === 1 ? "it" : "them"}?`, options.yes, host);
  const { events } = await retract(host.releases, retraction, { ...commandContext(host, now), dryRun });
  await guard.report(ledger);
  answer<"retract">(host, { events, dry_run: dryRun ?? false }, () => {
    if (events.length === 0) return "Nothing changed: the ledger already says so.";
    const records = count(events.length, "record");
    return dryRun ? `Would retract ${records}; nothing was written.` : `Retracted ${records}.`;
  });
  if (dryRun || events.length > 0)
    sayNext(host, `commit ${host.releases}/ledger.jsonl, then relcat build --released`, dryRun);
}

function choiceOf(targets: readonly string[], { type, name }: RetractCommandOptions): RecordChoice {
  const narrowed = type !== undefined || name !== undefined;
  if (targets.every(isId)) {
    if (narrowed)
      throw new UsageError(
        "--type and --name choose among the records of a version, but ids were given",
        "Leave them out, or give a version.",
      );
    return { ids: [...new Set(targets.map(Number))] };
  }
  const [version = ""] = targets;
  if (targets.length > 1 || !isVersion(version)) {
    throw new UsageError(
      `cannot tell what ${targets.map((target) => JSON.stringify(target)).join(" ")} means`,
      adviceOn(version, "Give ids of records, or one version such as 26.08.002."),
    );
  }
  return { version, packageType: type, name };
}

import { decideReinstate, readLedgerNow, reinstate, selectRecords } from "../../pipeline/index.ts";
import { answer, commandContext, type Host, say, sayNext } from "../terminal/host.ts";
import { confirmOrRefuse } from "../terminal/usage.ts";
import { count } from "../terminal/words.ts";
import { type LedgerGuardOptions, ledgerGuard } from "./ledger-guard.ts";
import { listRecords } from "./records.ts";

export async function reinstateRecords(
  ids: readonly number[],
  { dryRun, now, yes, ...options }: { dryRun?: true; now?: string; yes?: true } & LedgerGuardOptions,
  host: Host,
): Promise<void> {
  const ledger = readLedgerNow(host.releases);
  const guard = ledgerGuard(options, host);
  await guard.prove(ledger);
  const { entries } = selectRecords(ledger, { ids: [...new Set(ids)] });
  decideReinstate(ledger, ids, ledger.newest);
  say(host, `To be reinstated: ${count(entries.length, "record")}`);
  listRecords(entries, host);
  if (!dryRun) await confirmOrRefuse(`Reinstate ${entries.length === 1 ? "it" : "them"}?`, yes, host);
  const { events } = await reinstate(host.releases, ids, { ...commandContext(host, now), dryRun });
  await guard.report(ledger);
  const records = count(events.length, "record");
  answer<"reinstate">(host, { events, dry_run: dryRun ?? false }, () =>
    dryRun ? `Would reinstate ${records}; nothing was written.` : `Reinstated ${records}.`,
  );
  sayNext(host, `commit ${host.releases}/ledger.jsonl, then relcat build --released`, dryRun);
}
